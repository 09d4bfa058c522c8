"""A node that speaks our own types, built from the package that we ship: tells in a line of JSON what came of it."""

import json
import time

import rclpy
from airloom_interfaces.action import FollowPath
from airloom_interfaces.msg import ControlMode, Event, PositionYaw
from airloom_interfaces.srv import Delete, Spawn, StartMission, Step, SwitchMode
from geometry_msgs.msg import Point, Pose, PoseStamped, Vector3
from nav_msgs.msg import Odometry
from rclpy.action import ActionClient
from std_srvs.srv import SetBool

rclpy.init()
node = rclpy.create_node("pilot")
heard, events, progress = {}, [], []
node.create_subscription(Odometry, "/cf/state", lambda state: heard.update(state=state), 10)
node.create_subscription(Event, "/events", lambda event: events.append(event.text), 10)
commands = node.create_publisher(PositionYaw, "/cf/position_yaw/command", 10)
modes = node.create_publisher(ControlMode, "/cf/switch_mode", 10)
action = ActionClient(node, FollowPath, "/cf/follow_path")


def until(condition, seconds=60.0):
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        rclpy.spin_once(node, timeout_sec=0.05)
    return bool(condition())


def result_of(future):
    until(future.done)
    return future.result() if future.done() else None


def call(srvtype, service, **fields):
    client = node.create_client(srvtype, service)
    until(client.service_is_ready)
    return result_of(client.call_async(srvtype.Request(**fields)))


def place():
    return heard["state"].pose.pose.position


def path(*points):
    goal = FollowPath.Goal(speed=1.0)
    for x, y, z in points:
        pose = PoseStamped()
        pose.pose.position.x, pose.pose.position.y, pose.pose.position.z = float(x), float(y), float(z)
        goal.path.poses.append(pose)
    return goal


def fly(goal):
    return result_of(action.send_goal_async(goal, lambda told: progress.append(told.feedback.distance_remaining)))


found = {"finds the action": until(action.server_is_ready) and until(lambda: "state" in heard)}
until(lambda: commands.get_subscription_count() and modes.get_subscription_count())
modes.publish(ControlMode(mode=1))
again = node.create_timer(0.1, lambda: commands.publish(PositionYaw(position=Vector3(z=0.5))))
found["commands a place"] = until(lambda: place().z > 0.4)
node.destroy_timer(again)
found["switches by service"] = call(SwitchMode, "/cf/switch_mode", mode=ControlMode(mode=1)).success

handle = fly(path((0, 0, 0.5), (1.0, 0, 0.5)))
found["is accepted"] = handle.accepted
outcome = result_of(handle.get_result_async())
found["arrives"] = outcome.status == 4 and outcome.result.success and until(lambda: abs(place().x - 1.0) < 0.2)
found["hears how far it is"] = len(progress) > 2 and progress[0] > progress[-1]

handle = fly(path((1.0, 0, 0.5), (30, 0, 0.5)))
until(lambda: place().x > 1.5)
cancelled = result_of(handle.cancel_goal_async())
found["cancels"] = len(cancelled.goals_canceling) == 1
found["is told so"] = result_of(handle.get_result_async()).status == 5
found["refuses a path of one point"] = not fly(path((0, 0, 1))).accepted

found["pauses"] = call(SetBool, "/airloom/pause", data=True).success
found["steps"] = call(Step, "/airloom/step", ticks=5).success
spawned = call(Spawn, "/airloom/spawn", kind="crazyflie2", pose=Pose(position=Point(x=-3.0, z=0.02)))
found["spawns"] = spawned.success and bool(spawned.name)
found["deletes"] = call(Delete, "/airloom/delete", name=spawned.name).success
found["is told why not"] = "unicorn" in call(Spawn, "/airloom/spawn", kind="unicorn").message
found["goes on"] = call(SetBool, "/airloom/pause", data=False).success
found["starts a mission"] = call(StartMission, "/cf/start_mission", mission="- goto: [0, 0, 0.8]").success
found["hears events"] = until(lambda: any("path" in text for text in events))
print(json.dumps(found), flush=True)
