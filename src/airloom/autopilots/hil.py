"""Hardware in the loop: a flight controller board that flies the simulated vehicle over a MAVLink line, in real time."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import Field, field_validator

from airloom.autopilots import hil_wire as wire
from airloom.autopilots import mavlink_wire as mav
from airloom.autopilots.autopilot import Autopilot, AutopilotFailed, AutopilotParameters
from airloom.autopilots.beat import Beat
from airloom.autopilots.board_lines import line_to
from airloom.autopilots.sensor_messages import SensorTable
from airloom.clock import NS_PER_SECOND

FASTEST = 500.0  # Hz
RETRY = 0.2  # s of wall time between two tries to open a line that was lost
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
    motors: list[int] | None = Field(
        None, description="for each rotor of the vehicle, in its order, the board's output that drives it, from 1"
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

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._line = line_to(self.parameters.line, self.parameters.own_port)
        self._start_counting()

    def _start_counting(self) -> None:
        wanted, step_ns = self.parameters, self.sim.step_ns
        self._beat = Beat(step_ns)
        self._state, self._board = np.zeros(wire.LINE, np.int64), np.zeros(wire.BOARD, np.int64)
        self._state[wire.FILE], self._state[wire.HANGS_UP] = -1, self._line.hangs_up
        self._board[wire.START_PATIENCE] = round(wanted.start_timeout * NS_PER_SECOND / step_ns)
        self._board[wire.PATIENCE] = round(wanted.timeout * NS_PER_SECOND / step_ns)
        self._silences = self._losses = 0
        self._was_told = np.zeros(wire.LINE, np.int64)
        self._tried = 0.0

    def open(self, folder: Path) -> None:
        self._start_counting()
        airframe = self.vehicle.airframe
        self._second = round(NS_PER_SECOND / self.sim.step_ns)
        self._motors = np.array(self.outputs_of_rotors(self.parameters.motors)) - 1
        self._most = np.array([rotor.max_speed for rotor in airframe.rotors])
        self._mix = wire.mix_of_controls(airframe)
        self._speeds = np.zeros(len(self._motors))
        self._table = SensorTable(self.sim, self.vehicle)
        self._speaker = np.array([SYSTEM, COMPONENT, 0])
        self._sensors, self._place, self._values = (np.zeros(wire.VALUES) for _ in range(3))
        self._told, self._heard = np.zeros(wire.LONGEST_FRAME, np.uint8), np.zeros(wire.BUFFER, np.uint8)
        self._found = np.zeros(mav.FOUND, np.int64)
        self._state[wire.FILE] = self._line.open()

    # -- frames ------------------------------------------------------------------------------------------------------

    def tell(self) -> None:
        beat, table = self._beat, self._table
        table.keep_up()
        wire.tell(
            self.sim.tick, self._second, self._state, beat.schedule, beat.sums, beat.histogram, table.table, table.rows,
            table.stamps, self._speaker, self._sensors, self._place, self._told,
        )  # fmt: skip

    def hear(self) -> None:
        found = wire.hear(
            self.sim.tick, self._state, self._board, self._heard, self._found, self._values, self._motors, self._most,
            self._mix, self._speeds,
        )  # fmt: skip
        if found == wire.LOST:
            self._reach_again()
        elif found == wire.SILENT:
            self._fall_silent()
        elif found == wire.BACK:
            self._event("speaks again", "info")
        self.vehicle.set_rotor_speeds(self._speeds)

    # -- when something goes wrong -----------------------------------------------------------------------------------

    def _reach_again(self) -> None:
        """A board that was unplugged, or starts again, gets its line back as soon as it is there."""
        if self._state[wire.FILE] >= 0:
            self._line.close()
            self._state[wire.FILE], self._state[wire.WAITING] = -1, 0
            self._losses += 1
            self._event("is unplugged: its line hung up", "warning")
        if (now := time.monotonic()) - self._tried > RETRY:
            self._tried = now
            try:
                self._state[wire.FILE] = self._line.open()
            except AutopilotFailed:
                return
            self._event("is plugged in again", "info")

    def _fall_silent(self) -> None:
        seconds = (self.sim.tick - self._board[wire.SPOKE]) / self._second
        why = f"has said nothing for {seconds:.3g} s{self._likely_cause()}"
        if self.parameters.on_failure == "stop":
            raise AutopilotFailed(why)
        self._silences += 1
        self._speeds[:] = 0.0
        self._event(f"{why}: its rotors stop until it speaks again", "warning")

    def _likely_cause(self) -> str:
        """By what has come since it was last silent."""
        came = self._state - self._was_told
        self._was_told = self._state.copy()
        if came[wire.OUTPUTS] or not came[wire.CAME]:
            return ""
        if came[wire.MESSAGES]:
            return " of its rotors, though it speaks MAVLink; is HIL switched on (PX4: SYS_HITL 1)?"
        return ", for bytes come, but no MAVLink; is the baud rate right, or another program on the line?"

    def _event(self, text: str, level: str) -> None:
        self.sim.event(self.vehicle.name, f"the board {text}", level)

    # -- meeting and parting -----------------------------------------------------------------------------------------

    def report(self) -> dict[str, Any]:
        state = {name: int(self._state[k]) for name, k in (("told", wire.TOLD), ("dropped", wire.DROPPED))}
        return {
            "lateness": self._beat.report(), **state, "outputs": int(self._state[wire.OUTPUTS]),
            "longest_silence": float(self._board[wire.LONGEST] * self.sim.step_ns / NS_PER_SECOND),
            "silences": self._silences, "losses": self._losses,
        }  # fmt: skip

    def close(self) -> None:
        self._line.close()
        self._state[wire.FILE] = -1
