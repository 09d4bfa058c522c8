"""Record the flights anew, with a real autopilot: python record.py ardupilot, or px4. Needed when what the simulation
says has changed on purpose. All that was heard is kept, and one in a hundred of what was told.
"""

from __future__ import annotations

import gzip
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from runpy import run_path
from tempfile import TemporaryDirectory

import airloom as al
from airloom.autopilots.transcript import HEAD, NAME, Transcript

HERE = Path(__file__).parent
TOLD_APART = 100
INSTANCE = 72  # of PX4


def turns(sim: al.Simulation) -> Iterator[al.Simulation]:
    """The simulation as its own member, ten times a second."""
    while True:
        sim.run(until=sim.time + 0.1)
        yield sim


def fly(sim: al.Simulation) -> None:
    """By remote control as the scenario says, or led by the bundled ground station."""
    if sim.scenario.vehicles["drone"].autopilot.kind == "ardupilot":
        sim.run()
        return
    stations = run_path(str(Path(al.__file__).parent / "scenario/scenarios/autopilot/ground_station.py"))
    station = stations["Station"](turns(sim), stations["PX4"], INSTANCE, ["drone"])
    station.take_off(3.0)
    station.fly_to({"drone": (4.0, 2.0, 3.0)}, "ahead")


def record(name: str) -> None:
    with TemporaryDirectory() as folder:
        overrides = {"vehicles.drone.autopilot.transcript": True}
        with al.Simulation.load(HERE / name / "flight.yaml", overrides=overrides) as sim:
            sim.member_logs = Path(folder)
            fly(sim)
        transcript = Transcript(Path(folder) / "autopilot-drone" / NAME)
        records = [json.dumps(transcript.about).encode() + b"\n"]
        told = 0
        for message in transcript:
            told += not message.heard
            if message.heard or told % TOLD_APART == 1:
                records.append(HEAD.pack(message.time_ns, message.heard, len(message.data)) + message.data)
        (HERE / name / NAME).write_bytes(gzip.compress(b"".join(records), mtime=0))


if __name__ == "__main__":
    record(sys.argv[1])
