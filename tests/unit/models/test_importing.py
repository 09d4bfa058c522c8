"""Models of others become vehicles: what is in the file that is written, and that it flies."""

from __future__ import annotations

from math import cos, pi, sin

import mujoco
import numpy as np
import pytest
from tests import models

import airloom as al
from airloom.models.dae import dae_vertices
from airloom.models.description import ModelError, Pose
from airloom.models.importing import import_model, read_description
from airloom.models.lumping import lumped
from airloom.models.meshes import load
from airloom.scenario.loader import load_vehicle
from airloom.studio.scene.shapes import vehicle_mesh


def hovers(made):
    sim = al.Simulation.load(str(made.scenario), overrides={"duration": 6.0})
    (flown,) = sim.vehicles.values()
    sim.run()
    return np.abs(flown.position - [0, 0, 2]).max() < 0.1


def test_a_model_of_many_files_hovers(tmp_path):
    """Included and merged by a bare name, with a nested model, an unbound prefix, and a mesh that is missing."""
    made = import_model(models.drone(tmp_path), tmp_path / "out")
    vehicle = load_vehicle(str(made.file))
    assert vehicle.mass == pytest.approx(1.5 + 4 * 0.01 + 0.1)
    assert [rotor.turns for rotor in vehicle.rotors.values()] == ["ccw", "ccw", "cw", "cw"]
    first = vehicle.rotors["rotor_0"]
    assert first.position == (0.2, -0.2, 0.05)
    assert (first.thrust_constant, first.moment_constant, first.max_speed) == (9e-6, 0.015, 900.0)
    assert (first.drag_coefficient, first.rolling_moment_coefficient, first.radius) == (7e-5, 2e-6, 0.12)
    assert (first.time_constant_up, first.time_constant_down) == (0.02, 0.03)
    assert vehicle.body.size == pytest.approx((0.3, 0.3, 0.08))
    assert (tmp_path / "out/meshes/hull.stl").exists()
    assert vehicle.surfaces["base_link"].area == 0.3
    assert hovers(made)


def test_the_report_tells_what_was_understood_ignored_and_assumed(tmp_path):
    notes = import_model(models.drone(tmp_path), tmp_path / "out").notes
    assert "2 links lumped into one body, 4 that spin" in notes.understood
    assert any("gone.dae is not there" in text for text in notes.ignored)
    assert "the plugin unheard_of" in notes.ignored
    assert "the sensor nose of the kind telepathy" in notes.ignored
    assert any("30 Hz" in text and "25 Hz" in text for text in notes.assumed)
    assert any("taken as gauss" in text for text in notes.assumed)
    report = (tmp_path / "out/import.md").read_text()
    assert all(text in report for text in notes.understood + notes.ignored + notes.assumed)


def test_sensors_have_their_places_and_noise(tmp_path):
    """The camera looks down by 0.5 rad, from a link that is in a model in a model."""
    sensors = import_model(models.drone(tmp_path), tmp_path / "out").content["sensors"]
    gyroscope = sensors["imu_sensor"]["gyroscope"]
    assert gyroscope["noise"] == [0.001, 0.002, 0.0]
    assert gyroscope["random_walk"] == [2e-5, 0.0, 0.0]
    assert gyroscope["correlation_time"] == 900
    assert sensors["mag"]["field_errors"]["noise"] == [1e-8, 0.0, 0.0]
    camera = sensors["front"]
    mount = Pose.of((0.1, 0, -0.02), (0, 0.5, 0)) @ Pose.of((0.02, 0, 0.01))
    assert camera["position"] == pytest.approx(mount.position)
    assert camera["pitch"] == pytest.approx(0.5)
    assert (camera["width"], camera["height"], camera["max_distance"]) == (320, 240, 12)
    assert sensors["down"]["kind"] == "rangefinder"
    turned = Pose.of(euler=[sensors["down"].get(key, 0.0) for key in ("roll", "pitch", "yaw")]).rotation
    np.testing.assert_allclose(turned[:, 0], (cos(0.5 + pi / 2), 0, -sin(0.5 + pi / 2)), atol=1e-6)


