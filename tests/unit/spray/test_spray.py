"""Spray as a person meets it: where liquid lands, that none is lost, and what a scenario may not say."""

from __future__ import annotations

import json

import numpy as np
import pytest

import airloom as al
from airloom.commands import CommandError
from airloom.scenario import ScenarioError
from airloom.simulation import Simulation
from airloom.spray import report

BOOM = {"left": {"position": [-0.1, 0.5, -0.1]}, "right": {"position": [-0.1, -0.5, -0.1], "size": 3.0}}
VINES = {"kind": "vine_row", "path": [[-6, 0], [6, 0]]}


def flight(wind=(0.0, 0.0, 0.0), nozzles=BOOM, world=None, seed=None, tank=None, **spray) -> Simulation:
    sprayer = {"extends": "hexarotor", "pose": {"position": [0, 0, 3]}, "nozzles": nozzles}
    sprayer |= {"tank": tank} if tank else {}
    overrides = {
        "engine": "batch", "world": {"wind": list(wind), **(world or {})}, "vehicles": {"sprayer": sprayer},
        "systems": {"spray": {"kind": "spray", "flow": 2.0, "drops_per_litre": 50_000, "cell": 0.5, **spray}},
    }  # fmt: skip
    sim = Simulation.load("hover", seed=seed, overrides=overrides)
    sim.vehicles["sprayer"].command(al.PositionYaw((0.0, 0.0, 3.0)))
    return sim


def litres(sim: Simulation) -> dict[str, float]:
    return sim.systems["spray"].report(sim)["litres"]


def centre_of(map_) -> np.ndarray:
    rows, columns = np.nonzero(map_.ground)
    return np.average(map_.middles(rows, columns), axis=0, weights=map_.ground[rows, columns])


def test_no_liquid_is_lost():
    box = {"shape": "box", "size": [1, 1, 1], "position": [2, 0, 0.5]}
    world = {"obstacles": {"box": box}, "objects": {"vines": VINES}, "temperature": 308.0}
    sim = flight((3.0, 0.0, 0.0), world=world, evaporation=True, extent=[-5, -8, 8, 8])
    sim.run(4.0)
    found = litres(sim)
    assert found["sprayed"] == pytest.approx(2.0 * 4.0 / 60.0, rel=1e-3)
    assert abs(found["error"]) < 1e-9
    for where in ("ground", "canopy", "objects", "evaporated", "out_of_map", "airborne"):
        assert found[where] > 0.0, where
    map_ = sim.systems["spray"].map
    assert map_.ground.sum() == pytest.approx(found["ground"])
    assert map_.canopy.sum() == pytest.approx(found["canopy"])


def test_wind_carries_drops_along():
    still, windy = flight(), flight((0.0, 3.0, 0.0))
    for sim in (still, windy):
        sim.run(4.0)
    assert np.abs(centre_of(still.systems["spray"].map)).max() < 0.5
    assert centre_of(windy.systems["spray"].map)[1] > 1.5


def test_small_drops_stay_longer_in_the_air_than_large_ones():
    airborne = []
    for drops in ("very_fine", "coarse"):
        sim = flight((0.0, 2.0, 0.0), {"only": {"position": [0, 0, -0.1], "drops": drops}}, downwash=False)
        sim.run(5.0)
        airborne.append(litres(sim)["airborne"])
    assert airborne[0] > 2.0 * airborne[1]


def test_downwash_brings_drops_down_sooner():
    landed = []
    for downwash in (True, False):
        sim = flight(downwash=downwash)
        sim.run(2.0)
        landed.append(litres(sim)["ground"])
    assert landed[0] > 1.5 * landed[1]


def test_the_same_seed_gives_the_same_map_and_another_does_not():
    sim, chopped = flight(seed=5), flight(seed=5)
    chopped.bus.subscribe("/spray/*", lambda *_: None)
    chopped.longest_chunk = 7
    sim.run(2.0)
    for _ in range(20):
        chopped.run(chopped.time + 0.1)
    digest = sim.systems["spray"].digest()
    assert chopped.systems["spray"].digest() == digest
    assert chopped.state_hash() == sim.state_hash()
    sim.reset()
    sim.vehicles["sprayer"].command(al.PositionYaw((0.0, 0.0, 3.0)))
    sim.run(2.0)
    assert sim.systems["spray"].digest() == digest
    sim.reset(seed=6)
    sim.vehicles["sprayer"].command(al.PositionYaw((0.0, 0.0, 3.0)))
    sim.run(2.0)
    assert sim.systems["spray"].digest() != digest


def test_spray_does_not_act_on_the_vehicle():
    with_spray = flight()
    bare = flight(flow=0.0)
    for sim in (with_spray, bare):
        sim.run(1.0)
    assert litres(bare)["sprayed"] == 0.0
    assert with_spray.state_hash() == bare.state_hash()


