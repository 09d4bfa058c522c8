"""Wings and hulls of Gazebo's models: the forces are those of its code, and the vehicles fly and swim."""

from __future__ import annotations

from math import atan2, cos, degrees, exp, pi, sin, sqrt

import numpy as np
import pytest
import yaml
from tests import models

import airloom as al
from airloom.models.importing import import_model
from airloom.models.solids import measure_solid
from airloom.scenario.loader import load_vehicle
from airloom.vehicles.aeroplane import Aeroplane
from airloom.vehicles.airframe import Airframe
from airloom.vehicles.hull import mesh_of

RHO = 1.225


def imported(folder, text, name="m"):
    (folder / f"{name}.sdf").write_text(text)
    return import_model(folder / f"{name}.sdf", folder / f"out_{name}")


def lift_drag(velocity, rates, link, cp, up, area, a0, control):
    """What gz-sim's LiftDrag.cc does, about the link's origin; forward is x of the link, whose pose is `link`."""
    turn, place = link
    velocity = velocity + np.cross(rates, place + turn @ cp)
    f, u = turn @ [1, 0, 0], turn @ up
    s = np.cross(f, u)
    sweep = 1 - (s @ velocity / np.linalg.norm(velocity)) ** 2
    plane = velocity - (velocity @ s) * s
    drag_way = -plane / np.linalg.norm(plane)
    lift_way = np.cross(s, plane) / np.linalg.norm(np.cross(s, plane))
    alpha = np.arccos(np.clip(lift_way @ u, -1, 1))
    alpha = a0 + (alpha if lift_way @ f >= 0 else -alpha)
    q = 0.5 * RHO * plane @ plane
    size, sign = abs(alpha), np.sign(alpha)
    cl = sign * (4.7 * size if size < 0.34 else max(4.7 * 0.34 - 3.8 * (size - 0.34), 0.0)) * sweep + control
    cd = abs(0.3 * size if size < 0.34 else 0.3 * 0.34 - 0.9 * (size - 0.34)) * sweep
    force = q * area * (cl * lift_way + cd * drag_way)
    return force, np.cross(place + turn @ cp, force)


def wrench_of(made, velocity, rates, angles):
    """Ours, about the vehicle's origin; velocity is that of the origin."""
    vehicle = load_vehicle(str(made.file))
    plane = Aeroplane(Airframe(vehicle, 9.81, 0.001))
    center = np.array(vehicle.center_of_mass)
    at_center = velocity + np.cross(rates, center)
    found = plane.wrench(at_center, rates, [angles.get(name, 0.0) for name in vehicle.servos], np.zeros(1))
    return found[:3], found[3:] + np.cross(center, found[:3])


def turned_x(angle):
    return np.array([[1, 0, 0], [0, cos(angle), -sin(angle)], [0, sin(angle), cos(angle)]])


@pytest.mark.parametrize("seed", range(4))
def test_surfaces_push_as_gazebo_has_them(tmp_path, seed):
    """Flaps by their joints' angles; the tail turns as a whole, so its angle of attack does (to first order)."""
    made = imported(tmp_path, models.PLANE)
    rng = np.random.default_rng(seed)
    velocity, rates = np.array([15.0, *rng.uniform(-3, 3, 2)]), rng.uniform(-1, 1, 3)
    left, right, tail = rng.uniform(-0.3, 0.3, 3)
    angles = {"left_joint": left, "right_joint": right, "tail_joint": 1e-4 * tail, "fin_joint": 0.0}
    straight, up = (np.eye(3), np.zeros(3)), np.array([0.0, 0, 1])
    tilt = 1e-4 * tail
    tail_turn = np.array([[cos(tilt), 0, sin(tilt)], [0, 1, 0], [-sin(tilt), 0, cos(tilt)]])
    parts = [
        lift_drag(velocity, rates, straight, [0.01, 0.5, 0], up, 0.2, 0.06, -0.6 * left),
        lift_drag(velocity, rates, straight, [0.01, -0.5, 0], up, 0.2, 0.06, -0.6 * right),
        lift_drag(velocity, rates, straight, [0.01, 0, 0], up, 0.1, 0.06, 0.0),
        lift_drag(velocity, rates, (tail_turn, np.array([-0.7, 0, 0.1])), [-0.02, 0, 0], up, 0.05, -0.02, 0.0),
        lift_drag(velocity, rates, (turned_x(pi / 2), np.array([-0.7, 0, 0.1])), [0, 0, 0], up, 0.03, 0.0, 0.0),
    ]
    force, torque = wrench_of(made, velocity, rates, angles)
    np.testing.assert_allclose(force, sum(part[0] for part in parts), rtol=1e-3, atol=1e-3)
    np.testing.assert_allclose(torque, sum(part[1] for part in parts), rtol=1e-3, atol=1e-3)