def test_a_xacro_with_arguments_hovers(tmp_path):
    """Its root link has no mass, its inertia is one that no body has: it is lowered, and said."""
    made = import_model(models.description(tmp_path), tmp_path / "out", {"name": "plus", "tall": "true"})
    assert made.content["mass"] == pytest.approx(1.24)
    assert made.content["body"]["size"] == pytest.approx([0.2, 0.2, 0.1])
    inertia = made.content["inertia"]
    assert inertia["zz"] == pytest.approx(inertia["xx"] + inertia["yy"])
    assert any("no rigid body has the principal moments" in text for text in made.notes.assumed)
    assert hovers(made)


def test_numbers_of_gym_pybullet_drones_are_per_rpm(tmp_path):
    (tmp_path / "tiny.urdf").write_text(models.GYM)
    made = import_model(tmp_path / "tiny.urdf", tmp_path / "out")
    rotor = made.content["rotor"]
    assert rotor["thrust_constant"] == pytest.approx(3.16e-10 * (60 / (2 * pi)) ** 2)
    assert rotor["moment_constant"] == pytest.approx(7.94e-12 / 3.16e-10)
    assert 4 * rotor["thrust_constant"] * rotor["max_speed"] ** 2 == pytest.approx(2.25 * 0.027 * 9.80665)
    assert hovers(made)


def test_a_body_that_is_pushed_as_a_whole_gets_rotors(tmp_path):
    (tmp_path / "pushed.xml").write_text(models.WHOLE)
    made = import_model(tmp_path / "pushed.xml", tmp_path / "out")
    assert any("four were made up" in text for text in made.notes.assumed)
    assert made.content["sensors"]["imu"]["position"] == [0, 0, 0.01]
    assert hovers(made)


def test_blades_of_ardupilot_are_rotors(tmp_path):
    """k = 2 · ½ ρ r² A c_l with c_l = 4.25 · 0.3; torque per thrust = r c_d / c_l."""
    blade = "".join(
        f"""<plugin filename="gz-sim-lift-drag-system" name="gz::sim::systems::LiftDrag"><a0>0.3</a0><cla>4.25</cla>
        <cda>0.1</cda><area>0.002</area><air_density>1.2041</air_density><cp>{side}0.084 0 0</cp>
        <link_name>rotor_{n}</link_name></plugin>"""
        for n in range(4)
        for side in ("", "-")
    )
    speeds = (838, 838, -838, -838)
    controls = "".join(
        f'<control channel="{n}"><jointName>rotor_{n}_joint</jointName><type>VELOCITY</type>'
        f"<multiplier>{speed}</multiplier></control>"
        for n, speed in enumerate(speeds)
    )
    plugin = f'<plugin filename="ArduPilotPlugin" name="ArduPilotPlugin">{controls}</plugin>'
    models.write(tmp_path, iris=models.BASE.replace("</model>", blade + plugin + "</model>"))
    made = import_model(tmp_path / "iris", tmp_path / "out")
    k, cl, cd, r = 1.2041 * 0.084**2 * 0.002 * 4.25 * 0.3, 4.25 * 0.3, 0.1 * 0.3, 0.084
    assert made.content["rotor"]["thrust_constant"] == pytest.approx(k)
    assert made.content["rotor"]["moment_constant"] == pytest.approx(r * cd / cl)
    assert [rotor["turns"] for rotor in made.content["rotors"].values()] == ["ccw", "ccw", "cw", "cw"]


