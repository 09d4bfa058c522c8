# ruff: noqa: E501  XML of others is wide
"""Models that are wrong or mean harm: one clear message, nothing left behind, nothing run, nothing read that is not theirs."""

from __future__ import annotations

from time import monotonic

import pytest
from tests import models

from airloom.models.description import ModelError
from airloom.models.importing import import_model

SDF = '<sdf version="1.9">{}</sdf>'
LINK = '<link name="a"><inertial><mass>{mass}</mass><inertia><ixx>{ixx}</ixx><iyy>1</iyy><izz>1</izz></inertia></inertial></link>'
LOOP = """<robot name="r"><link name="a"/><link name="b"/><joint name="x" type="fixed"><parent link="a"/><child link="b"/></joint>
  <joint name="y" type="fixed"><parent link="b"/><child link="a"/></joint></robot>"""
KEPT = SDF.format(
    f'<model name="m">{LINK.format(mass=1, ixx=1)}<a:vehicle xmlns:a="urn:airloom">KEPT</a:vehicle></model>'
)
BOMB = """<?xml version="1.0"?><!DOCTYPE sdf [<!ENTITY a "aaaaaaaaaa">"""
BOMB += "".join(f'<!ENTITY {chr(98 + k)} "{f"&{chr(97 + k)};" * 10}">' for k in range(12))
BOMB += "]>" + SDF.format('<model name="m"><link name="&m;"/></model>')


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "is no XML|is empty"),
        ("not XML at all", "no well-formed XML"),
        (SDF.format('<model name="m"><link name="a"></model>'), "line 1: is no well-formed XML"),
        ("<html/>", "begins with <html>"),
        (SDF.format(""), "has 0 models"),
        (SDF.format("<include><uri>https://somewhere.example/1.0/me/models/atmos</uri></include>"), "what it includes, 'https://somewhere.example/1.0/me/models/atmos', is on the network"),
        (SDF.format("<include><uri>model://atmos_base</uri></include>"), "what it includes, 'model://atmos_base', is not found beside"),
        ('<sdf version="7.3"><model name="m"/></sdf>', "up to 1.11"),
        ('<sdf version="new"><model name="m"/></sdf>', "expected 1.4 … 1.11"),
        (SDF.format('<model name="m"/>'), "has no links"),
        (SDF.format('<model name="m">' + LINK.format(mass=1, ixx=1) + "</model>"), "no rotors were found, and nothing that lifts or floats"),
        (KEPT.replace("KEPT", "no JSON"), "what Airloom kept here is no JSON"),
        (KEPT.replace("KEPT", "[1]"), "expected a mapping of a vehicle's keys"),
        (KEPT.replace("KEPT", "[" * 100_000), "is no JSON"),
        (KEPT.replace("KEPT", '{"autopilot": {"kind": "px4"}}'), "'autopilot' is nothing that a model may say"),
        (KEPT.replace("KEPT", '{"controller": {"kind": "evil.py:Evil"}}'), "'evil.py:Evil' is no kind that Airloom brings along"),
        (KEPT.replace("KEPT", '{"surfaces": {"w": {"polar": "/etc/hostname"}}}'), "may not name files here"),
        (KEPT.replace("KEPT", '{"mass": -1}'), "mass would be -1"),
        (SDF.format('<model name="m">' + LINK.format(mass=-1, ixx=1) + "</model>"), "has a mass of -1 kg"),
        (SDF.format('<model name="m">' + LINK.format(mass=1, ixx=-1) + "</model>"), "none may be negative"),
        (SDF.format('<model name="m">' + LINK.format(mass="NaN", ixx=1) + "</model>"), "finite number"),
        (SDF.format('<model name="m">' + LINK.format(mass="much", ixx=1) + "</model>"), "got 'much'"),
        (SDF.format('<model name="m"><link name="a"/><link name="a"/></model>'), "two of the name 'a'"),
        (SDF.format('<model name="m"><link name="a"><pose>1 2</pose></link></model>'), "expected 6 finite numbers"),
        (SDF.format('<model name="m"><link name="a"><pose relative_to="b"/></link></model>'), "relative to 'b', and there is"),
        (
            SDF.format('<model name="m"><link name="a"><pose relative_to="b"/></link><link name="b"><pose relative_to="a"/></link></model>'),
            "in a circle: a → b → a",
        ),
        (
            SDF.format('<model name="m"><link name="a"/><joint name="j" type="fixed"><parent>a</parent><child>z</child></joint></model>'),
            "there is no link 'z'|and there is none",
        ),
        (SDF.format('<model name="m"><include><uri>model://nowhere</uri></include></model>'), "--path FOLDER"),
        (SDF.format('<model name="m"><include/></model>'), "needs a <uri>"),
        (LOOP, "in a circle"),
        ("<robot name='r'><link name='a'/><link name='b'/></robot>", "must be one tree"),
        ("<robot name='r'><link name='a'/><joint name='j'><parent link='a'/><child link='q'/></joint></robot>", "no such link"),
        ("<robot name='r'/>", "has no links"),
        ("<mujoco><worldbody><body/></worldbody></mujoco>", "MuJoCo does not read it|no body of it is free"),
        ("<mujoco><asset><mesh file='gone.obj'/></asset></mujoco>", "'gone.obj' is not there"),
        ("<mujoco><include file='model.sdf'/></mujoco>", "in a circle"),
        ("<mujoco><include file='/etc/hostname'/></mujoco>", "outside of"),
        ("<mujoco><worldbody><body pos='0 nan 0'/></worldbody></mujoco>", "must be finite numbers, got '0 nan 0'"),
        (models.WHOLE.replace('<geom type="box" size="0.05 0.05 0.015"/>', ""), "no shape that says where rotors could be"),
        (models.GYM.replace("0.027", "1e200"), "finite number"),
        (models.GYM.replace("0.027", "2e6"), "mass would be 2000000.0"),
        (models.GYM.replace("9.2e-7", "-1"), "drag_coefficient would be -1.0"),
        ("<robot name='r' xmlns:xacro='1 2'><xacro:arg name='a'/></robot>", "Invalid|has no links"),
    ],
)  # fmt: skip
def test_one_clear_message_and_nothing_left(tmp_path, text, told):
    file = tmp_path / "m/model.sdf"
    file.parent.mkdir()
    file.write_text(text)
    with pytest.raises(ModelError, match=told) as error:
        import_model(file, tmp_path / "out")
    assert "Traceback" not in str(error.value)
    assert [path.name for path in tmp_path.iterdir()] == ["m"]