def advanced(velocity, rates, angles):
    """What gz-sim's AdvancedLiftDrag.cc does, with the pitch moment that its line for β loses.

    β is against the speed in the plane of lift and drag, not against that ahead, which makes Gazebo's jump across 90°.
    """
    c = models.COEFFICIENTS
    cp = np.array([-0.1, 0, 0.02])
    v = velocity + np.cross(rates, cp)
    ahead, right, down = v[0], -v[1], -v[2]
    speed, alpha = sqrt(ahead**2 + down**2), atan2(down, ahead)
    beta = atan2(right, speed)
    span, mac = sqrt(c["area"] * c["AR"]), c["mac"]
    stall, blend = c["alpha_stall"], 15.0
    a, b = exp(-blend * (alpha - stall)), exp(blend * (alpha + stall))
    sigma = (1 + a + b) / ((1 + a) * (1 + b))
    control = {key: 0.0 for key in ("CD", "CY", "CL", "Cell", "Cem", "Cen")}
    for joint, direction, slopes in models.CONTROLS[:2]:
        for key, slope in slopes.items():
            control[key] += degrees(angles[f"{joint}_joint"]) * slope * direction
    rolls = (rates[0] * span / 2 / speed, -rates[1] * mac / 2 / speed, -rates[2] * span / 2 / speed)
    by_rates = {key: sum(c[key + k] * r for k, r in zip("pqr", rolls, strict=True)) for key in control}
    cl = (1 - sigma) * (c["CL0"] + c["CLa"] * alpha) + sigma * 2 * np.sign(alpha) * sin(alpha) ** 2 * cos(alpha)
    cl += c["CLb"] * beta + control["CL"]
    plate = 2 / (1 + exp(-0.224 - 0.115 * c["AR"]))
    cd = (1 - sigma) * (c["CD0"] + cl**2 / (pi * c["AR"] * c["eff"])) + sigma * plate * sin(alpha) ** 2 + control["CD"]
    within = np.clip(alpha, -stall, stall)
    cem = c["Cem0"] + c["Cema"] * within + c["Cema_stall"] * (alpha - within) + c["Cemb"] * beta + control["Cem"]
    others = {key: c[key + "a"] * alpha + c[key + "b"] * beta + control[key] for key in ("CY", "Cell", "Cen")}
    total = {key: value + by_rates[key] for key, value in (others | {"CL": cl, "CD": cd, "Cem": cem}).items()}
    q = 0.5 * RHO * speed**2 * c["area"]
    x, z = np.array([ahead, 0, -down]) / speed, np.array([down, 0, ahead]) / speed
    force = q * (-total["CD"] * x + total["CL"] * z + total["CY"] * np.array([0, -1, 0]))
    moment = q * np.array([span * total["Cell"], -mac * total["Cem"], -span * total["Cen"]])
    return force, moment + np.cross(cp, force)


