# ruff: noqa: E501, UP031 — the tables of cases read best with a case a line
"""Whatever is wrong with an object, its scattering or the light, the user reads which key and what to do."""

from __future__ import annotations

import sys

import pytest

from airloom.cli import main
from airloom.scenario import ScenarioError, load
from airloom.simulation import Simulation

SQUARE = "[[0, 0], [9, 0], [9, 9], [0, 9]]"
CASES = {
    "{oak: {kind: treee}}": "world.objects.oak.kind: must be ",
    "{oak: {form: poplar}}": "world.objects.oak: needs a 'kind'",
    "{oak: {kind: tree, form: palm}}": "world.objects.oak.form: must be ",
    "{oak: {kind: tree, hight: 3}}": "world.objects.oak.hight: unknown key; did you mean 'height'?",
    "{oak: {kind: tree, height: -3}}": "world.objects.oak.height: must be greater than 0, got -3",
    "{oak: {kind: tree, height: 1e6}}": "world.objects.oak.height: must be at most 150",
    "{oak: {kind: tree, position: [1]}}": "world.objects.oak.position: must be a list of 2",
    "{oak: {kind: tree, colour: [1, 2, 256]}}": "world.objects.oak.colour.2: must be at most 255",
    "{oak: {kind: house, size: [0, 4, 4]}}": "world.objects.oak.size.0: must be ",
    "{oak: {kind: house, size: [9e9, 4, 4]}}": "world.objects.oak.size.0: must be at most 200",
    "{oak: {kind: tree, scatter: {kind: circle}}}": "world.objects.oak.scatter.kind: must be ",
    "{oak: {kind: tree, scatter: {kind: grid, columns: 0, spacing: [1, 1]}}}": "world.objects.oak.scatter.columns: must be at least 1",
    "{oak: {kind: tree, scatter: {kind: grid, columns: 2}}}": "world.objects.oak.scatter.spacing: is missing",
    "{oak: {kind: tree, scatter: {kind: random, count: 3, polygon: [[0, 0], [1, 1]]}}}": "world.objects.oak.scatter.polygon: must have at least 3 entries",
    "{oak: {kind: tree, scatter: {kind: random, count: 3, polygon: [[0, 0], [1, 1], [2, 2]]}}}": "no area between them",
    "{oak: {kind: tree, scatter: {kind: random, count: 10000000, polygon: %s}}}"
    % SQUARE: "world.objects.oak.scatter.count: must be at most 20000",
    "{oak: {kind: tree, scatter: {kind: random, count: 3, scale: [2, 1], polygon: %s}}}"
    % SQUARE: "the smaller size comes first",
    "{wall: {kind: fence}}": "world.objects.wall: needs a path",
    "{wall: {kind: fence, path: [[0, 0], [0, 0]]}}": "are the same: [0.0, 0.0]",
    "{own: {kind: mesh}}": "world.objects.own.file: is missing",
    "{own: {kind: mesh, file: gone.stl}}": "world.objects.own.file: there is no file 'gone.stl'",
    "{own: {kind: mesh, file: bad.yaml, scale: 0}}": "world.objects.own.scale: must be ",
}
LIGHT = {
    "{sun: {time: noon}}": "world.light.sun.time: must be a date and time such as 2026-06-21T14:30+02:00, got 'noon'",
    "{sun: {time: 2026-06-21T12:00, azimuth: 3}}": "world.light.sun: give either the time or the sun's azimuth and elevation",
    "{sun: {elevation: 91}}": "world.light.sun.elevation: must be at most 90, got 91",
    "{fog: {distance: 0}}": "world.light.fog.distance: must be ",
    "{brightness: -1}": "world.light.brightness: must be greater than 0",
    "{sky: blue}": "world.light.sky: must be a list",
}
GROUND = {
    "{kind: meadow, size: [10, 10], cell: 9}": "a cell of 9 m is too large for 10 × 10 m",
    "{kind: mountains, size: [10000, 10000], cell: 1}": "more than 4e+06; make the cell larger than 1 m",
    "{kind: vineyard, slope: 3}": "world.terrain.slope: must be at most 1, got 3",
    "{kind: meadow, roads: [{path: [[0, 0]]}]}": "world.terrain.roads.0.path: must have at least 2 entries",
}
BUILT = {
    "{oak: {kind: tree, scatter: {kind: rows, polygon: %s, between: 50}}}"
    % SQUARE: "world.objects.oak: scatter: nothing fits into the polygon",
    "{oak: {kind: post, scatter: {kind: rows, polygon: [[0, 0], [900, 0], [900, 900], [0, 900]], between: 1, spacing: 1}}}": "places; 20000 are the most",
    "{wall: {kind: fence, path: [[0, 0], [9000, 0]], spacing: 0.2}}": "world.objects.wall: a path with 45001 posts is too long",
    "{own: {kind: mesh, file: bad.yaml}}": "world.objects.own: ",
}


def written(folder, key: str, text: str):
    file = folder / "bad.yaml"
    file.write_text(f"name: t\nvehicles:\n  cf: crazyflie2\nworld:\n  {key}: {text}\n")
    return file


@pytest.mark.parametrize(
    ("key", "text", "said"),
    [
        (key, *case)
        for key, cases in (("objects", CASES), ("light", LIGHT), ("terrain", GROUND))
        for case in cases.items()
    ],
)
def test_files_are_refused_by_key(tmp_path, monkeypatch, key, text, said):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ScenarioError) as caught:
        load(written(tmp_path, key, text))
    assert said in str(caught.value)
    assert "bad.yaml, line 5" in str(caught.value)


@pytest.mark.parametrize(("text", "said"), BUILT.items())
def test_what_cannot_be_built_is_refused_by_key(tmp_path, monkeypatch, text, said):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ScenarioError) as caught:
        Simulation(load(written(tmp_path, "objects", text)))
    assert said in str(caught.value)


def test_the_command_ends_with_2_and_one_message(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    file = written(tmp_path, "objects", "{own: {kind: mesh, file: bad.yaml}}")
    monkeypatch.setattr(sys, "argv", ["airloom", "run", str(file), "--headless"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    assert "known are .obj" in " ".join(capsys.readouterr().err.split())