def test_entities_are_not_expanded(tmp_path):
    (tmp_path / "m.sdf").write_text(BOMB)
    begin = monotonic()
    with pytest.raises(ModelError):
        import_model(tmp_path / "m.sdf", tmp_path / "out")
    assert monotonic() - begin < 60.0, "it would take days"


def test_no_file_is_read_by_an_entity(tmp_path):
    (tmp_path / "secret").write_text("hidden words")
    text = f'<!DOCTYPE sdf [<!ENTITY x SYSTEM "file://{tmp_path}/secret">]>' + SDF.format(
        '<model name="&x;"><link name="a"/></model>'
    )
    (tmp_path / "m.sdf").write_text(text)
    with pytest.raises(ModelError) as error:
        import_model(tmp_path / "m.sdf", tmp_path / "out")
    assert "hidden words" not in str(error.value)


def test_a_loop_of_includes(tmp_path):
    one, two = (
        SDF.format(f'<model name="m"><include><uri>model://{name}</uri></include></model>') for name in ("two", "one")
    )
    models.write(tmp_path, one=one, two=two)
    with pytest.raises(ModelError, match="includes go in a circle: one → two → one"):
        import_model(tmp_path / "one", tmp_path / "out")


@pytest.mark.parametrize(
    "uri", ["../../secret.stl", "file:///etc/hostname", "model://frame/../../secret.stl", "/etc/hostname"]
)
def test_a_file_outside_the_package_is_refused_unless_allowed(tmp_path, uri):
    file = models.drone(tmp_path / "library")
    models.brick(tmp_path / "secret.stl")
    base = tmp_path / "library/frame/model.sdf"
    base.write_text(base.read_text().replace("model://frame/meshes/hull.stl", uri))
    with pytest.raises(ModelError, match=r"is outside of .* --path"):
        import_model(file, tmp_path / "out")
    if "secret" in uri:
        made = import_model(file, tmp_path / "out", allowed=[tmp_path])
        assert (made.file.parent / "meshes/secret.stl").exists()


