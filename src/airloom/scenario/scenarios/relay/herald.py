"""The herald hears from the chief, lets its own two follow a second apart, and passes the word on to the wing."""

from __future__ import annotations

import threading
import time
from queue import Queue

from airloom import PositionYaw
from airloom.member import current

BEHIND = 1.0  # s
HIGHER = 0.5  # m, so that nobody meets anybody at the crossing

me = current()


def follow(drone: str, heard: Queue[bytes], pass_on) -> None:
    """Fly a second later where the one before was told to fly, and half a metre higher."""
    while True:
        time.sleep(BEHIND if heard.empty() else 0.1)
        x, y, z = map(float, heard.get().split())
        me.command(drone, PositionYaw((x, y, z + HIGHER)))
        pass_on(f"{x:.6f} {y:.6f} {z + HIGHER:.6f}".encode())


first: Queue[bytes] = Queue()
second: Queue[bytes] = Queue()
threading.Thread(target=follow, args=("drone_1", first, second.put), daemon=True).start()
threading.Thread(target=follow, args=("drone_2", second, lambda word: me.send("wing", word)), daemon=True).start()
while True:
    for letter in me.letters():
        first.put(letter.content)
    time.sleep(0.05)
