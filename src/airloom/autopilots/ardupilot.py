"""ArduPilot SITL over its JSON interface, in lockstep: one datagram of outputs, one reply with the state, one frame."""

from __future__ import annotations

import socket
import time
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from pydantic import Field

from airloom.autopilots import ardupilot_wire as wire
from airloom.autopilots.autopilot import AutopilotFailed
from airloom.autopilots.lockstep import FILE, RESULT, address
from airloom.autopilots.programs import Program, ProgramAutopilot, ProgramParameters, find_program
from airloom.loom.line import set_kernel_timeouts

PORT, PORTS_APART = 9002, 10
LOOK = 0.2  # s between two looks whether it is still alive
ADVICE = (
    "Build ArduPilot's target 'copter' for the board 'sitl', and name the program by `binary`, by the variable "
    "AIRLOOM_ARDUCOPTER or in the PATH"
)
USUAL = ("~/ardupilot/build/sitl/bin/arducopter", "ardupilot/build/sitl/bin/arducopter")
DEFAULTS = "Tools/autotest/default_params/copter.parm"
"""In ArduPilot's sources, seen from where they are built."""

FRAMES: dict[str, tuple[int, int]] = {"quad_x": (1, 1), "quad_plus": (1, 0), "hexa_x": (2, 1)}
"""FRAME_CLASS and FRAME_TYPE."""


class ArduPilotParameters(ProgramParameters):
    frame: str = Field("quad_x", description="one of " + ", ".join(FRAMES))
    outputs: tuple[int, int] = Field((1000, 2000), description="at rest and at full speed, µs")
    speedup: float = Field(100.0, gt=0, description="ArduPilot's own limit, × real time")


class ArduPilot(ProgramAutopilot):
    """ArduPilot SITL (arducopter) over its JSON interface, in lockstep."""

    Parameters: ClassVar[type[ArduPilotParameters]] = ArduPilotParameters
    parameters: ArduPilotParameters
    needs = ("imu",)
    tell, hear = wire.tell, wire.hear

    def open(self, folder: Path) -> None:
        self._listen()
        if not self.parameters.attach:
            self.program = self._started(folder)
        self._fill_wire()
        self._meet()

    def _fill_wire(self) -> None:
        self._literals, self._ends = wire.literals(wire.TEMPLATE + "}\n")
        self._numbers = np.zeros(wire.NUMBERS)
        self._reply, self._packet = np.zeros(wire.LONGEST_REPLY, np.uint8), np.zeros(wire.LONGEST_PACKET, np.uint8)
        self._motors = self.outputs_of_rotors()
        row = self.wire
        row[FILE], row[wire.LAST_FRAME] = self._line.fileno(), -1
        row[wire.LITERALS], row[wire.ENDS], row[wire.PIECES] = (
            address(self._literals),
            address(self._ends),
            self._ends.size,
        )
        row[wire.NUMBERS_OF], row[wire.COUNT] = address(self._numbers), self._numbers.size
        row[wire.REPLY], row[wire.PACKET] = address(self._reply), address(self._packet)
        row[wire.MOTORS], row[wire.ROTORS] = address(self._motors), self._motors.size
        row[wire.LOWEST], row[wire.HIGHEST] = self.parameters.outputs

    # -- frames ------------------------------------------------------------------------------------------------------

    def listen_on(self) -> None:
        """Nothing, nonsense or a repeated frame has come; who repeats a frame has not got the reply."""
        deadline = time.monotonic() + self.parameters.timeout
        while (result := int(self.wire[RESULT])) < 0:
            if result == wire.REPEATED:
                self._line.send(self._reply[: self.wire[wire.SIZE]].data)
            elif result == wire.NOT_HEARD:
                self.must_be_alive()
            if time.monotonic() > deadline:
                raise AutopilotFailed(f"did not answer within {self.parameters.timeout:g} s")
            self.hear_again()

    # -- meeting and parting -----------------------------------------------------------------------------------------

    def _listen(self) -> None:
        port = PORT + PORTS_APART * self.instance
        self._line = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        try:
            self._line.bind(("127.0.0.1", port))
        except OSError as error:
            raise AutopilotFailed(
                f"cannot be listened to: UDP port {port}: {error.strerror}; `instance` chooses another"
            ) from None
        set_kernel_timeouts(self._line, LOOK)

    def _meet(self) -> None:
        """Its first datagram tells where it is."""
        deadline = time.monotonic() + self.parameters.start_timeout
        while True:
            try:
                data, sender = self._line.recvfrom(wire.LONGEST_PACKET)
            except BlockingIOError:
                self.must_be_alive()
                if time.monotonic() > deadline:
                    raise AutopilotFailed(f"has not spoken within {self.parameters.start_timeout:g} s") from None
                continue
            packet = np.frombuffer(data.ljust(wire.LONGEST_PACKET, b"\0"), np.uint8)
            if (frame := wire.frame_count(packet, len(data), -1)) >= 0:
                self.wire[wire.LAST_FRAME] = frame
                self._line.connect(sender)
                return

    def _started(self, folder: Path) -> Program:
        wanted = self.parameters
        binary = find_program(wanted.binary, "AIRLOOM_ARDUCOPTER", "arducopter", USUAL, ADVICE)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "airloom.parm").write_text("".join(f"{name} {value:g}\n" for name, value in self._params().items()))
        defaults = [path for path in (parent / DEFAULTS for parent in binary.parents) if path.is_file()][:1]
        origin = self.sim.scenario.world.origin
        home = f"{origin.latitude:.8f},{origin.longitude:.8f},{origin.altitude:g},0"
        command: list[Any] = [
            binary, "--model", "JSON:127.0.0.1", f"-I{self.instance}", "-w", "--speedup", f"{wanted.speedup:g}",
            "--serial0", "tcp:0", "--home", home, "--sysid", self.instance + 1,
            "--defaults", ",".join(map(str, [*defaults, folder / "airloom.parm"])),
        ]  # fmt: skip
        return Program(command, folder)

    def _params(self) -> dict[str, float]:
        if self.parameters.frame not in FRAMES:
            raise AutopilotFailed(f"knows no frame '{self.parameters.frame}': {', '.join(FRAMES)}")
        kind, layout = FRAMES[self.parameters.frame]
        return {"FRAME_CLASS": kind, "FRAME_TYPE": layout, **self.parameters.params}

    def close(self) -> None:
        self._line.close()
        super().close()
