"""The bridge, seen by a node on Cyclone DDS and by one that asks as Fast DDS does."""

from __future__ import annotations

import socket
import struct
from contextlib import closing
from math import nan

import numpy as np
import pytest
from tests.ros2_peers import FastClient, Peer, own_domain, until

import airloom as al
from airloom.bus import messages
from airloom.ros2 import interfaces, names
from airloom.ros2.dds import DEFAULT, LATCHED, SENSOR, Ros2Error, _own_datagram_sockets
from airloom.ros2.graph import INFO
from airloom.ros2.incoming import TWIST
from airloom.ros2.own import JOINT_STATE, STRING

pytest.importorskip("cyclonedds")
BATCH = {"engine": "batch", "duration": 1000}


@pytest.fixture(scope="module")
def domain() -> int:
    return own_domain()


@pytest.fixture(scope="module")
def sim(domain):
    with al.Simulation.load("hover", overrides={**BATCH, "ros2.domain": domain}) as made:
        made.step()
        yield made


@pytest.fixture(scope="module")
def peer(sim, domain):
    made = Peer(sim, domain)
    yield made
    made.close()


@pytest.fixture(scope="module")
def client(sim, domain):
    made = FastClient(sim, domain)
    yield made
    made.close()


def warned(sim, text: str) -> bool:
    return any(text in warning for warning in sim.warnings)


def test_a_state_arrives_with_the_bytes_of_the_bus(sim, peer):
    told = []
    sim.bus.subscribe("/cf/state", lambda _, cdr, __: told.extend(cdr), raw=True)
    reader = peer.subscribe("/cf/state", messages.ODOMETRY)
    until(lambda: len(told) > 5, peer.step)
    assert until(lambda: reader.take(1), peer.step)[0] in told


def test_state_and_odometry_are_both_told_where_no_sensor_is_called_so():
    domain = own_domain()
    sensors = {"odometry": None, "place": {"kind": "odometry", "rate": 250}}
    drone = {"extends": "multirotor", "pose": {"position": [0, 0, 2]}, "sensors": sensors}
    overrides = {**BATCH, "systems": {}, "vehicles": {"cf": None, "drone": drone}, "ros2.domain": domain}
    with al.Simulation.load("hover", overrides=overrides) as sim, closing(Peer(sim, domain)) as peer:
        assert "/drone/odometry" not in [topic.name for topic in sim.bus.topics()]
        readers = [peer.subscribe(f"/drone/{name}", messages.ODOMETRY) for name in ("state", "odometry")]
        for reader in readers:
            reader.take()  # what came while only one was there
        for reader in readers * 3:
            until(lambda reader=reader: reader.take(1), lambda: sim.step(5))  # record by record


def test_odometry_is_there_although_no_sensor_measures_it(peer):
    reader = peer.subscribe("/cf/odometry", messages.ODOMETRY)
    assert peer.hear(reader, messages.ODOMETRY).child_frame_id in ("cf/base_link", "cf/odometry")


def test_whoever_comes_late_is_told_what_is_latched(peer):
    description = peer.hear(peer.subscribe("/cf/robot_description", STRING, LATCHED), STRING).data
    frames = peer.hear(peer.subscribe("/tf_static", messages.TF_MESSAGE, LATCHED), messages.TF_MESSAGE).transforms
    assert '<link name="cf/base_link">' in description
    assert {"map", "cf/odom", "cf/imu"} <= {frame.child_frame_id for frame in frames}


def test_tf_follows_the_vehicle(sim, peer):
    reader = peer.subscribe("/tf", messages.TF_MESSAGE)
    sim.vehicles["cf"].place((1.0, 2.0, 3.0))

    def seen():
        return [t for cdr in reader.take() for t in messages.deserialize(cdr, messages.TF_MESSAGE).transforms]

    moved = until(lambda: [t for t in seen() if abs(t.transform.translation.x - 1.0) < 1e-3], peer.step)[0]
    assert (moved.header.frame_id, moved.child_frame_id) == ("cf/odom", "cf/base_link")
    assert moved.transform.translation.y == pytest.approx(2.0, abs=1e-3)


def test_joints_turn_as_the_rotors_do(sim, peer):
    reader = peer.subscribe("/cf/joint_states", JOINT_STATE)
    sim.vehicles["cf"].command(al.PositionYaw((0, 0, 1), 0))
    joints = until(
        lambda: [
            j
            for cdr in reader.take()
            if (j := messages.deserialize(cdr, JOINT_STATE)).velocity.size and abs(j.velocity).min() > 100
        ],
        peer.step,
    )[0]
    assert sorted(np.sign(joints.velocity)) == [-1, -1, 1, 1]