@pytest.mark.parametrize("seed", range(4))
def test_coefficients_push_as_gazebo_has_them(tmp_path, seed):
    """Per degree and direction; the third surface is beyond num_ctrl_surfaces, so it does nothing."""
    made = imported(tmp_path, models.advanced())
    assert set(made.content["servos"]) == {"left_joint", "tail_joint"}
    rng = np.random.default_rng(seed)
    velocity, rates = np.array([15.0, *rng.uniform(-6, 6, 2)]), rng.uniform(-1, 1, 3)
    angles = dict(zip(("left_joint", "tail_joint"), rng.uniform(-0.3, 0.3, 2), strict=True))
    for ours, theirs in zip(wrench_of(made, velocity, rates, angles), advanced(velocity, rates, angles), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-6, atol=1e-6)


def test_joints_of_flaps_are_servos(tmp_path):
    """Limits are the joint's, the lag its damping over the gain; a joint that is only told of is held."""
    made = imported(tmp_path, models.PLANE)
    assert made.content["servos"]["left_joint"] == {"lowest": -0.6, "highest": 0.5, "lag": 0.04}
    assert set(made.content["servos"]) == {"left_joint", "right_joint", "tail_joint", "fin_joint"}
    assert "servo" not in made.content["surfaces"]["middle"]
    assert any("held at zero here: flap_joint" in text for text in made.notes.assumed)
    assert made.content["sensors"]["pitot"]["kind"] == "airspeed"
    assert not made.notes.ignored or "JointStatePublisher" in made.notes.ignored[0]


def test_an_aeroplane_flies_level(tmp_path):
    made = imported(tmp_path, models.PLANE)
    assert made.content["controller"]["kind"] == "plane"
    sim = al.Simulation.load(str(made.scenario), overrides={"engine": "batch"})
    (plane,) = sim.vehicles.values()
    heights, speeds = [], []
    for t in range(1, 61):
        sim.run(until=t)
        heights.append(plane.position[2])
        speeds.append(np.linalg.norm(plane.velocity))
    assert np.abs(np.array(heights) - 50).max() < 3.0
    assert speeds[-1] == pytest.approx(made.content["controller"]["cruise_speed"], rel=0.05)


def test_a_plane_that_nothing_steers_has_no_stack(tmp_path):
    made = imported(tmp_path, models.PLANE.replace("JointPositionController", "Unheard").replace("joint-position", "x"))
    assert made.content["controller"] is not None  # whatever names a joint may move it
    still = models.PLANE
    for name in ("left", "right", "tail", "fin"):
        still = still.replace(models.DRIVE.format(name=name), "")
    made = imported(tmp_path, still, "still")
    assert made.content["controller"] is None
    assert "servos" not in made.content


def test_a_swimmer_rises_as_its_buoyancy_says(tmp_path):
    """ρ V g − m g = d v + d₂ v²; nothing of it depends on the depth at which the model was put."""
    made = imported(tmp_path, models.SWIMMER)
    hull = made.content["hull"]
    volume = 0.4 * 0.25 * 0.1 + 4 / 3 * pi * 0.05 * 0.04 * 0.03
    assert hull["shapes"]["egg"] == {"kind": "ellipsoid", "size": [0.1, 0.08, 0.06], "position": [0, 0, 0.1]}
    assert hull["damping"] == [5, 6, 7, 0.1, 0.2, 0.3]
    assert hull["quadratic_damping"] == [10, 11, 12, 0, 0, 0]
    assert any("yR" in text for text in made.notes.ignored)
    assert made.content["controller"] is None
    sim = al.Simulation.load(str(made.scenario), overrides={"engine": "batch", "duration": 6})
    (swimmer,) = sim.vehicles.values()
    sim.run()
    surplus = (1000 * volume - 10.0) * 9.80665
    wanted = (-7 + sqrt(49 + 4 * 12 * surplus)) / 24
    assert swimmer.velocity[2] == pytest.approx(wanted, rel=2e-3)


def test_added_mass_is_about_the_centre_of_mass(tmp_path):
    """Gazebo has it about the link's origin: the energy of any motion is the same by both."""
    made = imported(tmp_path, models.SWIMMER)
    given, center = np.diag([1.5, 2, 4, 0.03, 0, 0]), np.array(made.content["center_of_mass"])
    matrix = np.array(made.content["hull"]["added_mass"])
    rng = np.random.default_rng(0)
    for _ in range(3):
        v, w = rng.normal(size=3), rng.normal(size=3)
        at_origin = np.concatenate([v - np.cross(w, center), w])
        at_center = np.concatenate([v, w])
        assert at_center @ matrix @ at_center == pytest.approx(at_origin @ given @ at_origin)