def test_thrusters_are_rotors(tmp_path):
    """They push k ρ D⁴ ω²; nothing in the air flies what swims."""
    thrusters = "".join(
        f"""<plugin filename="gz-sim-thruster-system" name="Thruster"><joint_name>rotor_{n}_joint</joint_name>
        <thrust_coefficient>0.004</thrust_coefficient><fluid_density>1000</fluid_density>
        <propeller_diameter>0.1</propeller_diameter><max_thrust_cmd>40</max_thrust_cmd></plugin>"""
        for n in range(4)
    )
    water = """<plugin filename="gz-sim-hydrodynamics-system" name="gz::sim::systems::Hydrodynamics">
      <link_name>base_link</link_name><xU>-13.7</xU></plugin>"""
    models.write(tmp_path, fish=models.BASE.replace("</model>", thrusters + water + "</model>"))
    made = import_model(tmp_path / "fish", tmp_path / "out")
    rotor = made.content["rotor"]
    assert rotor["thrust_constant"] == pytest.approx(0.004 * 1000 * 0.1**4)
    assert rotor["thrust_constant"] * rotor["max_speed"] ** 2 == pytest.approx(40)
    assert made.content["controller"] is None
    assert made.content["hull"]["damping"][0] == 13.7
    assert load_vehicle(str(made.file)).controller is None


def test_a_visual_that_is_gone_is_told(tmp_path):
    made = import_model(models.drone(tmp_path), tmp_path / "out")
    (tmp_path / "out/meshes/hull.stl").unlink()
    with pytest.raises(al.ScenarioError, match=r"visuals\.body\.file: there is no file .*hull\.stl"):
        load_vehicle(str(made.file))


def test_links_are_lumped_as_mujoco_does(tmp_path):
    """A tree of three turned links on fixed joints; MuJoCo composes the inertia of the same tree."""
    (tmp_path / "tree.urdf").write_text("""<robot name="tree">
      <link name="a"><inertial><origin xyz="0.1 0 0" rpy="0.3 0 0"/><mass value="1"/>
        <inertia ixx="0.01" iyy="0.02" izz="0.025" ixy="0.001" ixz="0" iyz="-0.002"/></inertial></link>
      <link name="b"><inertial><origin xyz="0 0.05 0"/><mass value="0.25"/>
        <inertia ixx="1e-3" iyy="2e-3" izz="2.5e-3" ixy="0" ixz="0" iyz="0"/></inertial></link>
      <link name="c"><inertial><origin rpy="0 0 1"/><mass value="0.5"/>
        <inertia ixx="3e-3" iyy="2e-3" izz="2.5e-3" ixy="0" ixz="0" iyz="0"/></inertial></link>
      <joint name="ab" type="fixed"><origin xyz="0.3 0 0.1" rpy="0.2 -0.4 1.1"/>
        <parent link="a"/><child link="b"/></joint>
      <joint name="bc" type="fixed"><origin xyz="0 -0.2 0" rpy="-0.7 0.1 0"/><parent link="b"/><child link="c"/></joint>
    </robot>""")
    description = read_description(tmp_path / "tree.urdf")
    ours = lumped(description, ()).inertial
    spec = mujoco.MjSpec()
    for link in description.links.values():
        body = spec.worldbody.add_body(name=link.name, pos=link.pose.position)
        mujoco.mju_mat2Quat(body.quat, link.pose.rotation.ravel())
        body.explicitinertial, body.mass, body.ipos = True, link.inertial.mass, link.inertial.center
        body.fullinertia = link.inertial.inertia[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]]
    model = spec.compile()
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    turns = [data.ximat[k].reshape(3, 3) for k in (1, 2, 3)]
    center = sum(model.body_mass[k] * data.xipos[k] for k in (1, 2, 3)) / 1.75
    whole = sum(
        turn @ np.diag(model.body_inertia[k]) @ turn.T
        + model.body_mass[k] * ((d := data.xipos[k] - center) @ d * np.eye(3) - np.outer(d, d))
        for k, turn in zip((1, 2, 3), turns, strict=True)
    )
    assert ours.mass == pytest.approx(1.75)
    np.testing.assert_allclose(ours.center, center, atol=1e-12)
    np.testing.assert_allclose(ours.inertia, whole, atol=1e-9)