def test_sensors_are_best_effort_and_states_reliable(sim, peer):
    """A reliable reader never gets from a best-effort writer."""
    reliable = peer.participant.reader("rt/cf/imu", messages.IMU, LATCHED)
    peer.subscribe("/cf/imu", messages.IMU, SENSOR)
    assert reliable.senders == 0


def test_nobody_is_recorded_for_nobody(domain):
    with al.Simulation.load("hover", overrides={**BATCH, "ros2.domain": own_domain()}) as sim:
        sim.step()
        assert not any(topic.wanted for topic in sim.bus.topics() if topic.name.startswith("/cf"))


def test_the_node_names_its_readers_and_writers(sim, peer):
    reader = peer.participant.reader("ros_discovery_info", INFO, LATCHED)
    info = messages.deserialize(until(lambda: reader.take(1), peer.step)[0], INFO)
    (node,) = info.node_entities_info_seq
    assert (node.node_namespace, node.node_name) == ("/", "airloom")
    assert len(node.writer_gid_seq) > 10
    assert bytes(info.gid.data) == sim.ros2.participant.gid


def test_commands_of_a_mode_wait_until_it_is_chosen(sim, peer):
    vehicle = sim.vehicles["cf"]
    vehicle.place((0, 0, 5), yaw=np.pi / 2)
    writer = peer.publisher("/cf/position_yaw/command", messages.POSITION_YAW)
    command = messages.build(messages.POSITION_YAW, {"position.x": 3.0, "position.z": 5.0})
    writer.write(messages.serialize(command))
    mode = peer.publisher("/cf/switch_mode", messages.CONTROL_MODE)
    mode.write(messages.serialize(messages.build(messages.CONTROL_MODE, {"mode": 1})))
    until(lambda: vehicle.setpoint.position[0] == 3.0 and vehicle.mode == al.Mode.POSITION_YAW, peer.step)


def test_a_twist_steers_in_the_heading(domain):
    overrides = {**BATCH, "vehicles.cf.controller": "modes", "vehicles.cf.command_timeout": None}
    domain = own_domain()
    with al.Simulation.load("hover", overrides={**overrides, "ros2.domain": domain}) as sim:
        sim.step()
        peer = Peer(sim, domain)
        sim.vehicles["cf"].place((0, 0, 5), yaw=np.pi / 2)
        writer = peer.publisher("/cf/cmd_vel", TWIST)
        writer.write(messages.serialize(messages.build(TWIST, {"linear.x": 0.5})))
        until(lambda: sim.vehicles["cf"].velocity[1] > 0.4, peer.step)
        peer.close()


def test_a_goal_is_flown_to(sim, peer):
    vehicle = sim.vehicles["cf"]
    vehicle.place((0, 0, 1))
    writer = peer.publisher("/goal_pose", messages.POSE_STAMPED)
    goal = {"header.frame_id": "map", "pose.position.x": 0.5, "pose.orientation.w": 1.0}
    writer.write(messages.serialize(messages.build(messages.POSE_STAMPED, goal)))
    until(lambda: vehicle.setpoint.position[0] == 0.5, peer.step)
    assert vehicle.setpoint.position[2] > 0.5  # RViz' arrow has no height


def test_wind_can_be_set(sim, peer):
    writer = peer.publisher("/wind/update", messages.VECTOR3)
    writer.write(messages.serialize(messages.build(messages.VECTOR3, {"y": 2.0})))
    until(lambda: sim.weather.wind((0, 0, 1))[1] == 2.0, peer.step)


@pytest.mark.parametrize(
    ("topic", "msgtype", "data", "complaint"),
    [
        ("/cf/cmd_vel", TWIST, struct.pack("<4s6d", b"\0\1\0\0", nan, *[0.0] * 5), "finite"),
        ("/cf/initialpose", "geometry_msgs/msg/PoseWithCovarianceStamped", b"\0\1\0\0garbage!", "bytes that are no"),
        ("/clicked_point", "geometry_msgs/msg/PointStamped", None, "not in 'moon'"),
    ],
)
def test_what_cannot_be_is_dropped_counted_and_told_once(sim, peer, topic, msgtype, data, complaint):
    if data is None:
        data = messages.serialize(messages.build(msgtype, {"header.frame_id": "moon"}))
    writer = peer.publisher(topic, msgtype)
    for _ in range(3):
        writer.write(data)
    until(lambda: sim.ros2.incoming.dropped[topic] == 3, peer.step)
    assert sum(complaint in warning for warning in sim.warnings) == 1
    assert sim.ros2.report()["dropped"][topic] == 3