def test_added_mass_of_sdf_and_of_older_gazebos(tmp_path):
    """`fluid_added_mass` is positive; so was that of the plugin, which resists all the same."""
    added = "</inertia><fluid_added_mass><xx>3</xx><yz>0.2</yz></fluid_added_mass></inertial>"
    own = models.SWIMMER.replace("</inertia></inertial>", added, 1)
    own = own.replace("<xDotU>-1.5</xDotU>", "<disable_added_mass>1</disable_added_mass>")
    matrix = np.array(imported(tmp_path, own, "own").content["hull"]["added_mass"])
    assert (matrix[0][0], matrix[1][2], matrix[2][1]) == pytest.approx((3, 0.2, 0.2))
    older = models.SWIMMER.replace("DotU>-1.5", "DotU>1.5").replace("DotV>-2", "DotV>2").replace("DotW>-4", "DotW>4")
    made = imported(tmp_path, older.replace("DotP>-0.03", "DotP>0.03"), "older")
    assert np.array(made.content["hull"]["added_mass"])[0][0] == pytest.approx(1.5)
    assert any("older Gazebos" in text for text in made.notes.assumed)


def test_a_volume_that_is_given_counts_in_place_of_shapes(tmp_path):
    """As Gazebo classic's plugin has it."""
    given = """<plugin name="b" filename="libBuoyancyPlugin.so"><link name="base_link">
      <center_of_volume>0 0 0.05</center_of_volume><volume>0.011</volume></link></plugin></model>"""
    made = imported(tmp_path, models.SWIMMER.replace("</model>", given))
    (ball,) = made.content["hull"]["shapes"].values()
    assert 4 / 3 * pi * ball["radius"] ** 3 == pytest.approx(0.011)
    assert ball["position"] == [0, 0, 0.05]


@pytest.mark.parametrize(
    ("plugin", "water"),
    [
        ("<uniform_fluid_density>1010</uniform_fluid_density>", {"level": 1000, "density": 1010}),
        (
            """<graded_buoyancy><default_density>1040</default_density>
            <density_change><above_depth>0</above_depth><density>1.1</density></density_change>
            <density_change><above_depth>-9</above_depth><density>1025</density></density_change></graded_buoyancy>""",
            {"level": 0, "density": 1025, "layers": [{"below": -9, "density": 1040}]},
        ),
    ],
)
def test_the_water_of_a_world(tmp_path, plugin, water):
    (tmp_path / "sea.sdf").write_text(f"""<sdf version="1.9"><world name="sea">
      <plugin filename="gz-sim-buoyancy-system" name="gz::sim::systems::Buoyancy">{plugin}</plugin></world></sdf>""")
    made = import_model(tmp_path / "sea.sdf", tmp_path / "out")
    assert made.content["water"] == water
    assert yaml.safe_load(made.file.read_text())["water"] == water


def test_a_vtol_hovers_on_the_rotors_that_lift(tmp_path):
    """The fifth pulls along x, and stays out of it."""
    pusher = """<link name="rotor_4"><pose>-0.3 0 0 0 1.5707963267948966 0</pose><inertial><mass>0.01</mass>
      <inertia><ixx>1e-6</ixx><iyy>1e-5</iyy><izz>1e-5</izz></inertia></inertial></link>
      <joint name="rotor_4_joint" type="revolute"><parent>base_link</parent><child>rotor_4</child>
      <axis><xyz>0 0 1</xyz></axis></joint>"""
    wings = "".join(models.wing("wing", "base_link", f"0 {y} 0", 0.2, 0.06) for y in (0.4, -0.4))
    motors = "".join(models.MOTOR.format(n=n, turns=turns) for n, (_, _, turns) in enumerate(models.PLACES))
    motors += models.MOTOR.format(n=4, turns="cw")
    models.write(tmp_path, vtol=models.BASE.replace("</model>", pusher + wings + motors + "</model>"))
    models.brick(tmp_path / "frame/meshes/hull.stl")
    made = import_model(tmp_path / "vtol", tmp_path / "out")
    assert made.content["controller"] == {"kind": "cascade"}
    sim = al.Simulation.load(str(made.scenario), overrides={"engine": "batch", "duration": 10})
    (vtol,) = sim.vehicles.values()
    sim.run()
    np.testing.assert_allclose(vtol.position, (0, 0, 2), atol=0.05)
    assert vtol.rotor_speeds[4] == 0.0


