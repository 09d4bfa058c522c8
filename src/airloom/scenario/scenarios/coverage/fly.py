"""Fly one vehicle of a coverage, or several, and be its base, each by its own sensor and its own radio.

It does what the system `coverage` does, in processes of their own: `python fly.py SCENARIO`, where SCENARIO is a file
or the name of a bundled scenario whose `systems.coverage`, enabled or not, says what is covered, and how.
"""

from __future__ import annotations

import sys

from airloom import VelocityYawRate
from airloom.member import join
from airloom.swarm import Covering, area_of, base_of, coverage_in

coverage, scenario, place_of = coverage_in(sys.argv[1])
station = coverage.base or ""

with join() as me:
    names, base = sorted(me.vehicles), None
    for turn in me:
        if turn.nodes:  # told once, in the first turn
            logic = Covering(coverage, area_of(coverage, scenario), names, turn.nodes.all)
            base = base_of(coverage, scenario, turn.nodes.all) if station in turn.nodes.own else None
        for k, name in enumerate(names):
            if reading := turn.readings.get((name, coverage.sensor)):
                logic.measured(k, reading.time_ns, place_of(reading.numbers))
            packets = turn.radio(name).receive()
            logic.hear([k] * len(packets), packets)
        velocities = logic.steer(turn.time_ns)
        for k, name in enumerate(names):
            for word in logic.words(k):
                turn.radio(name).send(word)
            if logic.stopped[k]:
                turn.kill(name)
            elif turn.time >= coverage.start:
                turn.command(name, VelocityYawRate(tuple(velocities[k])))
        if base is not None:
            for report in base.hear(turn.radio(station).receive(), turn.time_ns):
                print(report)
            for word in base.words(turn.time_ns):
                turn.radio(station).send(word)