NO_DDS = b"RTPS" + bytes.fromhex(
    "02010110 000102030405060708090a0b 15052c0000001000000100c7000100c2"
    "0000000001000000 00030000ff000400 02010000 01000000"
)
"""Cyclone takes it for malformed: a parameter list with a length of 4 for nothing."""


def test_a_flood_of_datagrams_that_are_no_dds_leaves_no_text_and_is_counted(sim, peer, capfd):
    told = []
    sim.bus.subscribe("/events", lambda _, event, __: told.append(event.text))
    ports = {one.getsockname()[1] for one in _own_datagram_sockets()}
    before = sim.ros2.report()["unreadable_datagrams"]
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as stranger:
        for _ in range(300):
            for port in ports:
                stranger.sendto(NO_DDS, ("127.0.0.1", port))
    until(lambda: sim.ros2.report()["unreadable_datagrams"] >= before + 100, peer.step)
    assert capfd.readouterr() == ("", "")
    until(lambda: [text for text in told if "cannot be read" in text], peer.step)
    assert len([text for text in told if "cannot be read" in text]) <= 4


def test_a_flood_of_commands_ends_with_the_last(sim, peer):
    writer = peer.publisher("/wind/update", messages.VECTOR3)
    for k in range(20_000):
        writer.write(struct.pack("<4s3d", b"\0\1\0\0", k * 1e-4, 0.0, 0.0))
    until(lambda: sim.weather.wind((0, 0, 1))[0] == pytest.approx(1.9999), peer.step)


def test_wrong_types_and_names_of_nobody_are_told(sim, peer):
    peer.participant.writer("rt/cf/goal_pose", TWIST, SENSOR)
    stay = peer.participant.writer("rt/nobody/cmd_vel", TWIST, SENSOR)
    until(lambda: warned(sim, "no vehicle is called 'nobody'"), peer.step)
    until(lambda: warned(sim, "a node sends geometry_msgs::msg::dds_::Twist_"), peer.step)
    stay.close()


def test_gains_are_parameters(sim, client):
    listed = client.call("/airloom/list_parameters", interfaces.service("rcl_interfaces/srv/ListParameters"))
    assert "cf.xy_kp" in listed.result.names
    value = messages.build("rcl_interfaces/msg/ParameterValue", {"type": 3, "double_value": 12.0})
    wanted = [
        messages.build("rcl_interfaces/msg/Parameter", {"name": name, "value": value}) for name in ("cf.xy_kp", "cf.no")
    ]
    kind = interfaces.service("rcl_interfaces/srv/SetParameters")
    results = client.call("/airloom/set_parameters", kind, {"parameters": wanted}).results
    assert [result.successful for result in results] == [True, False]
    assert sim.vehicles["cf"].gains["xy_kp"] == 12.0


def test_gains_of_a_vehicle_are_set_together_or_not_at_all(sim, client):
    kind = interfaces.service("rcl_interfaces/srv/SetParametersAtomically")

    def set_gains(**gains):
        parameters = [
            messages.build("rcl_interfaces/msg/Parameter", {"name": name, "value.type": 3, "value.double_value": value})
            for name, value in gains.items()
        ]
        return client.call("/cf/set_gains", kind, {"parameters": parameters}).result

    assert set_gains(xy_kp=11.0, z_kp=12.0).successful
    refused = set_gains(xy_kp=9.0, dance=1.0)
    assert (refused.successful, "cf.dance" in refused.reason) == (False, True)
    assert (sim.vehicles["cf"].gains["xy_kp"], sim.vehicles["cf"].gains["z_kp"]) == (11.0, 12.0)


def test_a_program_decides_about_its_own_time(client):
    reply = client.call("/airloom/pause", interfaces.service(interfaces.SET_BOOL), {"data": True})
    assert not reply.success
    assert "program" in reply.message


def test_a_mission_is_started_and_a_wrong_one_refused(sim, client):
    kind = interfaces.service(interfaces.START_MISSION)
    sim.vehicles["cf"].reset_pose()
    assert client.call("/cf/start_mission", kind, {"mission": "- takeoff: 0.4"}).success
    until(lambda: sim.vehicles["cf"].position[2] > 0.2, lambda: sim.step(100))
    assert "dance" in client.call("/cf/start_mission", kind, {"mission": "- dance: 3"}).message


