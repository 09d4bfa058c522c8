import subprocess
import sys

import numpy as np
import pytest

from airloom.bus import messages

COVARIANCE = np.linspace(0.1, 3.6, 36)

TEMPLATES = {
    "odometry": messages.odometry("world", "cf/base_link"),
    "odometry with covariance": messages.odometry("map", "cf", COVARIANCE, 2 * COVARIANCE),
    "odometry, covariance varies": messages.Template(
        messages.ODOMETRY, ["pose.covariance", "twist.twist.linear.z", "pose.pose.position.x"]
    ),
    "imu": messages.imu("cf/imu"),
    "nav_sat_fix": messages.nav_sat_fix("cf/gnss"),
    "imu with variances": messages.imu("cf/imu", (1.0, 2.0, 3.0), np.array([4.0, 5.0, 6.0])),
    "nav_sat_fix with variances": messages.nav_sat_fix("cf/gnss", (1.0, 2.0, 3.0)),
    "fluid_pressure": messages.fluid_pressure("cf/barometer", variance=0.25),
    "magnetic_field": messages.magnetic_field("cf/magnetometer"),
    "range": messages.range_("cf/rangefinder", 0.1, 4.0, 0.3),
    "setpoint": messages.setpoint("world"),
    "flight_command": messages.flight_command("cf"),
    **{f"actuators of {n}": messages.actuators("cf", n) for n in (0, 1, 4, 6)},
    "clock": messages.clock(),
    **{f"frame name of {n}": messages.odometry("w" * n, "c" * (9 - n)) for n in range(9)},
}


@pytest.fixture(params=TEMPLATES)
def template(request):
    return TEMPLATES[request.param]


def test_template_bytes_equal_rosbags(template):
    random = np.random.default_rng(1)
    times = random.integers(0, 2**60, 20)
    values = random.normal(size=(20, template.width)) * 10.0 ** random.integers(-9, 9, (20, template.width))
    batch = template.encode_batch(times, values)
    for time_ns, row, encoded in zip(times.tolist(), values, batch, strict=True):
        message = template.message(time_ns, row)
        assert template.encode(time_ns, row) == template.encode(time_ns, row.tolist()) == encoded.tobytes()
        assert messages.serialize(message) == encoded.tobytes()


def test_values_land_in_their_fields():
    row = np.arange(1.0, 14.0)
    odometry = messages.odometry("world", "cf").message(3_000_000_007, row)
    assert (odometry.header.stamp.sec, odometry.header.stamp.nanosec) == (3, 7)
    assert (odometry.header.frame_id, odometry.child_frame_id) == ("world", "cf")
    position, attitude = odometry.pose.pose.position, odometry.pose.pose.orientation
    assert [position.x, position.y, position.z] == [1, 2, 3]
    assert [attitude.w, attitude.x, attitude.y, attitude.z] == [4, 5, 6, 7]
    assert odometry.twist.twist.linear.x == 8
    assert odometry.twist.twist.angular.z == 13

    rotors = messages.actuators("cf", 4).message(0, [1, 2, 3, 4])
    assert rotors.velocity.tolist() == [1, 2, 3, 4]
    assert len(rotors.position) == len(rotors.normalized) == 0

    time = messages.clock().message(1_500_000_000, []).clock
    assert (time.sec, time.nanosec) == (1, 500_000_000)


def test_layout_finds_every_number_of_a_nested_message():
    transform = messages.build(messages.TRANSFORM_STAMPED, {"header.frame_id": "abc", "child_frame_id": "d"})
    transform.transform.translation.y = 4.25
    cdr = messages.serialize(messages.build(messages.TF_MESSAGE, {"transforms": [transform, transform]}))
    found = messages.layout(cdr, messages.TF_MESSAGE)
    leaf = found.leaves["transforms.1.transform.translation.y"]
    assert np.frombuffer(cdr, leaf.dtype, 1, leaf.offset) == 4.25
    assert "transforms.0.header.frame_id" in found.texts


def test_event():
    message = messages.event(2_000_000_001, "cf", "warning", "battery low")
    again = messages.deserialize(messages.serialize(message), messages.EVENT)
    assert (again.header.stamp.sec, again.header.stamp.nanosec) == (2, 1)
    assert (again.source, again.level, again.text) == ("cf", "warning", "battery low")


@pytest.mark.parametrize("msgtype", [messages.POSE_STAMPED, messages.VECTOR3_STAMPED, "rcl_interfaces/msg/Log"])
def test_a_blank_message_survives_the_round_trip(msgtype):
    cdr = messages.serialize(messages.build(msgtype))
    assert messages.serialize(messages.deserialize(cdr, msgtype)) == cdr


def test_definitions_are_complete():
    text = messages.definition(messages.SETPOINT)
    assert "float64 yaw_rate" in text
    assert "MSG: geometry_msgs/Vector3" in text
    assert "MSG: builtin_interfaces/Time" in text


def test_mistakes_are_explained():
    with pytest.raises(ValueError, match="has no numbers called 'heigth'"):
        messages.Template(messages.RANGE, ["heigth"]).encode(0, [1.0])
    with pytest.raises(ValueError, match=r"has no field 'header\.frame'"):
        messages.build(messages.RANGE, {"header.frame": "x"})
    with pytest.raises(ValueError, match="takes 4 values here, not 3"):
        messages.flight_command("cf").encode(0, [1, 2, 3])
    with pytest.raises(ValueError, match=r"shape \(2, 4\), not \(2, 3\)"):
        messages.flight_command("cf").encode_batch(np.zeros(2), np.zeros((2, 3)))


def test_import_leaves_rosbags_alone():
    check = "import sys, airloom.bus.messages; sys.exit('rosbags' in sys.modules)"
    subprocess.run([sys.executable, "-c", check], check=True)


def test_messages_of_a_fleet_are_those_of_its_vehicles():
    """Names of unlike lengths put numbers at unlike places."""
    templates = [messages.odometry("world", f"drone_{k}/base_link") for k in (8, 9, 10, 11, 100)]
    values = np.random.default_rng(1).normal(size=(5, 13))
    together = messages.Together(templates).encode(1_250_000_000, values)
    assert together == [one.encode(1_250_000_000, row) for one, row in zip(templates, values, strict=True)]
