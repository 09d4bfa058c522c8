# ruff: noqa: E501 — the tables of cases read best with a case a line
"""Whatever is wrong with a scenario file, the user reads where, which key, what is wrong and what to do."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from airloom.scenario import ScenarioError, load

PLUGINS = """
from airloom.plugin import Parameters, Plugin


class Settings(Parameters):
    size: tuple[float, float] = (1.0, 1.0)
    bias: float | list[float] = 0.0


class Helper(Plugin):
    category = "system"
    Parameters = Settings


class Probe(Plugin):
    category = "sensor"
    Parameters = Settings


class Other:
    pass
"""

HEAD = "name: t\nvehicles:\n  cf:\n    extends: crazyflie2\n"
"""Four lines; what a test adds starts in line 5."""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "plugins.py").write_text(PLUGINS)
    (tmp_path / "broken.py").write_text("import math\n\nmath.nonsense\n")
    return tmp_path


def message_of(file: Path | str) -> str:
    with pytest.raises(ScenarioError) as caught:
        load(file)
    return str(caught.value)


def written(folder: Path, text: str | bytes) -> Path:
    file = folder / "bad.yaml"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return file


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("    masss: 1\n", 5, "vehicles.cf.masss: unknown key; did you mean 'mass'? Known keys: aerodynamics, autopilot,"),
        ("    mass: -0.03\n", 5, "vehicles.cf.mass: must be greater than 0, got -0.03"),
        ("    mass: heavy\n", 5, "vehicles.cf.mass: must be a number, got 'heavy'"),
        ("    mass: true\n", 5, "vehicles.cf.mass: must be a number, got true"),
        ("    mass: .inf\n", 5, "vehicles.cf.mass: must be a finite number"),
        ("    mass: 10_0\n", 5, "vehicles.cf.mass: must be a number, got '10_0'"),
        ("    mass: [1]\n", 5, "vehicles.cf.mass: must be a number, got [1]"),
        ("    mass: null\n", 3, "vehicles.cf.mass: is missing (everything together but the liquid in a tank, kg)"),
        ("    body: {size: [1, 2]}\n", 5, "vehicles.cf.body.size: must be a list of 3, got [1, 2]"),
        ("    body: {size: [1, 2, 3, 4]}\n", 5, "vehicles.cf.body.size: must be a list of 3, got [1, 2, 3, 4]"),
        ("    body: {size: [1, 2, 0]}\n", 5, "vehicles.cf.body.size.2: must be greater than 0, got 0"),
        ("    body:\n      size: 3\n", 6, "vehicles.cf.body.size: must be a list, got 3"),
        ("    body: 7\n", 5, "vehicles.cf.body: must be a mapping"),
        ("    inertia: {zz: 1}\n", 5, "vehicles.cf.inertia: no rigid body has principal moments"),
        ("    inertia: {xx: 1e-5, yy: 1e-5, zz: 2.05e-5}\n", 5, "vehicles.cf.inertia: no rigid body has principal moments"),
        ("    rotor:\n      max_speed: 0\n", 6, "vehicles.cf.rotor.max_speed: must be greater than 0, got 0"),
        ("    rotor:\n      maxspeed: 0\n", 6, "vehicles.cf.rotor.maxspeed: unknown key; did you mean 'max_speed'?"),
        ("    rotors:\n      front_left: {turns: left}\n", 6, "vehicles.cf.rotors.front_left.turns: must be 'ccw' or 'cw', got 'left'"),
        ("    rotors:\n      ninth: {turns: cw}\n", 6, "vehicles.cf.rotors.ninth.position: is missing (hub from"),
        ("    copies: {count: 0}\n", 5, "vehicles.cf.copies.count: must be at least 1, got 0"),
        ("    copies: {count: 1.5}\n", 5, "vehicles.cf.copies.count: must be a whole number, got 1.5"),
        ("    copies: {count: 3}\n  cf_2: crazyflie2\n", 6, "vehicles.cf_2: one of the 3 copies of 'cf' has this name too"),
        ("  cf:\n    extends: iris\n", 5, "vehicles.cf: given twice (first in line 3)"),
        ("    mass: 1\n    mass: 2\n", 6, "vehicles.cf.mass: given twice (first in line 5)"),
        ("  2cool: iris\n", 5, "vehicles.2cool: a name starts with a letter"),
        ("  other: irs\n", 5, "vehicles.other: no vehicle is called 'irs'; did you mean 'iris'? Known vehicles: airship, boat,"),
        ("  other: no/such.yaml\n", 5, "vehicles.other: there is no file 'no/such.yaml'"),
        ("  other: {extends: [iris]}\n", 5, "vehicles.other.extends: must be a name or a path"),
        ("  other: 3\n", 5, "vehicles.other: must be a mapping"),
        ("    controller: crazy\n", 5, "vehicles.cf.controller: no controller is called 'crazy'; did you mean 'crazys'?"),
        ("    controller: {kind: cascde}\n", 5, "vehicles.cf.controller.kind: no controller is called 'cascde'"),
        ("    controller: {rate: 100, kind: broken.py:X}\n", 5, "vehicles.cf.controller.kind: plugin"),
        ("    controller: {kind: none.py:X}\n", 5, "vehicles.cf.controller.kind: plugin file"),
        ("    controller: {kind: plugins.py:Helper}\n", 5, "is not a controller"),
        ("    controller: {kind: plugins.py:Helpr}\n", 5, "has no class 'Helpr'; did you mean 'Helper'?"),
        ("    controller:\n      xy_kii: 1\n", 6, "vehicles.cf.controller.xy_kii: unknown key; did you mean 'xy_ki'?"),
        ("    controller: {rate: 300}\n", 5, "vehicles.cf.controller.rate: 300 Hz does not fit the step"),
        ("    sensors:\n      imu: {rate: 300}\n", 6, "vehicles.cf.sensors.imu.rate: 300 Hz does not fit the step of 0.001 s"),
        ("    sensors:\n      imu: {rate: 300}\n", 6, "nearest rates that do are 333.3333333 Hz and 250 Hz"),
        ("    sensors:\n      imu: {rate: 1e4}\n", 6, "10000 Hz is faster than the step of 0.001 s allows; the fastest rate is 1000 Hz"),
        ("    sensors:\n      imu: {delay: 0.0005}\n", 6, "vehicles.cf.sensors.imu.delay: 0.0005 s is no whole number of steps"),
        ("    sensors:\n      imu: {rate: 0}\n", 6, "vehicles.cf.sensors.imu.rate: must be greater than 0, got 0"),
        ("    sensors:\n      x:\n        kind: plugins.py:Probe\n        size: [1]\n", 8, "vehicles.cf.sensors.x.size: must be a list of 2, got [1]"),
        ("    sensors:\n      x: {kind: plugins.py:Probe, bias: a}\n", 6, "vehicles.cf.sensors.x.bias: must be a number or a list, got 'a'"),
        ("    sensors:\n      x: {kind: plugins.py:Probe, reat: 1}\n", 6, "vehicles.cf.sensors.x.reat: unknown key; did you mean 'rate'?"),
        ("    sensors:\n      x: {rate: 1}\n", 6, "vehicles.cf.sensors.x.kind: is missing"),
        ("systems:\n  a: wayponts\n", 6, "systems.a: no system is called 'wayponts'; did you mean 'waypoints'?"),
        ("systems:\n  a: {kind: plugins.py:Helper, enabld: true}\n", 6, "systems.a.enabld: unknown key; did you mean 'enabled'?"),
        ("systems:\n  a: {kind: plugins.py:Helper, enabled: 7}\n", 6, "systems.a.enabled: must be true or false, got 7"),
        ("systems:\n  a: {kind: plugins.py:Helper, rate: 7}\n", 6, "systems.a.rate: 7 Hz does not fit the step"),
        ("systems:\n  a: {kind: plugins.py:Other}\n", 6, "systems.a.kind: "),
        ("systems: [1]\n", 5, "systems: must be a mapping (key: value), got [1]"),
        ("log: {rate: 30}\n", 5, "log.rate: 30 Hz does not fit"),
        ("step: 0.0003333333333\n", 5, "step: 0.0003333333333 s is not a whole number of nanoseconds; the nearest is 0.000333333 s"),
        ("step: 1\n", 5, "step: must be at most 0.1, got 1"),
        ("duration: 1e12\n", 5, "duration: must be at most 1e+09"),
        ("seed: -1\n", 5, "seed: must be at least 0, got -1"),
        ("seed: 99999999999999999999\n", 5, "seed: must be less than"),
        ("engine: btach\n", 5, "engine.kind: must be 'mujoco' or 'batch', got 'btach'"),
        ("engine: {kind: batch, extends: x}\n", 5, "engine.extends: unknown key"),
        ("world: labb\n", 5, "world: no world is called 'labb'; did you mean 'lab'? Known worlds: "),
        ("world: {terrain: hill}\n", 5, "world.terrain.kind: must be 'plane', 'heightfield', 'survey', 'meadow', 'vineyard' or 'mountains' or the path of a terrain folder, got 'hill'"),
        ("world: {terrain: ./field}\n", 5, "world.terrain: there is no folder './field'"),
        ("world: {terrain: ./bad.yaml}\n", 5, "'./bad.yaml' is a file, and a terrain is a folder: make it of a survey by airloom terrain build ./bad.yaml"),
        ("world: {terrain: bad.yaml}\n", 5, "'bad.yaml' is a file, and a terrain is a folder"),
        ("world: {terrain: ./}\n", 5, "is no terrain folder: there is no terrain.json in it; make it anew with: airloom terrain build"),
        ("world:\n  terrain:\n    kind: heightfield\n    size: [1, 1]\n", 6, "world.terrain: give either heights or file"),
        ("world: {terrain: {kind: heightfield, size: [1, 1], heights: [[1, 2], [3]]}}\n", 5, "world.terrain.heights: the rows must be equally long"),
        ("world: {terrain: {kind: heightfield, size: [1, 1], heights: [[]]}}\n", 5, "at least 2 rows and 2 columns"),
        ("world: {terrain: {kind: heightfield, size: [1, 1], file: h.npy}}\n", 5, "world.terrain.file: there is no file 'h.npy'"),
        ("world: {wind: [1, 2, x]}\n", 5, "world.wind.2: must be a number, got 'x'"),
        ("world: {gravity: '9.8'}\n", 5, "world.gravity: must be a number, got '9.8'"),
        ("world: {origin: {latitude: 91}}\n", 5, "world.origin.latitude: must be at most 90, got 91"),
        ("    pose: {position: [0, 0, 1e308]}\n", 5, "vehicles.cf.pose.position.2: must be at most 1e+06, got 1e+308"),
        ("    pose: {yaw: -1e300}\n", 5, "vehicles.cf.pose.yaw: must be at least -1e+06, got -1e+300"),
        ("    motion: {velocity: [0, 1e12, 0]}\n", 5, "vehicles.cf.motion.velocity.1: must be at most 1e+06"),
        ("    mass: 1e300\n", 5, "vehicles.cf.mass: must be at most 1e+06, got 1e+300"),
        ("    rotor:\n      time_constant_up: 10\n", 6, "vehicles.cf.rotor.time_constant_up: must be at most 1, got 10"),
        ("world: {gravity: 1e9}\n", 5, "world.gravity: must be at most 1000"),
        ("world: {terrain: {kind: plane, height: 1e300}}\n", 5, "world.terrain.height: must be at most 1e+06"),
        ("world: {obstacles: {a: {shape: box, size: [1, 1, 1e9], position: [0, 0, 0]}}}\n", 5, "world.obstacles.a.size.2: must be at most 1e+06"),
        ("systems:\n  a:\n    kind: waypoints\n    points:\n      - {at: 1, position: [0, 0, 1]}\n      - {at: 2, position: [1, 2, -3]}\n", 10, "systems.a.points.1.position: (1, 2, -3) lies 3 m below the ground"),
        ("systems:\n  a: {kind: waypoints, points: [{at: 1, position: [1e12, 0, 1]}]}\n", 6, "systems.a.points.0.position.0: must be at most 1e+06"),
        ("world: {terrain: {kind: heightfield, size: [8, 8], heights: [[5, 5], [5, 7]]}}\nsystems:\n  a: {kind: waypoints, points: [{at: 1, position: [1, 1, 5]}]}\n", 7, "systems.a.points.0.position: (1, 1, 5) lies 1.25 m below the ground"),
        ("systems:\n  a: {kind: trajectory, height: -1}\n", 6, "systems.a.height: (0, 0, -1) lies 1 m below the ground"),
        ("systems:\n  a: {kind: script, orders: [{at: 1, mode: 1, position: [0, 0, -1]}]}\n", 6, "systems.a.orders.0.position: (0, 0, -1) lies 1 m below the ground"),
        ("vehicle: {}\n", 5, "vehicle: unknown key; did you mean 'vehicles'?"),
        ("\tseed: 1\n", 5, "a tab is used for indentation; use spaces"),
        ("world: [1, 2\n", 6, "not valid YAML"),
        ("world: 'open\n", 6, "the quote opened in line 5 is not closed"),
        ("world: a: b\n", 5, "a ':' stands where none fits"),
        ("   x: 1\n", 5, "the indentation does not fit the block opened in line 3"),
        ("world: @home\n", 5, "cannot start with this character; put it in quotes"),
        ("world: *home\n", 5, "the alias '*home' has no anchor"),
        ("world: !!python/object:os.system ls\n", 5, "tag"),
        ("world:\n  <<: 3\n", 6, "use 'extends' instead"),
        ("? [a]\n: 3\n", 5, "a key must be plain text"),
        ("---\nname: u\n", 5, "a second document starts here"),
        ("world: \x01\n", 5, "the character U+0001 is not allowed"),
        ("world: " + "[" * 100_000, 5, "nested deeper than 32 levels"),
        ("world: " + "{a: " * 100_000, 5, "nested deeper than 32 levels"),
    ],
)  # fmt: skip
def test_the_message_names_file_line_key_and_remedy(folder, text, line, message):
    found = message_of(written(folder, HEAD + text))
    assert f"bad.yaml, line {line}" in found
    assert message in found


def test_syntax_errors_name_the_column(folder):
    assert "bad.yaml, line 5, column 9: this is not valid YAML" in message_of(written(folder, HEAD + "world: a: b\n"))


def test_several_problems_are_listed_one_a_line(folder):
    lines = message_of(written(folder, HEAD + "    mass: -1\n    drag: -1\nseed: -1\n")).split("\n")
    assert [line.split(": ")[1] for line in lines] == ["seed", "vehicles.cf.mass", "vehicles.cf.drag"]


def test_a_flood_of_problems_is_cut_short(folder):
    vehicles = "".join(f"  v{i}: {{extends: crazyflie2, mass: -1}}\n" for i in range(100))
    lines = message_of(written(folder, "name: t\nvehicles:\n" + vehicles)).split("\n")
    assert len(lines) == 21
    assert lines[-1] == "… and 80 more like these"


def test_a_problem_in_an_extended_file_names_that_file(folder):
    (folder / "mine.yaml").write_text("extends: crazyflie2\n\nmass: -1\n")
    found = message_of(written(folder, "name: t\nvehicles:\n  a: mine.yaml\n  b: mine.yaml\n"))
    assert "mine.yaml, line 3: vehicles.a.mass: must be greater than 0, got -1" in found


def test_a_broken_plugin_names_its_own_line(folder):
    assert "broken.py, line 3 cannot be loaded: AttributeError" in message_of(
        written(folder, HEAD + "systems:\n  a: broken.py:X\n")
    )


@pytest.mark.parametrize(
    ("mistake", "named"),
    [
        ("value: numpy.ndarray", "PydanticSchemaGenerationError"),
        ("_look = pydantic.field_validator('nothing')(lambda value: value)", "PydanticUserError"),
    ],
)
def test_parameters_that_cannot_be_name_the_line_of_their_class(folder, mistake, named):
    lines = ["import numpy, pydantic", "from airloom import System", "class Mine(System):"]
    lines += ["    class Parameters(System.Parameters):", f"        {mistake}"]
    (folder / "mine.py").write_text("\n".join(lines) + "\n")
    assert f"mine.py, line 4 cannot be loaded: {named}" in message_of(
        written(folder, HEAD + "systems:\n  a: mine.py:Mine\n")
    )


def test_parameters_of_a_type_that_is_nowhere_are_told(folder):
    lines = ["from __future__ import annotations", "from airloom import System", "class Mine(System):"]
    lines += ["    class Parameters(System.Parameters):", "        value: Thing"]
    (folder / "mine.py").write_text("\n".join(lines) + "\n")
    told = message_of(written(folder, HEAD + "systems:\n  a: mine.py:Mine\n"))
    assert "mine.py cannot be loaded" in told
    assert "name 'Thing' is not defined" in told


@pytest.mark.parametrize("text", ["", "# nothing\n"])
def test_an_empty_file(folder, text):
    assert message_of(written(folder, text)) == "bad.yaml, line 1: nothing is written here"


@pytest.mark.parametrize("text", ["3", "- a\n- b\n", "just words\n", "null\n"])
def test_a_top_level_that_is_no_mapping(folder, text):
    assert "bad.yaml, line 1: the file must hold keys and values" in message_of(written(folder, text))


def test_text_that_is_not_utf8(folder):
    assert "bad.yaml, line 2: the text is not UTF-8" in message_of(written(folder, "name: t\nx: é\n".encode("latin-1")))


def test_a_folder(folder):
    (folder / "dir.yaml").mkdir()
    assert message_of("dir.yaml") == "dir.yaml: is a folder; a file is expected"


def test_no_such_file(folder):
    assert message_of("none.yaml") == "none.yaml: no such file"
    assert message_of(Path("none.yaml")) == "none.yaml: no such file"


def test_a_device_that_never_ends(folder):
    assert "is not a regular file" in message_of(Path("/dev/zero"))


def test_a_file_that_may_not_be_read(folder, monkeypatch):
    file = written(folder, HEAD)

    def refuse(*_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)
    assert message_of(file) == "bad.yaml: cannot be read: Permission denied"


def test_an_unknown_name_lists_the_known_ones_in_alphabetical_order(folder):
    found = message_of("hovr")
    assert "no scenario is called 'hovr'; did you mean 'hover'? Known scenarios: airship, " in found
    names = found.partition("Known scenarios: ")[2].partition(";")[0].split(", ")
    assert "figure8" in names
    assert names == sorted(names)


TYPOS = """\
name: typos
extends: hover
duraton: 5
vehicles:
  cf: {extends: crazyflie3}
  other:
    extends: iris
    mas: 1.2
    sensors:
      imu: {kind: imuu, rate: 250}
