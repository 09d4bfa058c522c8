"""Files that users give: scenarios, vehicles, missions, plans, fields, models, logs."""

from __future__ import annotations

import json
from collections.abc import Iterable
from itertools import count as count_from_zero
from itertools import islice
from pathlib import Path

from tests.models import DRONE, PLANE, SWIMMER, WHOLE, XACRO

import airloom as al
from airloom.farm.field import read_field
from airloom.farm.geojson import FarmError
from airloom.missions.files import read_mission
from airloom.models.description import ModelError
from airloom.models.importing import import_model
from airloom.runs.mcap import LogError, LogReader
from airloom.runs.mcap.writer import LogWriter
from airloom.scenario import Scenario, ScenarioError, load
from airloom.scenario.library import known
from airloom.scenario.tree import BUNDLED
from torture.filed import fed_as_file, file_called
from torture.guided import Guided
from torture.trial import Tally, trial

FLOWN_OF_THOSE_ACCEPTED = 200
DECODED_ONE_IN = 20
"""Logs whose messages are decoded too: learning their types takes far longer than reading all else."""
MISSION = """description: a look around
mission:
  - takeoff: 3
  - goto: [4, 0, 3]
    yaw: 1.57
    speed: 3
  - follow: [[4, 0, 3], [4, 4, 5], [0, 4, 3]]
    method: pursuit
    yaw: path
  - sleep: 2.5
  - land:
"""
PLAN = {
    "fileType": "Plan", "version": 1, "groundStation": "QGroundControl",
    "geoFence": {"version": 2, "circles": [], "polygons": []}, "rallyPoints": {"version": 2, "points": []},
    "mission": {
        "version": 2, "firmwareType": 12, "vehicleType": 2, "cruiseSpeed": 15, "hoverSpeed": 5,
        "plannedHomePosition": [47.3977, 8.5456, 488.0],
        "items": [
            {
                "type": "SimpleItem", "command": command, "frame": 3, "autoContinue": True, "params": params,
                "doJumpId": number,
            }
            for number, (command, params) in enumerate((
                (22, [0, 0, 0, None, 47.3977, 8.5456, 10]), (16, [2, 0, 0, 90, 47.3979, 8.5458, 12]),
                (178, [1, 3, -1, 0, 0, 0, 0]), (19, [3, 0, 10, None, 47.3979, 8.5460, 12]), (93, [2, 0, 0, 0, 0, 0, 0]),
                (18, [2, 0, 10, None, 47.3979, 8.5460, 12]), (82, [0, 0, 0, 0, 47.3980, 8.5461, 15]),
                (177, [2, 1, 0, 0, 0, 0, 0]), (206, [0, 0, 0, 0, 0, 0, 0]), (20, [0, 0, 0, 0, 0, 0, 0]),
            ), start=1)
        ],
    },
}  # fmt: skip

CORNERS = [[8.5450, 47.3970], [8.5463, 47.3970], [8.5463, 47.3977], [8.5450, 47.3977], [8.5450, 47.3970]]
POND = [[8.5454, 47.3972], [8.5456, 47.3972], [8.5456, 47.3974], [8.5454, 47.3972]]
FIELD = {
    "type": "FeatureCollection",
    "features": [
        {"type": "Feature", "properties": properties, "geometry": {"type": kind, "coordinates": coordinates}}
        for properties, kind, coordinates in (
            ({"name": "vines"}, "Polygon", [CORNERS, POND]), ({"role": "rows"}, "LineString", CORNERS[:2]),
            ({"role": "refill"}, "Point", CORNERS[0]), ({"no_fly": True}, "Polygon", [POND]),
        )
    ],
}  # fmt: skip


def _bundled(kind: str) -> list[str]:
    return [file.read_text(encoding="utf-8") for file in sorted((BUNDLED / kind).glob("*.yaml"))]


@trial(
    "scenario files",
    "bundled scenarios with lines, values and bytes changed; some of those accepted are flown",
    full=10**6,
    reduced=10**4,
)
def scenarios(count: int, seed: int) -> Tally:
    corpus = _bundled("scenarios")
    flyable: list[Scenario] = []

    def read(file: Path) -> None:
        scenario = load(file)
        if len(flyable) < FLOWN_OF_THOSE_ACCEPTED and len(scenario.vehicles) < 20 and not scenario.members:
            flyable.append(scenario)

    for name in known("scenario"):
        load(name)  # compiles
    tally = fed_as_file("scenario.yaml", read, Guided.of_texts(seed, corpus), count, ScenarioError)
    _fly(flyable, tally)
    return tally


