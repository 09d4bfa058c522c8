"""A height controller outside Airloom, in plain Python: one round trip of JSON a turn.

airloom serve hover --set systems={} --set vehicles.cf.controller=null --socket airloom.sock
python controller.py airloom.sock
"""

import json
import socket
import sys
from math import sqrt

HEIGHT, FREQUENCY = 1.0, 2.0  # m, rad/s
link = socket.socket(socket.AF_UNIX)
link.connect(sys.argv[1] if len(sys.argv) > 1 else "airloom.sock")
replies = link.makefile("rb")


def ask(method, **fields):
    link.sendall(json.dumps({"method": method, **fields}).encode() + b"\n")
    reply = json.loads(replies.readline())
    if not reply["ok"]:
        raise SystemExit(reply["error"])
    return reply


cf = ask("describe")["vehicles"]["cf"]
seen = ask("reset", seed=1, observe="cf")
while seen["time"] < 6.0:
    z, climb = seen["vehicles"]["cf"]["position"][2], seen["vehicles"]["cf"]["velocity"][2]
    acceleration = FREQUENCY**2 * (HEIGHT - z) - 2 * FREQUENCY * climb
    thrust = max(cf["mass"] * (cf["gravity"] + acceleration), 0.0)
    speeds = [sqrt(thrust / sum(cf["thrust_constants"]))] * cf["rotors"]
    seen = ask("step", ticks=4, rotors={"vehicle": "cf", "speeds": speeds}, observe="cf")
print(f"height {seen['vehicles']['cf']['position'][2]:.3f} m, state {ask('hash')['hash']}")
ask("close")