def test_a_closed_nozzle_sprays_nothing():
    sim = flight()
    nozzles = sim.vehicles["sprayer"].nozzles
    nozzles.open = {"left": False}
    assert nozzles.open == {"left": False, "right": True}
    assert nozzles.open_share == 0.75
    sim.run(3.0)
    assert litres(sim)["sprayed"] == pytest.approx(0.75 * 2.0 * 3.0 / 60.0, rel=1e-3)
    assert centre_of(sim.systems["spray"].map)[1] < -0.1
    nozzles.open = False
    before = litres(sim)["sprayed"]
    sim.run(4.0)
    assert litres(sim)["sprayed"] == before
    sim.reset()
    assert all(sim.vehicles["sprayer"].nozzles.open.values())


def test_nozzles_that_are_not_there_cannot_be_opened():
    nozzles = flight().vehicles["sprayer"].nozzles
    with pytest.raises(CommandError, match=r"no nozzle called 'lefd'; did you mean 'left'\?"):
        nozzles.open = {"lefd": False}
    with pytest.raises(CommandError, match="open \\(True\\) or not"):
        nozzles.open = {"left": 3}


def test_a_tank_says_what_flows_and_hears_which_nozzles_are_open():
    tank = {"capacity": 2.0, "size": [0.2, 0.1, 0.1], "max_flow": 3.0, "lag": 0.3}
    sim = flight(tank=tank, flow=None)
    vehicle = sim.vehicles["sprayer"]
    sim.run(0.5)
    assert litres(sim)["sprayed"] == 0.0
    vehicle.tank.command(1.2)
    vehicle.nozzles.open = {"right": False}
    assert vehicle.tank.open_share == 0.25
    sim.run(2.5)
    vehicle.nozzles.open = False
    sim.run(5.0)
    found = litres(sim)
    assert found["sprayed"] == pytest.approx(vehicle.tank.given, abs=2 * 2e-5)  # but for a drop of each nozzle
    assert found["sprayed"] == pytest.approx(2.0 - vehicle.tank.litres, abs=2 * 2e-5)
    assert found["sprayed"] == pytest.approx(0.25 * 1.2 * 2.0 / 60.0, rel=0.01)


def test_vines_are_a_canopy_and_catch_fine_drops_in_wind():
    sim = flight((0.0, 3.0, 0.0), {"only": {"position": [0, -2.0, -1.5], "drops": "fine"}}, {"objects": {"v": VINES}})
    sim.run(4.0)
    found, map_ = litres(sim), sim.systems["spray"].map
    assert found["canopy"] > 0.2 * found["sprayed"]
    rows, columns = np.nonzero(map_.canopy)
    assert np.abs(map_.middles(rows, columns)[:, 1]).max() < 0.6


def test_drops_land_where_the_ground_is():
    world = {"terrain": {"kind": "heightfield", "size": [40, 40], "heights": [[0.0, 2.0], [0.0, 2.0]]}}
    sim = flight(world=world, nozzles={"only": {"position": [0, 0, -0.1]}})
    sim.run(0.5)
    spray = sim.systems["spray"]
    drops = spray.drops[: spray.count]
    assert len(drops) > 100
    assert (drops[:, 2] > 0.05 * (drops[:, 0] + 20.0)).all()


def test_an_edit_keeps_what_has_landed():
    sim = flight()
    sim.run(2.0)
    before = litres(sim)
    sim.change(sim.scenario.model_copy(update={"description": "edited"}))
    sim.run(2.5)
    assert litres(sim)["ground"] > before["ground"]
    assert abs(litres(sim)["error"]) < 1e-9


# -- files and numbers of a run ----------------------------------------------------------------------------------------


