# ruff: noqa: E501  XML of others is wide
"""Models for tests: small ones of our own with the traps that those of others have."""

from __future__ import annotations

from pathlib import Path

MOTOR = """
    <plugin filename="gz-sim-multicopter-motor-model-system" name="gz::sim::systems::MulticopterMotorModel">
      <jointName>rotor_{n}_joint</jointName><linkName>rotor_{n}</linkName><turningDirection>{turns}</turningDirection>
      <timeConstantUp>0.02</timeConstantUp><timeConstantDown>0.03</timeConstantDown>
      <maxRotVelocity>900</maxRotVelocity><motorConstant>9e-06</motorConstant><momentConstant>0.015</momentConstant>
      <motorNumber>{n}</motorNumber><rotorDragCoefficient>7e-05</rotorDragCoefficient>
      <rollingMomentCoefficient>2e-06</rollingMomentCoefficient><motorType>velocity</motorType>
    </plugin>"""
ROTOR = """
    <link name="rotor_{n}"><pose>{x} {y} 0.05 0 0 0</pose>
      <inertial><mass>0.01</mass><inertia><ixx>1e-7</ixx><iyy>3e-5</iyy><izz>3e-5</izz></inertia></inertial>
      <collision name="c"><geometry><cylinder><radius>0.12</radius><length>0.01</length></cylinder></geometry></collision>
    </link>
    <joint name="rotor_{n}_joint" type="revolute"><parent>base_link</parent><child>rotor_{n}</child>
      <axis><xyz>0 0 1</xyz><limit><lower>-1.79769e+308</lower><upper>inf</upper></limit></axis></joint>"""
PLACES = ((0.2, -0.2, "ccw"), (-0.2, 0.2, "ccw"), (0.2, 0.2, "cw"), (-0.2, -0.2, "cw"))

BASE = (
    """<?xml version="1.0"?>
<sdf version="1.9"><model name="frame"><pose>0 0 0.3 0 0 0</pose>
    <link name="base_link"><odd:velocity_decay/>
      <inertial><mass>1.5</mass><inertia><ixx>0.02</ixx><iyy>0.02</iyy><izz>0.035</izz></inertia></inertial>
      <collision name="body"><pose>0 0 0.01 0 0 0</pose><geometry><box><size>0.3 0.3 0.08</size></box></geometry></collision>
      <visual name="body"><geometry><mesh><uri>model://frame/meshes/hull.stl</uri><scale>0.001 0.001 0.001</scale></mesh>
        </geometry></visual>
      <visual name="gone"><geometry><mesh><uri>model://frame/meshes/gone.dae</uri></mesh></geometry></visual>
      <sensor name="imu_sensor" type="imu"><update_rate>250</update_rate><imu>
        <angular_velocity><x><noise type="gaussian"><stddev>0.001</stddev><dynamic_bias_stddev>2e-5</dynamic_bias_stddev>
          <dynamic_bias_correlation_time>900</dynamic_bias_correlation_time></noise></x>
          <y><noise type="gaussian"><stddev>0.002</stddev></noise></y></angular_velocity></imu></sensor>
      <sensor name="gps" type="navsat"><update_rate>30</update_rate></sensor>
      <sensor name="mag" type="magnetometer"><magnetometer><x><noise type="gaussian"><stddev>1e-4</stddev></noise></x>
        </magnetometer></sensor>
      <sensor name="nose" type="telepathy"/>
    </link>"""
    + "".join(ROTOR.format(n=n, x=x, y=y) for n, (x, y, _) in enumerate(PLACES))
    + "</model></sdf>"
)
DRONE = (
    """<?xml version="1.0"?>
<sdf version="1.9"><model name="drone">
    <include merge="true"><uri>frame</uri></include>
    <include><uri>model://camera</uri><name>eye</name><pose relative_to="base_link">0.1 0 -0.02 0 0.5 0</pose></include>
    <joint name="mount" type="fixed"><parent>base_link</parent><child>eye::lens</child></joint>
    <plugin filename="gz-sim-lift-drag-system" name="gz::sim::systems::LiftDrag"><link_name>base_link</link_name>
      <area>0.3</area><cp>0.1 0 0</cp></plugin>
    <plugin filename="libunheard_of.so" name="unheard_of"/>"""
    + "".join(MOTOR.format(n=n, turns=turns) for n, (_, _, turns) in enumerate(PLACES))
    + "</model></sdf>"
)
CAMERA = """<?xml version="1.0"?>
<sdf version="1.6"><model name="camera"><link name="lens"><pose>0 0 0.01 0 0 0</pose>
    <inertial><pose>0.01 0 0 0 0 0</pose><mass>0.1</mass>
      <inertia><ixx>1e-5</ixx><iyy>2e-5</iyy><izz>2e-5</izz></inertia></inertial>
    <sensor name="front" type="depth_camera"><pose>0.02 0 0 0 0 0</pose><update_rate>20</update_rate><camera>
      <horizontal_fov>1.2</horizontal_fov><image><width>320</width><height>240</height></image>
      <clip><near>0.2</near><far>12</far></clip></camera></sensor>
    <sensor name="down" type="gpu_lidar"><pose>0 0 0 0 1.5707963 0</pose><update_rate>50</update_rate><ray>
      <scan><horizontal><samples>1</samples></horizontal></scan><range><min>0.1</min><max>60</max></range></ray></sensor>
  </link></model></sdf>"""

