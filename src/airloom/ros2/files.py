"""Files for ROS users: the package `airloom_interfaces`, RViz' and Fast DDS's configurations, a launch file."""

from __future__ import annotations

from textwrap import dedent
from typing import TYPE_CHECKING, Any

import yaml

from airloom.basics.version import VERSION
from airloom.bus import messages
from airloom.ros2 import interfaces

if TYPE_CHECKING:
    from airloom.simulation import Simulation

PACKAGE = "airloom_interfaces"
DEPENDENCIES = ("action_msgs", "geometry_msgs", "nav_msgs", "std_msgs")


def interface_files() -> dict[str, str]:
    """The package of our own messages, services and actions, for `colcon build`: texts by their paths."""
    own = {name: text for name, text in messages.OWN_DEFINITIONS.items() if name.startswith(f"{PACKAGE}/")}
    definitions = {}
    for name, text in {**own, **interfaces.OWN_SERVICES, **interfaces.OWN_ACTIONS}.items():
        _, kind, title = name.split("/")
        definitions[f"{kind}/{title}.{kind}"] = dedent(text).strip() + "\n"
    files = {**definitions, "package.xml": _package_xml(), "CMakeLists.txt": _cmake(list(definitions))}
    return {f"{PACKAGE}/{path}": text for path, text in files.items()}


def _package_xml() -> str:
    depends = "\n".join(f"  <depend>{name}</depend>" for name in DEPENDENCIES)
    return f"""<?xml version="1.0"?>
<package format="3">
  <name>{PACKAGE}</name>
  <version>{VERSION.split("+")[0].split(".dev")[0]}</version>
  <description>Messages, services and actions of Airloom, a simulator of drones</description>
  <maintainer email="airloom@example.org">Airloom</maintainer>
  <license>MIT</license>
  <buildtool_depend>ament_cmake</buildtool_depend>
  <buildtool_depend>rosidl_default_generators</buildtool_depend>
{depends}
  <exec_depend>rosidl_default_runtime</exec_depend>
  <member_of_group>rosidl_interface_packages</member_of_group>
  <export><build_type>ament_cmake</build_type></export>
</package>
"""


def _cmake(files: list[str]) -> str:
    listed = "\n".join(f'  "{file}"' for file in sorted(files))
    return f"""cmake_minimum_required(VERSION 3.8)
project({PACKAGE})
find_package(ament_cmake REQUIRED)
find_package(rosidl_default_generators REQUIRED)
{"".join(f"find_package({name} REQUIRED){chr(10)}" for name in DEPENDENCIES)}
rosidl_generate_interfaces(${{PROJECT_NAME}}
{listed}
  DEPENDENCIES {" ".join(DEPENDENCIES)}
)
ament_export_dependencies(rosidl_default_runtime)
ament_package()
"""


def rviz(sim: Simulation) -> str:
    """Every vehicle with its description and frames, what its eyes see, and RViz' own tools for goals."""
    displays: list[dict[str, Any]] = [
        {"Class": "rviz_default_plugins/Grid", "Name": "Grid", "Enabled": True, "Reference Frame": "world"},
        {"Class": "rviz_default_plugins/TF", "Name": "TF", "Enabled": True, "Show Names": False, "Marker Scale": 0.5},
    ]
    for vehicle in sim.vehicles.values():
        description = {"Value": f"/{vehicle.name}/robot_description", "Durability Policy": "Transient Local"}
        displays.append(_display("RobotModel", vehicle.name, {"Description Topic": {**_reliable(), **description}}))
        for eye in vehicle.eyes:
            for part, kind in (("image", "Image"), ("points", "PointCloud2")):
                if part in eye.message_types():
                    place = f"/{vehicle.name}/{eye.name}/{part}"
                    displays.append(_display(kind, place.strip("/"), {"Topic": {**_reliable(), "Value": place}}))
    tools = ("Interact", "MoveCamera", "Select", "SetInitialPose", "SetGoal", "PublishPoint")
    manager = {
        "Displays": displays,
        "Global Options": {"Fixed Frame": "world", "Frame Rate": 30},
        "Tools": [{"Class": f"rviz_default_plugins/{tool}"} for tool in tools],
        "Views": {"Current": {"Class": "rviz_default_plugins/Orbit", "Distance": 10, "Pitch": 0.5, "Yaw": 0.8}},
    }
    return yaml.safe_dump({"Visualization Manager": manager}, sort_keys=False)


def _display(kind: str, name: str, more: dict[str, Any]) -> dict[str, Any]:
    return {"Class": f"rviz_default_plugins/{kind}", "Name": name, "Enabled": True, **more}


def _reliable() -> dict[str, Any]:
    return {"Depth": 5, "History Policy": "Keep Last", "Reliability Policy": "Reliable"}


RECEIVE_BUFFER = 4 << 20  # bytes


def fast_dds() -> str:
    """A socket of Fast DDS that takes a whole cloud. By default it has room for a twentieth of one, all else has to be
    sent again; and Fast DDS 3.2 was seen to hang on such messages: it takes one without content, again and again.
    """
    return f"""<?xml version="1.0" encoding="UTF-8"?>
<dds xmlns="http://www.eprosima.com">
  <profiles>
    <transport_descriptors>
      <transport_descriptor>
        <transport_id>udp</transport_id>
        <type>UDPv4</type>
        <receiveBufferSize>{RECEIVE_BUFFER}</receiveBufferSize>
      </transport_descriptor>
      <transport_descriptor>
        <transport_id>shared_memory</transport_id>
        <type>SHM</type>
      </transport_descriptor>
    </transport_descriptors>
    <participant profile_name="large_messages" is_default_profile="true">
      <rtps>
        <userTransports>
          <transport_id>udp</transport_id>
          <transport_id>shared_memory</transport_id>
        </userTransports>
        <useBuiltinTransports>false</useBuiltinTransports>
      </rtps>
    </participant>
  </profiles>
</dds>
"""


def launch(scenario: str, rviz_file: str, fast_dds_file: str) -> str:
    """Starts the simulation and RViz beside it, which ends with it."""
    return f'''"""Airloom with RViz: ros2 launch airloom.launch.py"""

from launch import LaunchDescription
from launch.actions import EmitEvent, ExecuteProcess, RegisterEventHandler, SetEnvironmentVariable
from launch.event_handlers import OnProcessExit
from launch.events import Shutdown
from launch_ros.actions import Node


def generate_launch_description():
    airloom = ExecuteProcess(cmd=["airloom", "run", {scenario!r}, "--ros2", "--headless"], output="screen")
    names = ("FASTRTPS_DEFAULT_PROFILES_FILE", "FASTDDS_DEFAULT_PROFILES_FILE")  # of Jazzy, and from Kilted on
    large_messages = [SetEnvironmentVariable(name, {fast_dds_file!r}) for name in names]
    simulated = [{{"use_sim_time": True}}]
    rviz = Node(package="rviz2", executable="rviz2", arguments=["-d", {rviz_file!r}], parameters=simulated)
    over = RegisterEventHandler(OnProcessExit(target_action=airloom, on_exit=[EmitEvent(event=Shutdown())]))
    return LaunchDescription([*large_messages, airloom, rviz, over])
'''