def test_a_link_is_weighed_by_its_collisions(tmp_path):
    """SDF 1.11: a box of water, a ball twice as dense, a capsule, and a mesh; MuJoCo weighs the same shapes."""
    shapes = {
        "box": ("<box><size>0.2 0.3 0.4</size></box>", 1000), "ball": ("<sphere><radius>0.1</radius></sphere>", 2000),
        "capsule": ("<capsule><radius>0.05</radius><length>0.3</length></capsule>", 500),
        "rod": ("<cylinder><radius>0.05</radius><length>0.3</length></cylinder>", 700),
        "egg": ("<ellipsoid><radii>0.1 0.2 0.05</radii></ellipsoid>", 1000),
    }  # fmt: skip
    text = "".join(
        f"""<collision name="{name}"><pose>{k} 0 0.1 0.2 0.3 0</pose><density>{density}</density>
        <geometry>{shape}</geometry></collision>"""
        for k, (name, (shape, density)) in enumerate(shapes.items())
    )
    (tmp_path / "m.sdf").write_text(
        f'<sdf version="1.11"><model name="m"><link name="a"><inertial auto="true"/>{text}</link></model></sdf>'
    )
    ours = read_description(tmp_path / "m.sdf").links["a"].inertial
    geom = mujoco.mjtGeom
    kinds = (
        (geom.mjGEOM_BOX, (0.1, 0.15, 0.2)), (geom.mjGEOM_SPHERE, (0.1, 0, 0)), (geom.mjGEOM_CAPSULE, (0.05, 0.15, 0)),
        (geom.mjGEOM_CYLINDER, (0.05, 0.15, 0)), (geom.mjGEOM_ELLIPSOID, (0.1, 0.2, 0.05)),
    )  # fmt: skip
    spec = mujoco.MjSpec()
    body = spec.worldbody.add_body()
    for k, ((kind, size), (_, density)) in enumerate(zip(kinds, shapes.values(), strict=True)):
        added = body.add_geom(type=kind, size=size, pos=(k, 0, 0.1), density=density)
        mujoco.mju_mat2Quat(added.quat, Pose.of(euler=(0.2, 0.3, 0)).rotation.ravel())
    model = spec.compile()
    assert ours.mass == pytest.approx(model.body_mass[1])
    np.testing.assert_allclose(ours.center, model.body_ipos[1], atol=1e-12)
    np.testing.assert_allclose(np.linalg.eigvalsh(ours.inertia), np.sort(model.body_inertia[1]), rtol=1e-9)


def test_axes_are_the_models_until_sdf_1_4(tmp_path):
    turned = """<sdf version="{version}"><model name="m"><link name="a"/>
      <link name="b"><pose>0 0 0 1.5707963 0 0</pose></link><joint name="j" type="revolute">
      <parent>a</parent><child>b</child><axis><xyz>0 0 1</xyz></axis></joint></model></sdf>"""
    for version, axis in (("1.4", (0, 0, 1)), ("1.6", (0, -1, 0))):
        (tmp_path / "m.sdf").write_text(turned.format(version=version))
        found = read_description(tmp_path / "m.sdf").joints["j"].axis
        np.testing.assert_allclose(found, axis, atol=1e-7)


def test_a_placement_frame_and_frames_in_frames(tmp_path):
    """The nested model is put by its handle, which is 1 m above its origin and turned."""
    (tmp_path / "m.sdf").write_text("""<sdf version="1.9"><model name="m"><link name="a"/>
      <frame name="shelf" attached_to="a"><pose degrees="true">1 0 0 0 0 90</pose></frame>
      <frame name="spot"><pose relative_to="shelf">0 0 0.5 0 0 0</pose></frame>
      <model name="cup" placement_frame="handle"><pose relative_to="spot">0.2 0 0 0 0 0</pose>
        <link name="b"><pose rotation_format="quat_xyzw">0 0 1  0 0 0.7071067811865476 0.7071067811865476</pose></link>
        <frame name="handle" attached_to="b"/></model></model></sdf>""")
    links = read_description(tmp_path / "m.sdf").links
    np.testing.assert_allclose(links["cup::b"].pose.position, (1, 0.2, 0.5), atol=1e-12)
    np.testing.assert_allclose(links["cup::b"].pose.rotation, [[0, -1, 0], [1, 0, 0], [0, 0, 1]], atol=1e-12)