def test_a_link_out_of_the_package_is_seen_through(tmp_path):
    file = models.drone(tmp_path / "library")
    models.brick(tmp_path / "secret.stl")
    mesh = tmp_path / "library/frame/meshes/hull.stl"
    mesh.unlink()
    mesh.symlink_to(tmp_path / "secret.stl")
    with pytest.raises(ModelError, match="is outside of"):
        import_model(file, tmp_path / "out")


def test_a_huge_mesh_is_refused(tmp_path):
    file = models.drone(tmp_path)
    with (tmp_path / "frame/meshes/hull.stl").open("ab") as mesh:
        mesh.truncate(10**9)
    with pytest.raises(ModelError, match="larger than 60 MB; simplify the mesh"):
        import_model(file, tmp_path / "out")


def test_a_mesh_of_garbage_is_ignored_if_others_tell_the_size(tmp_path):
    file = models.drone(tmp_path)
    (tmp_path / "frame/meshes/hull.stl").write_bytes(bytes(range(256)) * 9)
    assert import_model(file, tmp_path / "out").content["body"]["size"] == pytest.approx([0.3, 0.3, 0.08])


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        (("<motorConstant>9e-06", "<motorConstant>-1"), "motorConstant must be greater than zero"),
        (("<motorConstant>9e-06", "<motorConstant>many"), "motorConstant must be a number"),
        (("<turningDirection>cw", "<turningDirection>up"), "turningDirection must be ccw or cw"),
        (("<linkName>rotor_1", "<linkName>rotor_9"), "no link 'rotor_9'"),
        (("<jointName>rotor_1_joint", "<jointName>axle"), "no joint 'axle'"),
        (("<motorNumber>1<", "<motorNumber>0<"), "two rotors have the number 0"),
    ],
)
def test_mistakes_in_motors(tmp_path, wrong, told):
    file = models.drone(tmp_path)
    file.write_text(file.read_text().replace(*wrong))
    with pytest.raises(ModelError, match=told):
        import_model(file, tmp_path / "out")


def test_a_folder_of_somebody_else_is_not_replaced(tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out/thesis.tex").write_text("years of work")
    with pytest.raises(ModelError, match="is no import folder"):
        import_model(models.drone(tmp_path / "library"), tmp_path / "out")


MANY = "".join(
    models.FLAP.format(name=f"e{k}", pose="0 0 0 0 0 0", axis="0 1 0")
    + models.wing(f"w{k}", "base_link", "0 0 0", 0.1, 0.0, joint=f"e{k}")
    + models.DRIVE.format(name=f"e{k}")
    for k in range(6)
)


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        (("<area>0.2", "<area>0"), "left_wing: area must be greater than zero, got 0"),
        (("<area>0.2", "<area>big"), "area must be a number, got 'big'"),
        (("<upward>0 0 1", "<upward>2 0 0"), "surfaces.left_wing: it faces nowhere: forward .* must be two directions"),
        (("<cp>0.01 0.5 0", "<cp>nan 1 2"), "cp must be three finite numbers, got 'nan 1 2'"),
        (("<link_name>base_link</link_name>", ""), "<link_name> is missing"),
        (("<link_name>base_link", "<link_name>nose"), "there is no link 'nose'"),
        (("<control_joint_name>left_joint", "<control_joint_name>axle"), "there is no joint 'axle'"),
        (("<a0>0.06", "<a0>0.5"), "it stalls at 0.34 rad before its lift is zero"),
        (("<alpha_stall>0.34", "<alpha_stall>0"), "alpha_stall must be greater than zero"),
        (("<cla>4.7", "<cla>1e300"), "surfaces.left_wing.lift would be 1e.300"),
        (("<p_gain>5", "<p_gain>0"), "p_gain must be greater than zero"),
        (("<mass>1.4", "<mass>-1"), "has a mass of -1 kg"),
    ],
)
def test_mistakes_in_wings(tmp_path, wrong, told):
    (tmp_path / "m.sdf").write_text(models.PLANE.replace(*wrong))
    with pytest.raises(ModelError, match=told):
        import_model(tmp_path / "m.sdf", tmp_path / "out")


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        (("<AR>6.5</AR>", ""), "AR is missing"),
        (("<eff>0.9", "<eff>9"), "aerodynamics.efficiency would be 9.0"),
        (("<name>left_joint", "<name>axle"), "there is no joint 'axle'"),
        (("<control_surface>", "<control_surface>x</control_surface><control_surface>"), "there is no joint ''"),
    ],
)
def test_mistakes_in_coefficients(tmp_path, wrong, told):
    (tmp_path / "m.sdf").write_text(models.advanced().replace(*wrong, 1))
    with pytest.raises(ModelError, match=told):
        import_model(tmp_path / "m.sdf", tmp_path / "out")


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        (("<xU>-5", "<xU>five"), "xU must be a number, got 'five'"),
        (("<yV>-6", "<yV>60"), "hull.damping.0 would be -5.0"),
        (('Hydrodynamics"><link_name>base_link', 'Hydrodynamics"><link_name>keel'), "there is no link 'keel'"),
        (("<joint_name>prop_joint", "<joint_name>axle"), "there is no joint 'axle'"),
        (("<propeller_diameter>0.1", "<propeller_diameter>-1"), "propeller_diameter must be greater than zero"),
        (("0.4 0.25 0.1", "0 0 0"), "a box needs size greater than zero"),
    ],
)
def test_mistakes_in_what_swims(tmp_path, wrong, told):
    (tmp_path / "m.sdf").write_text(models.SWIMMER.replace(*wrong))
    with pytest.raises(ModelError, match=told):
        import_model(tmp_path / "m.sdf", tmp_path / "out")