XACRO = """<?xml version="1.0"?>
<robot name="$(arg name)" xmlns:xacro="http://ros.org/wiki/xacro">
  <xacro:arg name="tall" default="false"/>
  <xacro:property name="arm" value="0.17"/><xacro:property name="tall" value="$(arg tall)"/>
  <xacro:property name="mass_rotor" value="${5e-3 * 2}"/>
  <xacro:property name="rotor_inertia"><inertia ixx="1e-6" iyy="1e-6" izz="2e-6" ixy="0" ixz="0" iyz="0"/></xacro:property>
  <xacro:include filename="$(find my_description)/urdf/parts.xacro"/>
  <link name="$(arg name)/base_link"/>
  <link name="hull"><inertial><mass value="1.2"/><inertia ixx="0.012" iyy="0.012" izz="0.05" ixy="0" ixz="0" iyz="0"/>
    </inertial><collision><geometry><box size="0.2 0.2 ${0.1 if tall else 0.06}"/></geometry></collision></link>
  <joint name="hull_joint" type="fixed"><parent link="$(arg name)/base_link"/><child link="hull"/></joint>
  <xacro:rotor number="0" direction="cw"><origin xyz="${arm} 0 0.02"/><xacro:insert_block name="rotor_inertia"/></xacro:rotor>
  <xacro:rotor number="1" direction="ccw"><origin xyz="0 ${arm} 0.02"/><xacro:insert_block name="rotor_inertia"/></xacro:rotor>
  <xacro:rotor number="2" direction="cw"><origin xyz="-${arm} 0 0.02"/><xacro:insert_block name="rotor_inertia"/></xacro:rotor>
  <xacro:rotor number="3" direction="ccw"><origin xyz="0 -${arm} 0.02"/><xacro:insert_block name="rotor_inertia"/></xacro:rotor>
  <xacro:if value="$(arg tall)"><link name="mast"/>
    <joint name="mast_joint" type="revolute"><parent link="hull"/><child link="mast"/><limit lower="0" upper="0"/></joint>
  </xacro:if>
  <xacro:unless value="${arm &lt; 1 and not false}"><link name="never"/></xacro:unless>
</robot>"""
PARTS = """<?xml version="1.0"?>
<robot xmlns:xacro="http://ros.org/wiki/xacro">
  <xacro:macro name="rotor" params="number direction max:=838 *origin *inertia">
    <link name="rotor_${number}"><inertial><mass value="${mass_rotor}"/><xacro:insert_block name="inertia"/></inertial>
      <collision><geometry><cylinder radius="0.1" length="0.005"/></geometry></collision></link>
    <joint name="rotor_${number}_joint" type="continuous"><xacro:insert_block name="origin"/><axis xyz="0 0 1"/>
      <parent link="$(arg name)/base_link"/><child link="rotor_${number}"/></joint>
    <gazebo><plugin name="motor_${number}" filename="librotors_gazebo_motor_model.so">
      <jointName>rotor_${number}_joint</jointName><linkName>rotor_${number}</linkName>
      <turningDirection>${direction}</turningDirection><maxRotVelocity>${max}</maxRotVelocity>
      <motorConstant>8.54858e-06</motorConstant><momentConstant>0.016</momentConstant><motorNumber>${number}</motorNumber>
    </plugin></gazebo>
  </xacro:macro>
</robot>"""