def test_a_diver_holds_its_place(tmp_path):
    """Six thrusters along and about all axes, which push backwards with half of their thrust."""
    ways = ("0 1.5707963267948966 0", "0 1.5707963267948966 0", "-1.5707963267948966 0 0", "0 0 0", "0 0 0", "0 0 0")
    places = ("0 0.2 0", "0 -0.2 0", "0.05 0 0.05", "0.2 0.1 0", "0.2 -0.1 0", "-0.2 0 0")
    thrusters = "".join(
        f"""<link name="t{k}"><pose>{place} {way}</pose><inertial><mass>0.01</mass>
        <inertia><ixx>1e-5</ixx><iyy>1e-5</iyy><izz>1e-5</izz></inertia></inertial></link>
        <joint name="t{k}_joint" type="revolute"><parent>base_link</parent><child>t{k}</child>
        <axis><xyz>0 0 1</xyz></axis></joint>
        <plugin filename="gz-sim-thruster-system" name="Thruster"><joint_name>t{k}_joint</joint_name>
        <max_thrust_cmd>20</max_thrust_cmd><min_thrust_cmd>-10</min_thrust_cmd></plugin>"""
        for k, (place, way) in enumerate(zip(places, ways, strict=True))
    )
    begin, end = models.SWIMMER.index('<link name="prop">'), models.SWIMMER.index('<plugin filename="gz-sim-hydro')
    made = imported(tmp_path, models.SWIMMER[:begin] + thrusters + models.SWIMMER[end:])
    assert made.content["rotor"]["in_water"] == {"reverse": 0.5}
    assert made.content["controller"] == {"kind": "rov"}
    sim = al.Simulation.load(str(made.scenario), overrides={"engine": "batch", "duration": 25})
    (diver,) = sim.vehicles.values()
    sim.run()
    np.testing.assert_allclose(diver.position, (0, 0, -2), atol=0.1)  # let go, it would float by now


def ball(folder, segments, rings, open_end=False):
    """An OBJ of a ball of 0.2 m, whose middle is at (1, 2, 3)."""
    turns = np.linspace(0, 2 * pi, segments, endpoint=False)
    rows = [[(sin(a) * cos(b), sin(a) * sin(b), cos(a)) for b in turns] for a in np.linspace(0, pi, rings + 2)[1:-1]]
    points = np.array([(0.0, 0.0, 1.0), (0.0, 0.0, -1.0), *(p for row in rows for p in row)]) * 0.2 + [1, 2, 3]
    at = lambda ring, k: 3 + ring * segments + k % segments  # noqa: E731
    faces = [(1, at(0, k), at(0, k + 1)) for k in range(segments)]
    faces += [] if open_end else [(2, at(rings - 1, k + 1), at(rings - 1, k)) for k in range(segments)]
    for ring in range(rings - 1):
        for k in range(segments):
            a, b, c, d = at(ring, k), at(ring + 1, k), at(ring + 1, k + 1), at(ring, k + 1)
            faces += [(a, b, c), (a, c, d)]
    lines = [f"v {x} {y} {z}" for x, y, z in points] + [f"f {a} {b} {c}" for a, b, c in faces]
    (folder / "ball.obj").write_text("\n".join(lines))


