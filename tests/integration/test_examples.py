"""Every example runs and says something true."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import airloom as al

EXAMPLES = Path(__file__).parents[2] / "examples"
SCRIPTS = sorted(path for path in EXAMPLES.glob("*.py") if "def main(" in path.read_text(encoding="utf-8"))

HOLDS: dict[str, Callable[[Any], bool]] = {
    "hover": lambda errors: all((error < 0.05).all() for error in errors.values()),
    "waypoints": lambda distances: max(distances) < 0.5,
    "swarm_wave": lambda error: error < 0.05,
    "custom_controller": lambda difference: difference < 1e-9,
    "monte_carlo": lambda ratio: 0.8 < ratio < 1.2,
    "log_and_plot": lambda figures: all(figure.stat().st_size > 10_000 for figure in figures),
    "see": lambda seen: 3.5 < seen[0] < 5.0 and seen[1] < 0.04,
    "step_by_step": lambda hashes: hashes[0] == hashes[2] != hashes[1],
}
"""What must be true of the value that main() returns."""


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_example(
    script: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    spec = importlib.util.spec_from_file_location(f"example_{script.stem}", script)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    result = module.main()
    assert capsys.readouterr().out.strip()
    assert HOLDS[script.stem](result), result


def test_a_wind_of_your_own_lifts_who_flies_through_it() -> None:
    layer = {"kind": "function", "function": f"{EXAMPLES}/my_wind.py:thermal"}
    sim = al.Simulation.load("hover", overrides={"engine": "batch", "world.weather.layers.thermal": layer})
    assert not sim.warnings, "it is compiled"
    assert sim.weather.wind((0, 0, 10), 0.0) == pytest.approx([0, 0, 3])
    assert sim.weather.wind((20, 0, 10), 10.0) == pytest.approx([0, 0, 3]), "it drifts"
    assert sim.weather.wind((0, 40, 10), 0.0) == pytest.approx([0, 0, 0], abs=1e-6)


def test_templates_fly() -> None:
    """The files to copy: a follower with a Python controller stays behind its leader until its tether is taut."""
    sim = al.Simulation.load(EXAMPLES / "my_scenario.yaml")
    leader, follower = sim.vehicles["leader"], sim.vehicles["follower"]
    sim.run(until=6.0)
    assert leader.position - follower.position == pytest.approx([1.0, 0.0, 0.0], abs=0.15)
    sim.run()
    reach = float(((follower.position - [-1.0, 0.0, 0.0]) ** 2).sum() ** 0.5)
    assert 2.5 < reach < 3.0
    assert leader.position[0] - follower.position[0] > 1.2
