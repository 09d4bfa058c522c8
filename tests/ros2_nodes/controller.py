"""A controller in lockstep, which thinks for as long as it likes: `controller.py SEED SECONDS`."""

import math
import random
import sys
import time

import rclpy
from geometry_msgs.msg import PoseStamped
from nav_msgs.msg import Odometry

random.seed(int(sys.argv[1]))
rclpy.init()
node = rclpy.create_node("controller")
goals = node.create_publisher(PoseStamped, "/cf/goal_pose", 10)


def answer(state):
    time.sleep(random.random() * float(sys.argv[2]))
    seconds = state.header.stamp.sec + 1e-9 * state.header.stamp.nanosec
    goal = PoseStamped()
    goal.pose.orientation.w, goal.pose.position.z = 1.0, 0.5
    goal.pose.position.x = 0.4 * math.sin(seconds) + 0.1 * state.pose.pose.position.z
    goals.publish(goal)


node.create_subscription(Odometry, "/cf/state", answer, 100)
rclpy.spin(node)