def test_a_world(tmp_path):
    models.write(tmp_path / "models", hut=models.HUT)
    models.brick(tmp_path / "models/hut/meshes/hull.stl")
    (tmp_path / "worlds").mkdir()
    (tmp_path / "worlds/yard.sdf").write_text(models.WORLD)
    made = import_model(tmp_path / "worlds/yard.sdf", tmp_path / "out")
    sim = al.Simulation.load(str(made.scenario), overrides={"duration": 0.01})
    sim.run()
    world = sim.scenario.world
    assert world.wind == (3, 1, 0)
    assert (world.origin.latitude, world.origin.altitude) == (47.4, 500)
    assert (world.light.sun.azimuth, world.light.sun.elevation) == (90, 45)
    assert world.obstacles["wall"].yaw == 0.5
    assert (world.objects["ramp"].collision, world.objects["hut"].collision) == ("hull", "boxes")
    assert world.objects["hut"].scale == (0.02, 0.02, 0.02)
    assert any("crate, which can move and is no vehicle" in text for text in made.notes.ignored)
    assert any("fuel.example" in text for text in made.notes.ignored)


def test_a_world_with_its_vehicles(tmp_path):
    """Two of one model: each is a vehicle of its own where the world has it, and rises from there."""
    models.drone(tmp_path / "models")
    (tmp_path / "field.sdf").write_text("""<sdf version="1.9"><world name="field">
      <include><uri>model://drone</uri><name>first</name><pose>1 2 0.1 0 0 0.5</pose></include>
      <include><uri>model://drone</uri><name>second</name><pose>-3 0 0.1 0 0 0</pose></include>
      <model name="ball"><pose>0 5 1 0 0 0</pose><link name="l"><inertial><mass>1</mass></inertial></link></model>
      </world></sdf>""")
    made = import_model(tmp_path / "field.sdf", tmp_path / "out", allowed=[tmp_path / "models"])
    sim = al.Simulation.load(str(made.scenario))
    assert list(sim.vehicles) == ["first", "second"]
    np.testing.assert_allclose(sim.vehicles["first"].position[:2], (1, 2), atol=1e-6)
    assert sim.vehicles["first"].euler[2] == pytest.approx(0.5, abs=1e-6)
    sim.run(until=10.0)
    for name, x, y in (("first", 1, 2), ("second", -3, 0)):
        np.testing.assert_allclose(sim.vehicles[name].position, (x, y, 2.1), atol=0.3)
    assert any("ball, which can move and is no vehicle" in text for text in made.notes.ignored)
    assert any(text.startswith("the vehicle first") and "4 rotors" in text for text in made.notes.understood)


def test_a_sea_bed_is_not_hidden_by_ground_and_its_surface_is_not_touched(tmp_path):
    """Of a link with two meshes only the one that a collision names, too, is touched."""
    shape = "<geometry><mesh><uri>%s.stl</uri><scale>0.02 0.02 0.02</scale></mesh></geometry>"
    bed, surface = shape % "bed", shape % "surface"
    models.brick(tmp_path / "bed.stl")
    models.brick(tmp_path / "surface.stl")
    (tmp_path / "lake.sdf").write_text(f"""<sdf version="1.6"><world name="lake"><model name="lake">
      <static>1</static><pose>0 0 -20 0 0 0</pose><link name="l"><collision name="c">{bed}</collision>
      <visual name="a">{bed}</visual><visual name="b"><pose>0 0 20 0 0 0</pose>{surface}</visual></link></model>
      </world></sdf>""")
    made = import_model(tmp_path / "lake.sdf", tmp_path / "out")
    sim = al.Simulation.load(str(made.scenario))
    assert [sim.scenario.world.objects[name].collision for name in ("lake", "lake_2")] == ["boxes", "none"]
    assert -24 < sim.scenario.world.terrain.height < -20
    assert any("no ground of its own" in text for text in made.notes.assumed)
    assert sim.vehicles["drone"].position[2] > -20, "it stands on the bed, not below it"


