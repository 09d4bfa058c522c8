"""A ground station that hands a plan of QGroundControl to ArduPilot, and lets it fly: `python plan_station.py FILE`."""

from __future__ import annotations

import json
import sys
from math import nan
from pathlib import Path

import airloom

sys.path.insert(0, str(Path(airloom.__file__).parent / "scenario/scenarios/autopilot"))

from ground_station import ArduPilot, Station, mav

AUTO = 3


class Planned(ArduPilot):
    """Told its plan by MAVLink's mission protocol: it asks for one item after the other. The first is its home."""

    plan: dict
    pulses: tuple[int, ...] = ()

    def listen(self, now: float) -> None:
        super().listen(now)
        for kind in ("MISSION_REQUEST_INT", "MISSION_REQUEST"):
            if request := self.seen.pop(kind, None):
                self._tell_item(request.seq)
        if outputs := self.seen.pop("SERVO_OUTPUT_RAW", None):
            pulses = (outputs.servo8_raw,)
            if pulses != self.pulses:
                self.pulses = pulses
                print("pump", pulses[0], *self.position, flush=True)

    def upload(self) -> None:
        self.line.mav.mission_count_send(self.system, 1, len(self.plan["items"]) + 1)
        self.line.mav.request_data_stream_send(self.system, 1, mav.MAV_DATA_STREAM_RC_CHANNELS, 10, 1)

    def _tell_item(self, number: int) -> None:
        home = {"frame": 0, "command": 16, "params": [0, 0, 0, 0, *self.plan["plannedHomePosition"]]}
        item = [home, *self.plan["items"]][number]
        *numbers, x, y, z = (nan if value is None else value for value in item["params"])
        self.line.mav.mission_item_int_send(
            self.system, 1, number, item["frame"], item["command"], 0, 1, *numbers, round(x * 1e7), round(y * 1e7), z
        )

    @property
    def has_plan(self) -> bool:
        answer = self.seen.get("MISSION_ACK")
        if answer is not None and answer.type != mav.MAV_MISSION_ACCEPTED:
            sys.exit(f"the plan was refused: {mav.enums['MAV_MISSION_RESULT'][answer.type].name}")
        return answer is not None

    def begin(self) -> None:
        self._choose_mode(AUTO)
        self.command(mav.MAV_CMD_MISSION_START)


if __name__ == "__main__":
    from airloom.member import join

    Planned.plan = json.loads(Path(sys.argv[1]).read_text())["mission"]
    with join() as me:
        station = Station(me, Planned)
        station.wait(lambda drone: drone.is_ready, "waiting until it is known where it is", 120)
        station.tell(Planned.upload)
        station.wait(lambda drone: drone.has_plan, "handing over the plan", 20)
        station.tell(Planned.guide)
        station.wait(lambda drone: drone.is_guided, "guided", 10)
        station.tell(lambda drone: drone.command(mav.MAV_CMD_COMPONENT_ARM_DISARM, 1))
        station.wait(lambda drone: drone.is_armed, "arming", 10)
        station.tell(Planned.begin)
        station.wait(lambda drone: drone.position[2] > 5.0, "take-off", 30)
        station.wait(lambda drone: not drone.is_armed, "flying the plan", 240)
        print("landed", flush=True)