GYM = (
    """<robot name="tiny"><properties kf="3.16e-10" km="7.94e-12" thrust2weight="2.25" prop_radius="0.023"
  drag_coeff_xy="9.2e-7"/><link name="base_link"><inertial><mass value="0.027"/>
  <inertia ixx="1.4e-5" iyy="1.4e-5" izz="2.17e-5" ixy="0" ixz="0" iyz="0"/></inertial>
  <collision><geometry><cylinder radius="0.06" length="0.025"/></geometry></collision></link>"""
    + "".join(
        f"""<link name="prop{n}_link"><inertial><origin xyz="{x} {y} 0"/><mass value="0"/>
  <inertia ixx="0" iyy="0" izz="0" ixy="0" ixz="0" iyz="0"/></inertial></link><joint name="j{n}" type="fixed">
  <parent link="base_link"/><child link="prop{n}_link"/></joint>"""
        for n, (x, y) in enumerate(((0.028, -0.028), (-0.028, -0.028), (-0.028, 0.028), (0.028, 0.028)))
    )
    + "</robot>"
)

WING = """
    <plugin filename="gz-sim-lift-drag-system" name="{name}"><link_name>{link}</link_name><cp>{cp}</cp>
      <forward>1 0 0</forward><upward>{up}</upward><area>{area}</area><a0>{a0}</a0><cla>4.7</cla><cda>0.3</cda>
      <alpha_stall>0.34</alpha_stall><cla_stall>-3.8</cla_stall><cda_stall>-0.9</cda_stall>
      <air_density>1.2041</air_density>{more}</plugin>"""
FLAP = """
    <link name="{name}"><pose>{pose}</pose><inertial><mass>0.01</mass><inertia><ixx>1e-5</ixx><iyy>1e-5</iyy><izz>1e-5</izz>
      </inertia></inertial></link>
    <joint name="{name}_joint" type="revolute"><parent>base_link</parent><child>{name}</child><axis><xyz>{axis}</xyz>
      <limit><lower>-0.6</lower><upper>0.5</upper></limit><dynamics><damping>0.2</damping></dynamics></axis></joint>"""
DRIVE = """
    <plugin filename="gz-sim-joint-position-controller-system" name="gz::sim::systems::JointPositionController">
      <joint_name>{name}_joint</joint_name><p_gain>5</p_gain></plugin>"""


def wing(name, link, cp, area, a0, up="0 0 1", joint="", slope=-0.6):
    """A joint is named twice, as in one of PX4's."""
    flap = f"<control_joint_name>{joint}_joint</control_joint_name>" * 2
    flap += f"<control_joint_rad_to_cl>{slope}</control_joint_rad_to_cl>"
    return WING.format(name=name, link=link, cp=cp, up=up, area=area, a0=a0, more=flap if joint else "")


