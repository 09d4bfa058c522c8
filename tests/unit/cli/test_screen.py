"""What is printed, whatever is in it."""

from __future__ import annotations

import io

import pytest
from rich.markup import escape
from rich.text import Text

from airloom.bench.bench import Measurement, as_json
from airloom.cli import bench, screen

HOSTILE = "a\x1b[31mred\x1b]0;title\x07 b\x9bc \u202egnp.exe \udcff"
SHOWN = "a\\x1b[31mred\\x1b]0;title b\\x9bc \\u202egnp.exe \\udcff"


def printed(act, width=80):
    console = screen._HarmlessConsole(file=io.StringIO(), width=width, highlight=False)
    act(console)
    return console.file.getvalue()


def in_a_table(console):
    table = screen.new_table("vehicle")
    table.add_row(escape(HOSTILE))
    console.print(table)


@pytest.mark.parametrize(
    "act",
    [
        lambda console: console.print(Text(HOSTILE)),
        lambda console: console.print(escape(HOSTILE)),
        lambda console: console.print(f"[bold]{escape(HOSTILE)}[/bold]"),
        in_a_table,
    ],
)
def test_no_file_commands_the_terminal(act):
    said = printed(act)
    assert SHOWN in said.replace("\\x07", "")
    assert said.encode()
    assert "\x1b" not in said


@pytest.mark.parametrize("tell", [screen.complain, screen.warn, screen.say])
def test_messages_are_harmless_too(tell, capsys):
    tell(HOSTILE)
    said = "".join(capsys.readouterr())
    assert SHOWN in said.replace("\\x07", "")


def test_colours_and_lines_stay():
    def act(console):
        console.print(Text("one\ttwo\nthree", "red"))

    console = screen._HarmlessConsole(file=io.StringIO(), force_terminal=True, color_system="standard", highlight=False)
    act(console)
    assert "\x1b[31m" in console.file.getvalue()
    assert printed(act).splitlines()[1] == "three"


def test_numbers_are_never_cut():
    def act(console):
        table = screen.new_table("vehicle", "x m", "y m", "z m", "speed m/s", "mode", "mission", numbers=range(1, 5))
        table.add_row("a_vehicle_with_quite_a_long_name_12", *["-123456.78"] * 4, "velocity_yawrate", "takeoff")
        console.print(table)

    said = printed(act)
    assert said.count("-123456.78") == 4
    assert "…" not in said
    assert max(map(len, said.splitlines())) <= 80


def test_the_table_of_measurements_fits_80_columns(monkeypatch):
    def act(console):
        monkeypatch.setattr(bench, "out", console)
        bench._print_table([
            Measurement("100 missions, pursuit, mujoco", 12.345, "% of the run", 10.0, True),
            Measurement("step from outside", 1234.5, "µs a round trip, 99 % under 1.23e+03", 100.0, True, 0.123),
            Measurement("loom, 64 members", 1.234, "× the bare exchange, 1.23e+03 µs a round", 1.5, True),
            Measurement("batch, N = 10000", 9.87, "M vehicle-steps/s", 7.0),
        ])  # fmt: skip

    said = printed(act)
    assert "…" not in said
    for part in ("12.3", "1.23e+03", "1.23", "9.87", "< 10", "< 100", "< 1.5", "≥ 7", "12%"):
        assert part in said


def test_measurements_of_numpy_can_be_kept():
    import json

    import numpy as np

    kept = as_json([Measurement("x", np.float64(3.0), "s", np.float32(2.0)), Measurement("y", float("nan"), "s", 1.0)])
    assert [row["is_reached"] for row in json.loads(json.dumps(kept))["measurements"]] == [True, False]
