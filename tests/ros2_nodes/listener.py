"""Counts what comes and what is missing: `listener.py TYPES COUNT TOPIC…`; tells in a line of JSON.

TYPES is one type for all topics, or one for each, with commas.

Headers' stamps are equally far apart if nothing is lost. It ends when each topic has told COUNT messages.
"""

import importlib
import json
import struct
import sys
import time
from itertools import pairwise

import rclpy
from rclpy.executors import SingleThreadedExecutor

msgtypes, count, *topics = sys.argv[1:]
stamps = {topic: [] for topic in topics}
largest = 0


def kind_of(msgtype):
    package, _, name = msgtype.split("/")
    return getattr(importlib.import_module(f"{package}.msg"), name)


def hear(topic, message):
    """Small ones come as bytes: to make objects of ten thousand a second is more than rclpy can do."""
    global largest
    if not isinstance(message, bytes):
        largest = max(largest, len(message.data))
        sec, nanosec = message.header.stamp.sec, message.header.stamp.nanosec
    else:
        sec, nanosec = struct.unpack_from("<iI", message, 4)
    stamps[topic].append(sec * 10**9 + nanosec)


rclpy.init()
node = rclpy.create_node("listener")
for number, topic in enumerate(topics):
    named = msgtypes.split(",")
    kind = kind_of(named[number % len(named)])
    raw = not hasattr(kind, "data")
    node.create_subscription(kind, topic, lambda message, t=topic: hear(t, message), 500, raw=raw)
executor = SingleThreadedExecutor()
executor.add_node(node)
end = time.monotonic() + 200.0
while min(map(len, stamps.values())) < int(count) and time.monotonic() < end:
    executor.spin_once(timeout_sec=0.5)
period = min((b - a for told in stamps.values() for a, b in pairwise(told)), default=1)
missing = sum((told[-1] - told[0]) // period + 1 - len(told) for told in stamps.values() if told)
print(
    json.dumps(
        {"heard": min(map(len, stamps.values())), "missing": missing, "largest": largest, "period": period / 1e9}
    )
)