PLANE = (
    """<?xml version="1.0"?>
<sdf version="1.9"><model name="glidable"><pose>0 0 1 0 0 0.7</pose>
    <link name="base_link"><inertial><pose>0.02 0 0 0 0 0</pose><mass>1.4</mass>
      <inertia><ixx>0.1</ixx><iyy>0.12</iyy><izz>0.2</izz></inertia></inertial>
      <collision name="body"><geometry><box><size>1.0 1.6 0.15</size></box></geometry></collision>
      <sensor name="pitot" type="air_speed"><update_rate>50</update_rate></sensor></link>
    <link name="rotor_0"><pose>0.4 0 0 0 1.5707963267948966 0</pose><inertial><mass>0.01</mass>
      <inertia><ixx>1e-6</ixx><iyy>1e-5</iyy><izz>1e-5</izz></inertia></inertial></link>
    <joint name="rotor_0_joint" type="revolute"><parent>base_link</parent><child>rotor_0</child>
      <axis><xyz>0 0 1</xyz></axis></joint>"""
    + "".join(
        FLAP.format(name=name, pose=pose, axis=axis)
        for name, pose, axis in (
            ("left", "-0.1 0.5 0 0 0 0", "0 1 0"),
            ("right", "-0.1 -0.5 0 0 0 0", "0 1 0"),
            ("flap", "-0.1 0 0 0 0 0", "0 1 0"),
            ("tail", "-0.7 0 0.1 0 0 0", "0 1 0"),
            ("fin", "-0.7 0 0.1 1.5707963267948966 0 0", "0 1 0"),
        )
    )
    + wing("left_wing", "base_link", "0.01 0.5 0", 0.2, 0.06, joint="left")
    + wing("gz::sim::systems::LiftDrag", "base_link", "0.01 -0.5 0", 0.2, 0.06, joint="right")
    + wing("middle", "base_link", "0.01 0 0", 0.1, 0.06, joint="flap")
    + wing("gz::sim::systems::LiftDrag", "tail", "-0.02 0 0", 0.05, -0.02)
    + wing("gz::sim::systems::LiftDrag", "fin", "0 0 0", 0.03, 0.0)
    + "".join(DRIVE.format(name=name) for name in ("left", "right", "tail", "fin"))
    + """<plugin filename="gz-sim-joint-state-publisher-system" name="gz::sim::systems::JointStatePublisher">
      <joint_name>flap_joint</joint_name></plugin>"""
    + MOTOR.format(n=0, turns="cw").replace("9e-06", "1.5e-05")
    + "</model></sdf>"
)
"""The tail and the fin turn as a whole, the fin on a link that lies on its side; the flap is only told of, not moved."""
COEFFICIENTS = {
    "CL0": 0.2, "CLa": 5.0, "CLb": 0.1, "CD0": 0.03, "Cem0": 0.02, "Cema": -0.4, "Cemb": 0.01, "CYa": 0.02, "CYb": -0.25,
    "Cella": 0.01, "Cellb": -0.04, "Cena": 0.005, "Cenb": 0.1, "CDp": 0.01, "CYp": 0.06, "CLp": 0.02, "Cellp": -0.48,
    "Cemp": 0.03, "Cenp": -0.04, "CDq": 0.05, "CYq": 0.01, "CLq": 7.9, "Cellq": 0.02, "Cemq": -12.0, "Cenq": 0.03,
    "CDr": 0.02, "CYr": 0.23, "CLr": 0.01, "Cellr": 0.08, "Cemr": 0.02, "Cenr": -0.09, "alpha_stall": 0.3, "AR": 6.5,
    "eff": 0.9, "area": 0.34, "mac": 0.22, "Cema_stall": 0.1, "num_ctrl_surfaces": 2,
}  # fmt: skip
CONTROLS = (
    ("left", 1, {"CD": 1e-4, "CY": 2e-4, "CL": -0.012, "Cell": -0.0033, "Cem": 0.0015, "Cen": -5e-5}),
    ("tail", -1, {"CD": 3e-4, "CY": 0.0, "CL": 0.011, "Cell": 0.0, "Cem": -0.026, "Cen": 0.0}),
    ("flap", 1, {"CD": 9.0, "CY": 9.0, "CL": 9.0, "Cell": 9.0, "Cem": 9.0, "Cen": 9.0}),
)
"""Joints, directions and coefficients per degree; the third is beyond num_ctrl_surfaces."""


def advanced() -> str:
    """The same aeroplane by coefficients."""
    values = "".join(f"<{key}>{value}</{key}>" for key, value in COEFFICIENTS.items())
    for joint, direction, slopes in CONTROLS:
        each = "".join(f"<{key}_ctrl>{value}</{key}_ctrl>" for key, value in slopes.items())
        values += (
            f"<control_surface><name>{joint}_joint</name><direction>{direction}</direction>{each}</control_surface>"
        )
    plugin = f"""<plugin filename="gz-sim-advanced-lift-drag-system" name="gz::sim::systems::AdvancedLiftDrag">
      <link_name>base_link</link_name><cp>-0.1 0 0.02</cp>{values}</plugin>"""
    begin, end = (
        PLANE.index("<plugin", PLANE.index("fin_joint")),
        PLANE.index('<plugin filename="gz-sim-joint-position'),
    )
    return PLANE[:begin] + plugin + PLANE[end:]