def path(*points):
    poses = []
    for point in points:
        place = dict(zip(("pose.position.x", "pose.position.y", "pose.position.z"), map(float, point), strict=True))
        poses.append(messages.build(messages.POSE_STAMPED, place))
    return messages.build("nav_msgs/msg/Path", {"poses": poses})


def goal(number: int, **fields):
    identity = messages.build("unique_identifier_msgs/msg/UUID", {"uuid": [number] * 16})
    return {"goal_id": identity, **{f"goal.{name}": value for name, value in fields.items()}}


def test_a_path_is_followed_with_feedback_to_its_end(sim, peer, client):
    send, get, feedback = interfaces.action(interfaces.FOLLOW_PATH)
    sim.vehicles["cf"].reset_pose()
    reader = peer.subscribe("/cf/follow_path/_action/feedback", feedback)
    wanted = goal(1, path=path((0, 0, 0.5), (0.6, 0, 0.5)), speed=0.5)
    assert client.call("/cf/follow_path/_action/send_goal", send, wanted).accepted
    result = client.ask("/cf/follow_path/_action/get_result", get, goal(1))
    done = until(result, lambda: sim.step(100))
    assert done.status == 4
    assert sim.vehicles["cf"].position == pytest.approx([0.6, 0, 0.5], abs=0.2)
    left = []

    def is_nearly_there():
        left.extend(messages.deserialize(cdr, feedback).feedback.distance_remaining for cdr in reader.take())
        return left and left[-1] < 0.3

    until(is_nearly_there, peer.step)


def test_a_path_is_left_when_it_is_cancelled(sim, client):
    send, get, _ = interfaces.action(interfaces.FOLLOW_PATH)
    kind = interfaces.service(interfaces.CANCEL_GOAL)
    sim.vehicles["cf"].place((0, 0, 1))
    wanted = goal(2, path=path((0, 0, 1), (30, 0, 1)), speed=0.05)
    assert client.call("/cf/follow_path/_action/send_goal", send, wanted).accepted
    result = client.ask("/cf/follow_path/_action/get_result", get, goal(2))
    assert result() is None
    identity = goal(2)["goal_id"]
    assert client.call("/cf/follow_path/_action/cancel_goal", kind, {"goal_info.goal_id": identity}).return_code == 0
    assert until(result, lambda: sim.step(20)).status == 5
    assert not client.call("/cf/follow_path/_action/send_goal", send, goal(3, path=path((0, 0, nan)))).accepted


def test_a_client_on_cyclone_has_its_reply(sim, peer):
    """Its header, who asks and which request it is, stands before the data, and comes back."""
    kind, header = interfaces.service(interfaces.SWITCH_MODE), struct.pack("<Qq", 0x1234, 7)
    writer = peer.participant.writer("rq/cf/switch_modeRequest", f"{kind}_Request", LATCHED)
    reader = peer.participant.reader("rr/cf/switch_modeReply", f"{kind}_Response", DEFAULT)
    until(lambda: writer.listeners and reader.senders, peer.step)
    request = messages.serialize(messages.build(f"{kind}_Request", {"mode.mode": 0}))
    writer.write(request[:4] + header + request[4:])
    reply = until(lambda: reader.take(1), peer.step)[0]
    assert reply[4:20] == header
    assert messages.deserialize(reply[:4] + reply[20:], f"{kind}_Response").success


def test_hashes_are_those_of_ros():
    """Of Jazzy's own files."""
    assert names.type_hash(messages.CLOCK) == "RIHS01_692f7a66e93a3c83e71765d033b60349ba68023a8c689a79e48078bcb5c58564"
    trigger = "RIHS01_eeff2cd6fa5ad9d27cdf4dec64818317839b62f212a91e6b5304b634b2062c5f"
    assert names.type_hash(interfaces.service(interfaces.TRIGGER)) == trigger


def test_only_this_machine_reaches_a_bridge(sim):
    """Its sockets hear by the loopback device, whatever address they are bound to."""
    devices = [
        one.getsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, 16).rstrip(b"\0")
        for one in _own_datagram_sockets()
        if one.getsockname()[0] == "0.0.0.0"
    ]
    assert devices
    assert set(devices) == {b"lo"}


def test_a_network_interface_that_is_not_there_is_refused():
    overrides = {**BATCH, "ros2.domain": own_domain(), "ros2.interface": "moon0"}
    with pytest.raises(Ros2Error, match="'moon0' has no IPv4"):  # before anything begins: no run folder is left
        al.Simulation.load("hover", overrides=overrides)
