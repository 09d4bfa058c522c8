"""Record the flight anew, with a real ArduPilot: python record.py. Needed when what the simulation says has changed on
purpose. All that was heard is kept, and one in a hundred of the replies.
"""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from tempfile import TemporaryDirectory

import airloom as al
from airloom.autopilots.transcript import HEAD, NAME, Transcript

HERE = Path(__file__).parent
REPLIES_APART = 100


def record() -> None:
    with TemporaryDirectory() as folder:
        with al.Simulation.load(HERE / "flight.yaml", overrides={"vehicles.drone.autopilot.transcript": True}) as sim:
            sim.member_logs = Path(folder)
            sim.run()
        transcript = Transcript(Path(folder) / "autopilot-drone" / NAME)
        records = [json.dumps(transcript.about).encode() + b"\n"]
        replies = 0
        for message in transcript:
            replies += not message.heard
            if message.heard or replies % REPLIES_APART == 1:
                records.append(HEAD.pack(message.time_ns, message.heard, len(message.data)) + message.data)
        (HERE / NAME).write_bytes(gzip.compress(b"".join(records), mtime=0))


if __name__ == "__main__":
    record()