SWIMMER = """<?xml version="1.0"?>
<sdf version="1.11"><model name="swimmer"><pose>0 0 -95 0 0 0</pose>
    <link name="base_link"><inertial><mass>9.9</mass><inertia><ixx>0.1</ixx><iyy>0.12</iyy><izz>0.15</izz></inertia></inertial>
      <collision name="hull"><pose>0 0 0.02 0 0 0</pose><geometry><box><size>0.4 0.25 0.1</size></box></geometry></collision>
      <collision name="egg"><pose>0 0 0.1 0 0 0</pose><geometry><ellipsoid><radii>0.05 0.04 0.03</radii></ellipsoid></geometry>
        </collision></link>
    <link name="prop"><pose>-0.2 0 0 0 1.5707963267948966 0</pose><inertial><mass>0.1</mass>
      <inertia><ixx>1e-4</ixx><iyy>1e-4</iyy><izz>1e-4</izz></inertia></inertial></link>
    <joint name="prop_joint" type="revolute"><parent>base_link</parent><child>prop</child><axis><xyz>0 0 1</xyz></axis></joint>
    <plugin filename="gz-sim-thruster-system" name="gz::sim::systems::Thruster"><joint_name>prop_joint</joint_name>
      <propeller_diameter>0.1</propeller_diameter></plugin>
    <plugin filename="gz-sim-hydrodynamics-system" name="gz::sim::systems::Hydrodynamics"><link_name>base_link</link_name>
      <xU>-5</xU><yV>-6</yV><zW>-7</zW><kP>-0.1</kP><mQ>-0.2</mQ><nR>-0.3</nR><yR>-0.5</yR>
      <xUabsU>-10</xUabsU><yVabsV>-11</yVabsV><zWabsW>-12</zWabsW>
      <xDotU>-1.5</xDotU><yDotV>-2</yDotV><zDotW>-4</zDotW><kDotP>-0.03</kDotP></plugin></model></sdf>"""
"""Its buoyancy is by the world of Gazebo; the egg displaces as a ball, and the damping of sway by yaw is not flown."""

WHOLE = """<mujoco model="pushed"><compiler inertiafromgeom="false"/><worldbody><body name="b" pos="0 0 0.1"><freejoint/>
  <inertial pos="0 0 0" mass="0.03" diaginertia="2e-5 2e-5 3e-5"/><geom type="box" size="0.05 0.05 0.015"/>
  <site name="imu" pos="0 0 0.01"/></body></worldbody>
  <actuator><motor name="thrust" ctrlrange="0 0.6" gear="0 0 1 0 0 0" site="imu"/>
  <motor name="roll" ctrlrange="-1 1" gear="0 0 0 1e-5 0 0" site="imu"/></actuator>
  <sensor><gyro site="imu"/><accelerometer site="imu"/></sensor></mujoco>"""

WORLD = """<?xml version="1.0"?>
<sdf version="1.9"><world name="yard"><gravity>0 0 -9.81</gravity><magnetic_field>6e-06 2.3e-05 -4.2e-05</magnetic_field>
  <wind><linear_velocity>3 1 0</linear_velocity></wind>
  <include><uri>model://sun</uri></include>
  <light name="day" type="directional"><direction>-1 0 -1</direction></light>
  <light name="lamp" type="point"/>
  <spherical_coordinates><latitude_deg>47.4</latitude_deg><longitude_deg>8.5</longitude_deg><elevation>500</elevation>
  </spherical_coordinates>
  <model name="ground"><static>true</static><link name="l"><collision name="c"><geometry><plane/></geometry></collision>
  </link></model>
  <model name="wall"><static>true</static><pose>5 0 1 0 0 0.5</pose><link name="l"><collision name="c"><geometry><box>
    <size>0.2 6 2</size></box></geometry></collision></link></model>
  <model name="ramp"><static>true</static><pose>-5 0 0.5 0 0.3 0</pose><link name="l"><collision name="c"><geometry><box>
    <size>3 2 0.1</size></box></geometry></collision></link></model>
  <model name="crate"><link name="l"/></model>
  <include><uri>model://hut</uri><pose>0 8 0 0 0 1.0</pose></include>
  <include><uri>https://fuel.example/models/tree</uri></include>
</world></sdf>"""
HUT = """<sdf version="1.6"><model name="hut"><static>1</static><link name="l">
  <visual name="v"><geometry><mesh><uri>model://hut/meshes/hull.stl</uri><scale>0.02 0.02 0.02</scale></mesh></geometry></visual>
  <collision name="c"><geometry><mesh><uri>model://hut/meshes/hull.stl</uri><scale>0.02 0.02 0.02</scale></mesh></geometry>
  </collision></link></model></sdf>"""