def swimmer_with_a_mesh(folder):
    egg = "<ellipsoid><radii>0.05 0.04 0.03</radii></ellipsoid>"
    return imported(folder, models.SWIMMER.replace(egg, "<mesh><uri>ball.obj</uri><scale>0.5 0.5 0.5</scale></mesh>"))


@pytest.mark.parametrize(
    ("segments", "rings", "open_end", "told", "tolerance"),
    [
        (24, 12, False, "displaces 4.081 litres, as the mesh that it is", 0.04),
        (24, 12, True, "24 open edges; a foil around it displaces 4.079 litres", 0.04),
        (120, 60, False, "has 14400 triangles; a hull of", 1e-2),
    ],
)
def test_a_mesh_that_touches_displaces_water(tmp_path, segments, rings, open_end, told, tolerance):
    ball(tmp_path, segments, rings, open_end)
    made = swimmer_with_a_mesh(tmp_path)
    assert any(told in text for text in (*made.notes.understood, *made.notes.assumed))
    hull = load_vehicle(str(made.file)).hull
    vertices, faces = mesh_of(hull.shapes["egg"])  # refuses what is open
    assert len(faces) <= 2000
    found = measure_solid(vertices, faces)
    assert found.amount == pytest.approx(4 / 3 * pi * 0.1**3, rel=tolerance)
    np.testing.assert_allclose(found.center, (0.5, 1, 1.5), atol=2e-3)
    assert made.content["hull"]["shapes"]["egg"]["position"] == [0, 0, 0.1]


def test_a_mesh_that_encloses_nothing_is_told(tmp_path):
    (tmp_path / "ball.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")
    made = swimmer_with_a_mesh(tmp_path)
    assert any("egg displaces no water: the mesh is flat" in text for text in made.notes.ignored)
    assert set(made.content["hull"]["shapes"]) == {"hull"}


def test_volume_and_hydrodynamics_of_uuv_simulator(tmp_path):
    """Along axes ahead, right and down there; only links that the plugin names float."""
    begin = models.SWIMMER.index('<plugin filename="gz-sim-thruster')
    added = np.diag([5.0, 6, 7, 1, 2, 3])
    added[0, 4] = added[4, 0] = -0.5
    rows = " ".join(f"{x:g}" for x in added.ravel())
    plugins = f"""<plugin name="p" filename="libuuv_thruster_ros_plugin.so"><jointName>prop_joint</jointName>
      <linkName>prop</linkName><thrusterID>0</thrusterID><dynamics><timeConstant>0.3</timeConstant></dynamics>
      <conversion><type>Basic</type><rotorConstant>0.002</rotorConstant></conversion></plugin>
      <plugin name="u" filename="libuuv_underwater_object_ros_plugin.so"><link name="base_link"><volume>0.008</volume>
      <box><length>4</length><width>2</width><height>1</height></box><center_of_buoyancy>0 0 0.1</center_of_buoyancy>
      <hydrodynamic_model><added_mass>{rows}</added_mass><linear_damping>-1 -2 -3 -4 -5 -6</linear_damping>
      <quadratic_damping>-7 0 0 0 0 0</quadratic_damping></hydrodynamic_model></link></plugin></model></sdf>"""
    made = imported(tmp_path, models.SWIMMER[:begin] + plugins)
    hull = made.content["hull"]
    (box,) = hull["shapes"].values()
    np.testing.assert_allclose(box["size"], (0.4, 0.2, 0.1))
    assert box["position"] == [0, 0, 0.1]
    assert (hull["damping"], hull["quadratic_damping"]) == ([1, 2, 3, 4, 5, 6], [7, 0, 0, 0, 0, 0])
    assert np.array(hull["added_mass"])[:3, :3] == pytest.approx(np.diag([5, 6, 7]))
    rotor = made.content["rotor"] | made.content["rotors"]["prop"]
    assert rotor["thrust_constant"] == pytest.approx(0.002)
    assert rotor["time_constant_up"] == 0.3
    assert any("no limit in the file: 40 N each" in text for text in made.notes.assumed)


