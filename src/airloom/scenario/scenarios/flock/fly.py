"""Fly one vehicle of a flock, or several, each by its own sensor and its own radio.

It does what the system `flock` does, in a process of its own: `python fly.py SCENARIO`, where SCENARIO is a file or the
name of a bundled scenario whose `systems.flock`, enabled or not, says how the flock flies.
"""

from __future__ import annotations

import sys

from airloom import VelocityYawRate
from airloom.member import join
from airloom.swarm import Flocking, flock_in

flock, place_of = flock_in(sys.argv[1])

with join() as me:
    names = sorted(me.vehicles)
    for turn in me:
        if turn.nodes:  # told once, in the first turn
            logic = Flocking(flock, names, turn.nodes.all)
        for k, name in enumerate(names):
            if reading := turn.readings.get((name, flock.sensor)):
                logic.measured(k, reading.time_ns, place_of(reading.numbers))
            packets = turn.radio(name).receive()
            logic.hear([k] * len(packets), packets)
        velocities = logic.steer(turn.time_ns)
        for k, name in enumerate(names):
            for word in logic.words(k):
                turn.radio(name).send(word)
            if logic.stopped[k]:
                turn.kill(name)
            elif turn.time >= flock.start:
                turn.command(name, VelocityYawRate(tuple(velocities[k])))