CORNERS = [(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]
SIDES = ((0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3))


def brick(file: Path, size=(300.0, 300.0, 80.0), open_side: bool = False) -> Path:
    """An STL in text: a box, perhaps without its last side."""
    corners = [tuple(half * s / 2 for half, s in zip(corner, size, strict=True)) for corner in CORNERS]
    lines = ["solid brick"]
    for a, b, c, d in SIDES[: -1 if open_side else None]:
        for corner in ((a, b, c), (a, c, d)):
            points = "".join(f"vertex {corners[k][0]} {corners[k][1]} {corners[k][2]}\n" for k in corner)
            lines.append(f"facet normal 0 0 0\nouter loop\n{points}endloop\nendfacet")
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("\n".join([*lines, "endsolid brick"]))
    return file


def write(folder: Path, **models: str) -> Path:
    """Models of Gazebo side by side, each in a folder of its own."""
    for name, text in models.items():
        (folder / name).mkdir(parents=True, exist_ok=True)
        (folder / name / "model.sdf").write_text(text)
        (folder / name / "model.config").write_text(
            f'<model><name>{name}</name><sdf version="1.9">model.sdf</sdf></model>'
        )
    return folder


def drone(folder: Path) -> Path:
    """A quadrotor made of three models; the file of the outermost."""
    write(folder, frame=BASE, camera=CAMERA, drone=DRONE)
    brick(folder / "frame/meshes/hull.stl")
    return folder / "drone/model.sdf"


def description(folder: Path, xacro: str = XACRO) -> Path:
    """A ROS package with a xacro file in it."""
    (folder / "my_description/urdf").mkdir(parents=True)
    (folder / "my_description/package.xml").write_text("<package><name>my_description</name></package>")
    (folder / "my_description/urdf/parts.xacro").write_text(PARTS)
    file = folder / "my_description/urdf/plus.urdf.xacro"
    file.write_text(xacro)
    return file


DAE = """<?xml version="1.0"?>
<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">
  <asset><unit name="cm" meter="0.01"/><up_axis>Z_UP</up_axis></asset>
  <library_geometries><geometry id="wedge"><mesh>
    <source id="places"><float_array id="numbers" count="15">0 0 0  2 0 0  0 3 0  0 0 4  90 90 90</float_array>
      <technique_common><accessor source="#numbers" count="5" stride="3"><param name="X" type="float"/>
        <param name="Y" type="float"/><param name="Z" type="float"/></accessor></technique_common></source>
    <vertices id="corners"><input semantic="POSITION" source="#places"/></vertices>
    <triangles count="4"><input semantic="VERTEX" source="#corners" offset="0"/><p>0 2 1 0 1 3 1 2 3 0 3 2</p></triangles>
  </mesh></geometry></library_geometries>
  <library_visual_scenes><visual_scene id="scene">
    <node id="outer"><translate>10 0 0</translate><rotate>0 0 1 90</rotate>
      <node id="inner"><scale>1 2 1</scale><instance_geometry url="#wedge"/></node></node>
    <node id="other"><matrix>0 0 1 0  1 0 0 -7  0 1 0 0  0 0 0 1</matrix><instance_geometry url="#wedge"/></node>
  </visual_scene></library_visual_scenes>
  <scene><instance_visual_scene url="#scene"/></scene>
</COLLADA>"""
"""A wedge that is there twice, in centimetres, with a corner that nothing has."""