def _fly(scenarios: Iterable[Scenario], tally: Tally) -> None:
    """What is accepted must fly, or be refused when it is put together."""
    flown = 0
    for scenario in scenarios:
        if any(vehicle.autopilot for vehicle in scenario.vehicles.values()):
            continue
        try:
            with al.Simulation(scenario) as sim:
                sim.run(until=0.05)
            flown += 1
        except (ScenarioError, ValueError):
            pass
        except Exception as error:
            tally.surprise(f"an accepted scenario cannot be flown: {type(error).__name__}: {error}")
    tally.note = f"{flown} of those accepted were flown; {tally.note}"


@trial("mission files", "a mission in YAML with lines, values and bytes changed", full=10**6, reduced=10**4)
def missions(count: int, seed: int) -> Tally:
    return fed_as_file("mission.yaml", read_mission, Guided.of_texts(seed, [MISSION]), count, ScenarioError)


@trial(
    "plan files", "a QGroundControl plan with values changed, left out, doubled, and bytes", full=10**6, reduced=10**4
)
def plans(count: int, seed: int) -> Tally:
    origin = load("hover", {"world.origin": {"latitude": 47.3977, "longitude": 8.5456, "altitude": 488.0}}).world.origin
    guided = Guided.of_trees(seed, [PLAN, json.loads(json.dumps(PLAN))])
    return fed_as_file("mission.plan", lambda file: read_mission(file, origin), guided, count, ScenarioError)


@trial("field files", "a field in GeoJSON with values changed, left out, doubled, and bytes", full=10**6, reduced=10**4)
def fields(count: int, seed: int) -> Tally:
    return fed_as_file("field.geojson", read_field, Guided.of_trees(seed, [FIELD]), count, FarmError)


@trial(
    "model files",
    "SDF, xacro and MJCF of multirotors, planes and vessels with lines and bytes changed",
    full=10**5,
    reduced=2000,
)
def models(count: int, seed: int) -> Tally:
    corpus = [DRONE, PLANE, SWIMMER, XACRO, WHOLE]

    def read(file: Path) -> None:
        import_model(file, file.parent / "made")

    return fed_as_file("model.sdf", read, Guided.of_texts(seed, corpus), count, ModelError)


@trial(
    "vehicle files",
    "bundled vehicles with lines, values and bytes changed; some accepted are flown",
    full=10**5,
    reduced=2000,
)
def vehicles(count: int, seed: int) -> Tally:
    corpus = _bundled("vehicles")
    flyable: list[Scenario] = []

    def read(file: Path) -> None:
        scenario = load("hover", {"vehicles": {"one": {"extends": str(file)}}, "systems": {}})
        if len(flyable) < FLOWN_OF_THOSE_ACCEPTED:
            flyable.append(scenario)

    tally = fed_as_file("vehicle.yaml", read, Guided.of_texts(seed, corpus), count, ScenarioError)
    _fly(flyable, tally)
    return tally


@trial("logs", "a log with bytes changed, cut, doubled: read as far as it goes, or refused", full=10**6, reduced=10**4)
def logs(count: int, seed: int) -> Tally:
    turns = count_from_zero()

    def read(file: Path) -> None:
        with LogReader(file) as log:
            if next(turns) % DECODED_ONE_IN == 0:
                list(islice(log.messages(), 20))
                for topic in islice(log.topics, 2):
                    log.series(topic, log.fields(topic)[0])

    with file_called("whole.mcap") as whole:
        _write_log(whole)
        corpus = [whole.read_bytes()]
    return fed_as_file("log.mcap", read, Guided.of_bytes(seed, corpus), count, LogError)


def _write_log(file: Path) -> None:
    with al.Simulation(load("hover", {"engine": "batch"})) as sim:
        log = LogWriter(file, sim.bus, ["/events", "/clock", "/cf/state"])
        sim.run(until=0.2)
        log.tick(sim.time_ns)
        log.close()
