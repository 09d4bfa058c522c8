"""Walks through the how-to page: does each thing once, and tells in a line of JSON whether the simulation did it."""

import json
import time

import rclpy
from airloom_interfaces.msg import WindInfo
from airloom_interfaces.srv import Delete, Spawn, StartMission, Step
from geometry_msgs.msg import Point, PointStamped, Pose, PoseStamped, PoseWithCovarianceStamped, Twist, Vector3
from nav_msgs.msg import Odometry
from rcl_interfaces.msg import Parameter, ParameterValue
from rcl_interfaces.srv import GetParameters, SetParametersAtomically
from rclpy.qos import DurabilityPolicy, QoSProfile
from rosgraph_msgs.msg import Clock
from std_msgs.msg import Float64, String
from std_srvs.srv import SetBool, Trigger

LATCHED = QoSProfile(depth=100, durability=DurabilityPolicy.TRANSIENT_LOCAL)
rclpy.init()
node = rclpy.create_node("walk")
heard, found = {}, {}


def hear(kind, name, qos=10):
    return node.create_subscription(kind, name, lambda message: heard.__setitem__(name, message), qos)


def until(condition, seconds=60.0):
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        rclpy.spin_once(node, timeout_sec=0.02)
    return bool(condition())


def tell(name, message, condition):
    """Ten times a second, as `ros2 topic pub -r 10`, until it has come true."""
    publisher = node.create_publisher(type(message), name, 10)
    timer = node.create_timer(0.1, lambda: publisher.publish(message))
    came_true = until(condition)
    node.destroy_timer(timer)
    return came_true


def call(srvtype, service, **fields):
    client = node.create_client(srvtype, service)
    until(client.service_is_ready)
    future = client.call_async(srvtype.Request(**fields))
    until(future.done)
    return future.result()


def state(vehicle="cf"):
    return heard[f"/{vehicle}/state"]


def is_at(x, y, z, vehicle="cf"):
    place = state(vehicle).pose.pose.position
    return max(abs(place.x - x), abs(place.y - y), abs(place.z - z)) < 0.15


def pose_at(x, y, z):
    pose = Pose(position=Point(x=x, y=y, z=z))
    pose.orientation.w = 1.0
    return pose


def goal_at(x, y, z):
    return PoseStamped(pose=pose_at(x, y, z))


def placed_at(x, y, z):
    message = PoseWithCovarianceStamped()
    message.pose.pose = pose_at(x, y, z)
    return message


def clock():
    now = heard["/clock"].clock
    return 10**9 * now.sec + now.nanosec


def stands_still(seconds=0.3):
    before = clock()
    until(lambda: False, seconds)
    return clock() == before


def is_silent(name, seconds=0.3):
    heard.pop(name, None)
    return not until(lambda: name in heard, seconds)


def gain(name):
    return call(GetParameters, "/airloom/get_parameters", names=[name]).values[0].double_value


hear(Clock, "/clock")
hear(Odometry, "/cf/state")
hear(WindInfo, "/wind/info")
hear(Float64, "/sprayer/flow_rate_info")
found["hears"] = until(lambda: len(heard) == 4)

point = PointStamped(point=Point(x=0.0, y=0.5))
point.header.frame_id = "map"
flow, wind = Float64(data=2.0), Vector3(y=1.5)
found["goes to a pose"] = tell("/cf/goal_pose", goal_at(0.0, 0.0, 1.0), lambda: is_at(0.0, 0.0, 1.0))
found["takes a velocity"] = tell(
    "/cf/cmd_vel", Twist(linear=Vector3(x=0.5)), lambda: state().twist.twist.linear.x > 0.4
)
found["goes where an arrow is"] = tell("/goal_pose", goal_at(0.5, 0.5, 0.0), lambda: is_at(0.5, 0.5, 1.0))
found["goes above a clicked point"] = tell("/clicked_point", point, lambda: is_at(0.0, 0.5, 1.0))
found["is put somewhere"] = tell("/initialpose", placed_at(-1.0, 0.5, 1.0), lambda: is_at(-1.0, 0.5, 1.0))
found["feels the wind"] = tell("/wind/update", wind, lambda: any(w.y == 1.5 for w in heard["/wind/info"].true_wind))
tell("/wind/update", Vector3(), lambda: not any(w.y for w in heard["/wind/info"].true_wind))
found["pours"] = tell("/sprayer/flow_rate_update", flow, lambda: heard["/sprayer/flow_rate_info"].data > 1.9)

slower = Parameter(name="max_speed", value=ParameterValue(type=3, double_value=4.5))
found["sets gains"] = call(SetParametersAtomically, "/cf/set_gains", parameters=[slower]).result.successful
found["gets what was set"] = gain("cf.max_speed") == 4.5
mission = "- goto: [0.5, 0.5, 0.7]"
found["flies a mission"] = call(StartMission, "/cf/start_mission", mission=mission).success and until(
    lambda: is_at(0.5, 0.5, 0.7)
)

hear(String, "/cf/robot_description", LATCHED)
found["hears what was told before it came"] = until(lambda: "/cf/robot_description" in heard)

found["pauses"] = call(SetBool, "/airloom/pause", data=True).success
any(stands_still() for _ in range(100))  # once what was on its way has come
stood = clock()
call(Step, "/airloom/step", ticks=500)
found["steps"] = until(lambda: clock() > stood) and not until(lambda: clock() > stood + 500_000_000, 0.3)
spawned = call(Spawn, "/airloom/spawn", kind="crazyflie2", pose=pose_at(-3.0, 0.0, 0.02)).name
call(SetBool, "/airloom/pause", data=False)
hear(Odometry, f"/{spawned}/state")
found["spawns"] = until(lambda: f"/{spawned}/state" in heard) and is_at(-3.0, 0.0, 0.0, spawned)
call(SetBool, "/airloom/pause", data=True)
call(Delete, "/airloom/delete", name=spawned)
call(SetBool, "/airloom/pause", data=False)
now = clock()
found["deletes"] = until(lambda: clock() > now + 200_000_000)
found["deletes"] &= any(is_silent(f"/{spawned}/state") for _ in range(100))
now = clock()
found["begins anew"] = call(Trigger, "/airloom/reset").success and until(lambda: clock() < now)
print(json.dumps(found), flush=True)