def test_heights_of_a_picture(tmp_path):
    """White is high; the upper edge of the picture is the north."""
    from PIL import Image

    picture = np.zeros((9, 9), dtype=np.uint8)
    picture[0] = 255
    Image.fromarray(picture).save(tmp_path / "hill.png")
    (tmp_path / "hill.sdf").write_text("""<sdf version="1.6"><world name="hill"><model name="g">
      <static>1</static><link name="l"><collision name="c"><geometry>
      <heightmap><uri>hill.png</uri><size>80 80 12</size><pos>0 0 1</pos></heightmap></geometry>
      </collision></link></model></world></sdf>""")
    made = import_model(tmp_path / "hill.sdf", tmp_path / "out")
    heights = np.load(tmp_path / "out/heights.npy")
    assert (heights[-1] == 13).all()
    assert (heights[:-1] == 1).all()
    assert made.content["terrain"]["size"] == [80, 80]


def test_the_studio_draws_the_meshes_of_a_model(tmp_path):
    """In millimetres in the file, in metres in the studio; one that is no mesh leaves the plain shape."""
    made = import_model(models.drone(tmp_path), tmp_path / "out")
    drawn = vehicle_mesh(load_vehicle(str(made.file)), (1, 2, 3))
    np.testing.assert_allclose(drawn.extent, [[-0.15, -0.15, -0.04], [0.15, 0.15, 0.04]], atol=1e-6)
    (tmp_path / "out/meshes/hull.stl").write_bytes(b"garbage")
    plain = vehicle_mesh(load_vehicle(str(made.file)), (1, 2, 3))
    assert len(plain.faces) > 12


def bounds_of(mesh):
    corners = mesh.vertices[mesh.faces].reshape(-1, 3)
    return [corners.min(axis=0), corners.max(axis=0)]


def test_the_size_of_a_dae_is_known_without_trimesh(tmp_path):
    (tmp_path / "wedges.dae").write_text(models.DAE)
    vertices = dae_vertices(tmp_path / "wedges.dae")
    low, high = vertices.min(axis=0), vertices.max(axis=0)
    np.testing.assert_allclose([low, high], bounds_of(load(tmp_path / "wedges.dae")), atol=1e-9)
    np.testing.assert_allclose([low, high], [[0, -7, 0], [10, 2, 4]], atol=1e-9)
    for wrong in ("2 0 0  0 3 0", "#wedge", "0 2 1 0 1 3", "</COLLADA>"):
        (tmp_path / "wrong.dae").write_text(models.DAE.replace(wrong, "oops"))
        assert dae_vertices(tmp_path / "wrong.dae") is None


def test_a_mesh_too_large_for_an_object_is_left_out_and_told(tmp_path):
    """The world that was made must run."""
    models.brick(tmp_path / "field.stl", (20_000.0, 20_000.0, 1.0))
    (tmp_path / "w.sdf").write_text("""<sdf version="1.9"><world name="w"><model name="field"><static>true</static>
      <link name="l"><visual name="v"><geometry><mesh><uri>field.stl</uri></mesh></geometry></visual></link></model>
      </world></sdf>""")
    made = import_model(tmp_path / "w.sdf", tmp_path / "out")
    assert any("field.stl of field: it is 2e+04 m large" in text for text in made.notes.ignored)
    al.Simulation.load(str(made.scenario), overrides={"engine": "batch"})


def test_edits_of_an_imported_vehicle_are_not_lost(tmp_path):
    model, out = models.drone(tmp_path), tmp_path / "out"
    made = import_model(model, out)
    import_model(model, out)
    edited = made.file.read_text().replace("mass: 1.64", "mass: 1.7")
    made.file.write_text(edited)
    with pytest.raises(ModelError, match=r"out was edited since it was imported: .* --out, .* --replace"):
        import_model(model, out)
    assert made.file.read_text() == edited
    import_model(model, out, replace=True)
    assert made.file.read_text() != edited
    (out / "mine.yaml").write_text("name: mine\n")
    with pytest.raises(ModelError, match="edited"):
        import_model(model, out)
