"""A node of real ROS, run by an environment of its own: tells in a line of JSON what it found."""

import json
import time

import rclpy
from geometry_msgs.msg import PoseStamped
from nav_msgs.msg import Odometry
from rcl_interfaces.msg import Parameter, ParameterValue
from rcl_interfaces.srv import ListParameters, SetParameters
from rclpy.action import get_action_names_and_types
from rclpy.qos import DurabilityPolicy, QoSProfile, qos_profile_sensor_data
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import Imu
from std_msgs.msg import String
from std_srvs.srv import SetBool, Trigger

rclpy.init()
node = rclpy.create_node("probe")
heard = {}


def hear(name, kind, qos):
    node.create_subscription(kind, name, lambda message: heard.__setitem__(name, message), qos)


def until(condition, seconds=60.0):
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        rclpy.spin_once(node, timeout_sec=0.05)
    return bool(condition())


def call(kind, name, **fields):
    client = node.create_client(kind, name)
    if not client.wait_for_service(timeout_sec=60.0):
        return None
    future = client.call_async(kind.Request(**fields))
    rclpy.spin_until_future_complete(node, future, timeout_sec=60.0)
    return future.result()


def clock():
    return heard["/clock"].clock.sec + 1e-9 * heard["/clock"].clock.nanosec


def stands_still(seconds=0.5):
    before = clock()
    until(lambda: False, seconds)
    return clock() == before


def nodes():
    return [f"{space}{name}" for name, space in node.get_node_names_and_namespaces()]


hear("/cf/state", Odometry, 10)
hear("/clock", Clock, 10)
hear("/cf/imu", Imu, qos_profile_sensor_data)
hear("/cf/robot_description", String, QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL))
mismatched = node.create_subscription(Imu, "/cf/imu", lambda _: heard.__setitem__("mismatched", True), 10)
goals = node.create_publisher(PoseStamped, "/cf/goal_pose", 10)
found = {"heard": until(lambda: len(heard) >= 4), "topics": sorted(heard)}
until(lambda: "/airloom" in nodes())
found["nodes"] = nodes()
until(lambda: "/tf" in dict(node.get_topic_names_and_types()))
found["types"] = dict(node.get_topic_names_and_types())
(publisher,) = node.get_publishers_info_by_topic("/cf/state")
until(lambda: "/cf/state" in dict(node.get_publisher_names_and_types_by_node("airloom", "/")))
found["publishes"] = dict(node.get_publisher_names_and_types_by_node("airloom", "/"))
found["hash"] = bytes(publisher.topic_type_hash.value).hex()

until(lambda: goals.get_subscription_count() > 0)
goal = PoseStamped()
goal.header.frame_id = "map"
goal.pose.position.z, goal.pose.orientation.w = 0.6, 1.0
again = node.create_timer(0.1, lambda: goals.publish(goal))
found["flew"] = until(lambda: heard["/cf/state"].pose.pose.position.z > 0.4)
node.destroy_timer(again)

found["parameters"] = list(call(ListParameters, "/airloom/list_parameters").result.names)
value = Parameter(name="cf.xy_kp", value=ParameterValue(type=3, double_value=14.0))
found["set"] = call(SetParameters, "/airloom/set_parameters", parameters=[value]).results[0].successful
found["paused"] = call(SetBool, "/airloom/pause", data=True).success
found["stood_still"] = any(stands_still() for _ in range(60))  # once what was on its way has come
time_at_pause = clock()
found["resumed"] = call(SetBool, "/airloom/pause", data=False).success
found["went_on"] = until(lambda: clock() > time_at_pause + 0.2)
found["reset"] = call(Trigger, "/airloom/reset").success
found["began_anew"] = until(lambda: clock() < time_at_pause)
found["actions"] = dict(get_action_names_and_types(node))
found["services"] = dict(node.get_service_names_and_types_by_node("airloom", "/"))
found["mismatched"] = "mismatched" in heard
print(json.dumps(found), flush=True)