def test_hulls_of_vrx_are_cylinders(tmp_path):
    surface = """<plugin name="vrx::Surface" filename="libSurface.so"><link_name>base_link</link_name>
      <hull_length>2</hull_length><hull_radius>0.1</hull_radius>
      <points><point>0.5 {y} 0</point><point>-0.7 {y} 0</point></points></plugin>"""
    pair = surface.format(y=0.5) + surface.format(y=-0.5)
    made = imported(tmp_path, models.SWIMMER.replace("</model>", pair + "</model>"))
    shapes = list(made.content["hull"]["shapes"].values())
    assert [shape["kind"] for shape in shapes] == ["cylinder", "cylinder"]
    np.testing.assert_allclose([shape["position"] for shape in shapes], [(-0.1, 0.5, 0.1), (-0.1, -0.5, 0.1)])
    assert shapes[0]["pitch"] == pytest.approx(pi / 2)


def test_a_propeller_that_turns_the_other_way_pushes_ahead_too(tmp_path):
    text = models.SWIMMER.replace("<propeller_diam", "<thrust_coefficient>-0.02</thrust_coefficient><propeller_diam")
    made = imported(tmp_path, text)
    rotor = made.content["rotor"] | made.content["rotors"]["prop"]
    assert rotor["turns"] == "cw"
    assert rotor["thrust_constant"] == pytest.approx(0.02 * 1000 * 0.1**4)


def test_a_surface_that_faces_nowhere_is_left_out(tmp_path):
    made = imported(tmp_path, models.PLANE.replace("<upward>0 0 1</upward>", "<upward>0 0 0</upward>", 1))
    assert any("faces nowhere" in text for text in made.notes.ignored)


def test_ardupilots_plugin_says_where_ahead_is(tmp_path):
    """A flying wing whose nose points to −y, with a propeller whose shaft is no z axis."""
    blade = """<plugin filename="gz-sim-lift-drag-system" name="gz::sim::systems::LiftDrag"><a0>0.3</a0><cla>4</cla>
      <cda>0.1</cda><area>0.02</area><air_density>1.2</air_density><cp>0 0 {z}</cp><forward>{f} 0 0</forward>
      <upward>0 -1 0</upward><link_name>propeller</link_name></plugin>"""
    made = imported(
        tmp_path,
        f"""<sdf version="1.9"><model name="wing"><link name="wing"><inertial><mass>1</mass>
      <inertia><ixx>0.1</ixx><iyy>0.2</iyy><izz>0.3</izz></inertia></inertial></link>
      <link name="propeller"><pose>0 0.1 0 0 1.5707963267948966 0</pose><inertial><mass>0.01</mass>
      <inertia><ixx>1e-5</ixx><iyy>2e-5</iyy><izz>1e-5</izz></inertia></inertial></link>
      <joint name="shaft" type="revolute"><parent>wing</parent><child>propeller</child>
      <axis><xyz>0 -1 0</xyz></axis></joint>{blade.format(z=0.1, f=-1)}{blade.format(z=-0.1, f=1)}
      <plugin name="ArduPilotPlugin" filename="ArduPilotPlugin">
      <modelXYZToAirplaneXForwardZDown degrees="true">0 0 0 180 0 -90</modelXYZToAirplaneXForwardZDown>
      <control channel="2"><jointName>shaft</jointName><multiplier>800</multiplier><type>VELOCITY</type></control>
      </plugin></model></sdf>""",
    )
    rotor = made.content["rotor"] | made.content["rotors"]["propeller"]
    np.testing.assert_allclose(rotor["position"], (-0.1, 0, 0), atol=1e-12)
    np.testing.assert_allclose(rotor["axis"], (1, 0, 0), atol=1e-12)
    assert rotor["thrust_constant"] == pytest.approx(2 * 0.5 * 1.2 * 0.1**2 * 0.02 * 4 * 0.3)
    assert made.content["inertia"]["xx"] == pytest.approx(0.2, rel=1e-2)  # about the wing's y