def test_a_run_leaves_a_map_and_its_numbers(tmp_path):
    rasterio = pytest.importorskip("rasterio")
    from airloom.runs import RecordedRun, RunFolder

    target = [[-4, -4], [4, -4], [4, 4], [-4, 4]]
    sim = flight((0.0, 1.0, 0.0), target=target, flow=6.0)
    log = sim.scenario.log.model_copy(update={"topics": ["/*/state", "/spray/*"]})
    sim = Simulation(sim.scenario.model_copy(update={"duration": 2.0, "log": log}))
    sim.vehicles["sprayer"].command(al.PositionYaw((0.0, 0.0, 3.0)))
    folder = RunFolder.create("spray", tmp_path / "run")
    RecordedRun(sim, folder).fly()
    told = json.loads(folder.summary.read_text())["systems"]["spray"]
    assert abs(told["litres"]["error"]) < 1e-3
    assert 0.3 < told["target"]["share"] <= 1.0
    shares = list(told["target"]["beyond"].values())
    assert shares == sorted(shares, reverse=True)
    assert (folder.path / "deposition.png").stat().st_size > 5000
    with rasterio.open(folder.path / "deposition.tif") as raster:
        ground = raster.read(1)
        assert raster.crs.to_epsg() == 32632
        assert raster.descriptions == ("ground, litres per hectare", "canopy, litres per hectare")
        area = abs(raster.transform.determinant)
        assert ground.sum() * area / 10_000 == pytest.approx(told["litres"]["ground"], rel=2e-3)
        peak = raster.xy(*np.unravel_index(ground.argmax(), ground.shape))
    from pyproj import Transformer

    origin = sim.scenario.world.origin
    home = Transformer.from_crs(4326, 32632, always_xy=True).transform(origin.longitude, origin.latitude)
    assert np.hypot(*np.subtract(peak, home)) < 5.0
    check_replay(folder)
    assert RunFolder.create("spray", tmp_path / "run", replace=True).path == folder.path


def check_replay(folder):
    """What `airloom view` shows of a run whose log has its spray."""
    from airloom.spray.shown import map_in_reply, points_in
    from airloom.studio.scene.spray_view import squares
    from airloom.studio.sources.playback import Playback
    from airloom.studio.sources.recorded import RecordedSource

    clock = Playback()
    source = RecordedSource(folder, clock)
    clock.seek(1.6)
    reply = source.ask("spray")
    source.close()
    assert len(points_in(reply)) > 100
    mesh = squares(map_in_reply(reply), lambda x, y: 0.1 * x)
    assert len(mesh.faces) > 20
    assert np.allclose(mesh.vertices[:, 2], 0.1 * mesh.vertices[:, 0] + 0.04, atol=1e-5)


def test_topics_tell_of_drops_and_map_when_somebody_listens():
    from airloom.spray.shown import map_in

    sim, heard = flight(), {}
    sim.bus.subscribe("/spray/*", lambda topic, message, time: heard.update({topic.name: message}))
    sim.run(3.0)
    assert heard["/spray/drops"].width > 100
    assert map_in(heard["/spray/map"]).litres_per_hectare.max() > 0.0


def test_a_straight_flight_has_a_swath():
    """The profile of one pass, a triangle 4 m wide at its foot: lanes 2 m apart add up to the same everywhere."""
    places = np.arange(-2.0, 2.0, 0.1) + 0.05
    profile = 2.0 - np.abs(places)
    assert report.variation(profile, 0.1, 2.0) < 0.01
    assert report.width_at_half(places, profile)[0] == pytest.approx(2.0, abs=0.11)
    width, variation = report.effective_swath(places, profile)
    assert 2.0 <= width <= 3.2
    assert variation <= 0.25


# -- mistakes ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"cell": 0.0}, "spray.cell: must be greater than 0"),
        ({"flow": -1.0}, "spray.flow: must be at least 0"),
        ({"flow": None}, "spray.flow: is missing: sprayer has nozzles and no tank"),
        ({"cell": 0.001, "extent": [0, 0, 100, 100]}, "too large"),
        ({"cell": 0.001}, "systems.spray.cell: a map of"),
        ({"extent": [0, 0, -10, 10]}, "west below east"),
        ({"target": [[0, 0], [1, 1], [2, 2]]}, "corners of an area"),
        ({"drops_per_litre": 0}, "spray.drops_per_litre: must be greater than 0"),
    ],
)
def test_what_a_system_may_not_say(change, told):
    with pytest.raises(ScenarioError, match=told):
        flight(**change)


@pytest.mark.parametrize(
    ("nozzle", "told"),
    [
        ({"drops": "corse"}, "drops: must be 'very_fine', .* or a mapping \\(key: value\\), got 'corse'"),
        ({"drops": {"median": -3.0}}, r"^[^\n]*drops.median: must be at least 5, got -3.0$"),
        ({"size": -1.0}, "size: must be greater than 0"),
        ({"position": [0, 0, -400.0]}, "position.2: must be at least -50"),
        ({"direction": [0, 0, 0]}, "direction must not be zero"),
        ({"angle": 200.0}, "angle: must be at most 180"),
        ({"position": [0, 0, -3.5]}, "nozzles.only.position: it is 0.5 m below the ground at the start"),
    ],
)
def test_what_a_nozzle_may_not_be(nozzle, told):
    with pytest.raises(ScenarioError, match=told):
        flight(nozzles={"only": {"position": [0, 0, 0], **nozzle}})


def test_spray_needs_a_vehicle_with_nozzles():
    with pytest.raises(ScenarioError, match="no vehicle has nozzles"):
        flight(nozzles={})