@pytest.mark.parametrize(
    ("water", "told"),
    [
        ("<uniform_fluid_density>-1</uniform_fluid_density>", "uniform_fluid_density must be greater than zero"),
        ("<graded_buoyancy><density_change>x</density_change></graded_buoyancy>", "above_depth is missing"),
        (
            "<graded_buoyancy><density_change><above_depth>-5</above_depth><density>1040</density></density_change>"
            "</graded_buoyancy>",
            "layers must be denser the deeper they lie",
        ),
    ],
)
def test_mistakes_in_the_water_of_a_world(tmp_path, water, told):
    (
        tmp_path / "m.sdf"
    ).write_text(f"""<sdf version="1.9"><world name="sea"><plugin name="Buoyancy" filename="buoyancy">
      {water}</plugin></world></sdf>""")
    with pytest.raises(ModelError, match=told):
        import_model(tmp_path / "m.sdf", tmp_path / "out")


def test_more_servos_than_a_vehicle_has_are_told(tmp_path):
    (tmp_path / "m.sdf").write_text(models.PLANE.replace("</model>", MANY + "</model>"))
    made = import_model(tmp_path / "m.sdf", tmp_path / "out")
    assert len(made.content["servos"]) == 8
    assert "the servo e5_joint: a vehicle has 8 at most" in made.notes.ignored


def test_a_model_without_mass(tmp_path):
    """Links without mass are usual; all of them without are no vehicle."""
    weightless = models.PLANE.replace("<mass>1.4", "<mass>0").replace("<mass>0.01", "<mass>0")
    (tmp_path / "m.sdf").write_text(weightless)
    with pytest.raises(ModelError, match="all links together have no mass"):
        import_model(tmp_path / "m.sdf", tmp_path / "out")


def test_a_loop_of_joints(tmp_path):
    """Back to the body it goes in a circle; a strut that closes a loop is told, and held."""
    joint = '<joint name="strut" type="fixed"><parent>rotor_0</parent><child>{}</child></joint></model>'
    file = models.drone(tmp_path)
    text = file.read_text()
    file.write_text(text.replace("</model>", joint.format("base_link")))
    with pytest.raises(ModelError, match="the joints go in a circle: base_link → rotor_0 → base_link"):
        import_model(file, tmp_path / "out")
    file.write_text(text.replace("</model>", joint.format("eye::lens")))
    notes = import_model(file, tmp_path / "out").notes
    assert any("eye::lens is held by two joints, a loop" in note for note in notes.assumed)