world:
  wind: [1, x, 0]
systems:
  push: {kind: pusch}
engine: btach
"""


def test_all_mistakes_of_a_file_are_told_at_once(folder):
    told = message_of(written(folder, TYPOS)).splitlines()
    assert {line.split(": ", 2)[1] for line in told} == {
        "duraton",
        "vehicles.cf",
        "vehicles.other.mas",
        "vehicles.other.sensors.imu.kind",
        "world.wind.1",
        "systems.push.kind",
        "engine.kind",
    }
    assert all(line.startswith("bad.yaml, line ") for line in told)


def test_what_follows_from_another_mistake_is_not_told(folder):
    text = HEAD + "  other: iris_\nsystems:\n  m: {kind: mission, vehicle: other, items: [{takeoff: 5}]}\n"
    (told,) = message_of(written(folder, text)).splitlines()
    assert told.startswith("bad.yaml, line 5: vehicles.other: no vehicle is called 'iris_'")


@pytest.mark.parametrize("name", ["", "\0", "a\0/b", "x" * 5000, "x/" * 5000, ".", "..", "/", "~", "*"])
def test_odd_names(folder, name):
    assert message_of(name)


def test_a_huge_file_is_refused_at_once(folder):
    file = folder / "huge.yaml"
    with file.open("wb") as stream:
        stream.truncate(100 * 1024**2)
    assert "huge.yaml: is larger than 4 MB; put large data such as terrain heights in a file of its own" in message_of(
        file
    )


def test_an_alias_bomb_is_refused_at_once(folder):
    levels = [f"l{i + 1}: &l{i + 1} [{', '.join([f'*l{i}'] * 10)}]" for i in range(9)]
    start = time.perf_counter()
    found = message_of(written(folder, "\n".join(["l0: &l0 [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]", *levels])))
    assert "bad.yaml, line 5" in found
    assert "aliases expand to more than 100000 values" in found
    assert time.perf_counter() - start < 60.0, "as many values as those aliases stand for would take hours"


def message_if_any(file: Path, overrides: dict[str, Any] | None = None) -> str | None:
    """The message of a ScenarioError; None if the scenario loads; whatever else is raised goes through."""
    try:
        load(file, overrides)
    except ScenarioError as error:
        return str(error)
    return None


fuzzed = settings(
    max_examples=150, deadline=None, database=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@pytest.mark.slow
@fuzzed
@given(text=st.text(max_size=80))
def test_random_text_never_raises_anything_else(folder, text):
    message = message_if_any(written(folder, text.encode("utf-8", "surrogatepass")))
    assert message is not None
    assert "bad.yaml" in message


@fuzzed
@given(text=st.text(alphabet="ab:-[]{}&*!|>'\"%@#,? \n\t0.", max_size=40))
def test_random_yaml_marks_never_raise_anything_else(folder, text):
    message = message_if_any(written(folder, HEAD + text))
    assert message is None or "bad.yaml" in message


KNOWN_KEYS = """name step seed engine world vehicles systems log extends kind rate cf mass rotor rotors sensors controller
    estimator terrain file heights size copies count x"""
KEYS = st.sampled_from(KNOWN_KEYS.split())
SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=8),
    st.sampled_from(["crazyflie2", "iris", "imu", "crazys", "hover", "lab", "plane", "plugins.py:Helper", "a/b", "./bad.yaml"]),
)  # fmt: skip
TREES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4), max_leaves=15
)


@fuzzed
@given(tree=st.dictionaries(KEYS, TREES, max_size=5))
def test_random_trees_never_raise_anything_else(folder, tree):
    message = message_if_any(written(folder, json.dumps(tree)))
    assert message is None or "bad.yaml" in message


@fuzzed
@given(
    key=st.lists(KEYS | st.sampled_from(["0", "front_left", "imu", "", "position"]), max_size=5).map(".".join),
    value=TREES,
)
def test_random_overrides_never_raise_anything_else(folder, key, value):
    assert message_if_any(written(folder, HEAD), {key: value}) != ""
