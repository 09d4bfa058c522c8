"""Hardware in the loop: a flight controller board flies the vehicle over a MAVLink line, in real time."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import Field, field_validator

from airloom.autopilots import hil_wire as wire
from airloom.autopilots import mavlink_wire as mavlink
from airloom.autopilots.autopilot import Autopilot, AutopilotFailed, AutopilotParameters
from airloom.autopilots.board_lines import line_to
from airloom.autopilots.readings import find_readings, table_of_readings
from airloom.autopilots.sensor_messages import MOST_VALUES
from airloom.autopilots.wall_clock import BEAT, report
from airloom.basics.clock import NS_PER_SECOND
from airloom.engines.lockstep import FILE, RESULT, address

FASTEST = 500.0  # Hz
RETRY = 0.2  # s between two tries to open a line that was lost
SYSTEM, COMPONENT = 1, 200  # as whom simulators speak to a board


class HilParameters(AutopilotParameters):
    line: str = Field(description="to the board: udp:HOST:PORT or serial:DEVICE:BAUD")
    own_port: int = Field(0, ge=0, le=65535, description="UDP port that the board answers to; any if 0")
    rate: float = Field(FASTEST, gt=0, le=FASTEST, description="frames a second, Hz")
    timeout: float = Field(0.5, gt=0, description="silence of the board after which its rotors stop, s")
    start_timeout: float = Field(10.0, gt=0, description="time until it must have spoken, s")
    on_failure: Literal["stop", "continue"] = Field(
        "continue", description="of a silent board: end the run, or go on with rotors at rest until it speaks again"
    )

    @field_validator("line")
    @classmethod
    def _is_a_line(cls, text: str) -> str:
        line_to(text)
        return text


class Hil(Autopilot):
    """A flight controller board over UDP or a serial line, in real time: hardware in the loop."""

    Parameters: ClassVar[type[HilParameters]] = HilParameters
    parameters: HilParameters
    needs = ("imu",)
    is_live = True
    tell, hear = wire.tell, wire.hear

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._line = line_to(self.parameters.line, self.parameters.own_port)
        self._beat = np.zeros(BEAT, np.int64)
        self._silences = self._losses = 0

    def open(self, folder: Path) -> None:
        self._fill_wire()
        self._before = self.wire.copy()
        self.wire[FILE] = self._line.open()

    def meet(self) -> None:
        """A board may come later; the vehicle stands until it does."""

    def _fill_wire(self) -> None:
        wanted, row, airframe = self.parameters, self.wire, self.vehicle.airframe
        self._motors = np.array(self.given_motors() or range(1, len(airframe.rotors) + 1)) - 1
        self._mix = wire.mix_of_controls(airframe)
        self._sensors = table_of_readings()
        self._speaker, self._found = np.array([SYSTEM, COMPONENT, 0]), np.zeros(mavlink.FOUND, np.int64)
        self._values = np.zeros(MOST_VALUES)
        self._data, self._stream = np.zeros(wire.LONGEST_DATA, np.uint8), np.zeros(wire.LONGEST_STREAM, np.uint8)
        row[FILE], row[wire.HANGS_UP] = -1, self._line.hangs_up
        row[wire.SPOKE] = self.sim.tick
        row[wire.START_PATIENCE] = self._ticks(wanted.start_timeout)
        row[wire.PATIENCE] = self._ticks(wanted.timeout)
        row[wire.BEAT_AT], row[wire.SENSORS] = address(self._beat), address(self._sensors)
        row[wire.SPEAKER_AT], row[wire.FOUND_AT] = address(self._speaker), address(self._found)
        row[wire.VALUES], row[wire.MIX] = address(self._values), address(self._mix)
        row[wire.DATA], row[wire.STREAM] = address(self._data), address(self._stream)
        row[wire.MOTORS], row[wire.ROTORS] = address(self._motors), self._motors.size

    def _ticks(self, seconds: float) -> int:
        return round(seconds * NS_PER_SECOND / self.sim.step_ns)

    def settle(self) -> None:
        super().settle()
        find_readings(self._sensors, self.sim.fleet, self.vehicle)

    # -- when something goes wrong -----------------------------------------------------------------------------------

    def listen_on(self) -> None:
        result = self.wire[RESULT]
        if result == wire.LOST:
            self._reach_again()
        elif result == wire.SILENT:
            self._fall_silent()
        else:
            self._event("speaks again")

    def _reach_again(self) -> None:
        """A board that was unplugged, or starts again, gets its line back as soon as it is there."""
        if self.wire[FILE] >= 0:
            self._line.close()
            self.wire[FILE], self.wire[wire.WAITING] = -1, 0
            self._losses += 1
            self._event("is unplugged: its line hung up", "warning")
        else:
            with suppress(AutopilotFailed):
                self.wire[FILE] = self._line.open()
                self._event("is plugged in again")
        self.wire[wire.RETRY] = self.sim.tick + self._ticks(RETRY)

    def _fall_silent(self) -> None:
        seconds = (self.sim.tick - self.wire[wire.SPOKE]) * self.sim.step_ns / NS_PER_SECOND
        failure = f"has said nothing for {seconds:.3g} s{self._likely_cause()}"
        if self.parameters.on_failure == "stop":
            raise AutopilotFailed(failure)
        self._silences += 1
        self.vehicle.set_rotor_speeds([0.0] * self._motors.size)
        self._event(f"{failure}; its rotors stand still until it speaks again", "warning")

    def _likely_cause(self) -> str:
        """By what has come since it was silent last."""
        came, self._before = self.wire - self._before, self.wire.copy()
        if came[wire.OUTPUTS] or not came[wire.CAME]:
            return ""
        if came[wire.MESSAGES]:
            return " of rotors, though it speaks MAVLink: is HIL switched on (PX4: SYS_HITL 1)?"
        return ", for bytes come, but no MAVLink: is the baud rate right, and the line the board's?"

    def _event(self, text: str, level: str = "info") -> None:
        self.sim.event(self.vehicle.name, f"the board {text}", level)

    # -- meeting and parting -----------------------------------------------------------------------------------------

    def conclude(self) -> None:
        """Whoever has a board on the table may end the run in flight, but it must be there."""
        if self.wire[wire.IS_SILENT]:
            self.sim.fail(self.vehicle.name, "the board was silent when the run ended")

    def report(self) -> dict[str, Any]:
        """Times in seconds."""
        return {
            "lateness": report(self._beat), "told": int(self.wire[wire.SENT]), "dropped": int(self.wire[wire.DROPPED]),
            "outputs": int(self.wire[wire.OUTPUTS]), "silences": self._silences, "losses": self._losses,
            "longest_silence": float(self.wire[wire.LONGEST] * self.sim.step_ns / NS_PER_SECOND),
        }  # fmt: skip

    def close(self) -> None:
        self._line.close()
        self.wire[FILE] = -1
