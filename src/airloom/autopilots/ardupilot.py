"""ArduPilot SITL over its JSON interface, in lockstep: one datagram of outputs, one reply with the state, one frame."""

from __future__ import annotations

import socket
import time
from collections.abc import Sequence
from functools import partial
from math import pi
from pathlib import Path
from typing import Annotated, Any, ClassVar

import numpy as np
from pydantic import Field, model_validator

from airloom.autopilots import ardupilot_wire as wire
from airloom.autopilots.autopilot import Autopilot, AutopilotFailed, AutopilotParameters
from airloom.autopilots.layouts import LAYOUTS, outputs_of_rotors
from airloom.autopilots.programs import Program, find_program
from airloom.autopilots.transcript import HEARD, TOLD, TranscriptWriter
from airloom.commands import CommandError
from airloom.loom.line import set_kernel_timeouts
from airloom.loom.sights import FleetSights
from airloom.plugin import Parameters
from airloom.sensors.imu import Imu
from airloom.sensors.rangefinder import Rangefinder
from airloom.sensors.sensor import DELAYED, READING

PORT, PORTS_APART = 9002, 10
LOOK = 0.2  # s between two looks whether it is still alive
ADVICE = (
    "Build ArduPilot's target 'copter' for the board 'sitl', and name the program by `binary`, by the variable "
    "AIRLOOM_ARDUCOPTER or in the PATH"
)
USUAL = ("~/ardupilot/build/sitl/bin/arducopter", "ardupilot/build/sitl/bin/arducopter")
DEFAULTS = "Tools/autotest/default_params/copter.parm"
"""In ArduPilot's sources, seen from where they are built."""

START_TIME = 1735689600  # s, of its clock and calendar: equal for all runs
LOOP_RATE, FRAMES_A_LOOP = 400.0, 1.8
"""ArduPilot's SCHED_LOOP_RATE, and how many times as many frames it needs."""
SIMULATED_RANGEFINDER, LOOKS_DOWN, LOOKS_AHEAD = 100, 25, 0  # RNGFND1_TYPE and RNGFND1_ORIENT
FORGIVEN = 1.0  # s of silence after which one that was attached may have been started again
Channel = Annotated[float, Field(ge=800, le=2200)]
Channels = Annotated[list[Channel], Field(min_length=1, max_length=wire.MOST_CHANNELS)]


class Sticks(Parameters):
    """Where the sticks and switches of a remote control are from a time on."""

    at: float = Field(ge=0, description="s")
    rc: Channels = Field(description="as many channels as at the start, µs")


class ArduPilotParameters(AutopilotParameters):
    binary: str | None = Field(None, description="the program arducopter; looked for if left out")
    attach: bool = Field(False, description="wait for one that somebody else starts, instead of starting it")
    instance: int | None = Field(None, ge=0, le=99, description="ArduPilot's -I; counted up if left out")
    frame: str | None = Field(None, description=f"{', '.join(LAYOUTS)}; the one that fits the rotors if left out")
    motors: list[int] | None = Field(
        None,
        description="for each rotor of the vehicle, in its order, ArduPilot's output that drives it, from 1; "
        "found by where the rotors are if left out",
    )
    outputs: tuple[float, float] = Field((1000.0, 2000.0), description="at rest and at full speed, µs")
    params: dict[str, float] = Field(default_factory=dict, description="ArduPilot's parameters by name")
    speedup: float = Field(100.0, gt=0, description="ArduPilot's own limit, × real time")
    rc: Channels | None = Field(None, description="channels of a remote control at the start, µs; none if left out")
    sticks: list[Sticks] = Field(default_factory=list, description="how the remote control is moved later")
    battery: float | None = Field(None, gt=0, description="voltage that ArduPilot is told, V; constant")

    @model_validator(mode="after")
    def _has_enough_frames(self) -> ArduPilotParameters:
        loop_rate = self.params.get("SCHED_LOOP_RATE", LOOP_RATE)
        if self.rate < FRAMES_A_LOOP * loop_rate:
            raise ValueError(
                f"rate: ArduPilot needs {FRAMES_A_LOOP:g} × SCHED_LOOP_RATE = {FRAMES_A_LOOP * loop_rate:g} frames a "
                f"second or more, got {self.rate:g}; raise rate or lower params.SCHED_LOOP_RATE"
            )
        return self

    @model_validator(mode="after")
    def _has_equal_sticks(self) -> ArduPilotParameters:
        channels = len(self.rc or ())
        for sticks in self.sticks:
            if len(sticks.rc) != channels:
                raise ValueError(f"sticks: {len(sticks.rc)} channels at {sticks.at:g} s, but rc has {channels}")
        return self


class ArduPilot(Autopilot):
    """ArduPilot SITL (arducopter) over its JSON interface, in lockstep."""

    Parameters: ClassVar[type[ArduPilotParameters]] = ArduPilotParameters
    parameters: ArduPilotParameters
    needs = ("imu",)

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._instance = self.number if self.parameters.instance is None else self.parameters.instance
        self._program: Program | None = None
        self._door: socket.socket | None = None
        self._transcript: TranscriptWriter | None = None

    def open(self, folder: Path) -> None:
        self._listen()
        self._warn_of_a_slow_imu()
        self._frame_of_rotors, motors = self._layout()
        if not self.parameters.attach:
            self._program = self._started(folder)
        self._transcript = self.new_transcript(folder)
        self._sights = FleetSights(self.sim)
        self._sights.number(self.vehicle)
        self._prepare_reply()
        self._packet = np.zeros(wire.LONGEST_PACKET, np.uint8)
        self._frame = -1
        self._motors = np.array(motors) - 1
        self._most = np.array([rotor.max_speed for rotor in self.vehicle.airframe.rotors])
        self._speeds = np.zeros(len(self._motors))

    def _prepare_reply(self) -> None:
        wanted = self.parameters
        rc, battery = wanted.rc or [], [] if wanted.battery is None else [wanted.battery]
        ranges = self._rangefinders()
        template = wire.reply_template(len(rc), bool(battery), len(ranges))
        self._literals, self._ends = wire.literals(template)
        self._numbers = np.array([*[0.0] * wire.NUMBERS, *rc, *battery, *[0.0] * len(ranges)])
        self._reply, self._size = np.zeros(wire.LONGEST_REPLY, np.uint8), 0
        self._farthest = np.array([sensor.parameters.max_distance for sensor in ranges])
        self._ranges, self._edition = np.zeros(len(ranges), np.int64), -1
        for sticks in wanted.sticks:
            self.sim.call_at(sticks.at, partial(setattr, self, "rc", sticks.rc))

    def _rangefinders(self) -> list[Rangefinder]:
        """Those of the vehicle that ArduPilot has room for, as they are now."""
        own = [s for s in self.sim.fleet.sensors if s.vehicle == self.vehicle.name and isinstance(s, Rangefinder)]
        return own[: wire.MOST_RANGES]

    @property
    def rc(self) -> list[float]:
        """Channels of the remote control, µs."""
        return self._numbers[wire.NUMBERS :][: len(self.parameters.rc or ())].tolist()

    @rc.setter
    def rc(self, channels: Sequence[float]) -> None:
        if len(channels) != len(self.rc) or not all(800 <= channel <= 2200 for channel in channels):
            raise CommandError(
                f"the remote control of {self.vehicle.name} takes as many channels as its autopilot's `rc` in the "
                f"scenario ({len(self.rc)}), each of 800 to 2200 µs, got {list(channels)}"
            )
        self._numbers[wire.NUMBERS :][: len(channels)] = channels

    # -- frames ------------------------------------------------------------------------------------------------------

    def tell(self) -> None:
        sights = self._sights
        sights.keep_up()
        if sights.edition != self._edition:
            self._find_ranges()
        numbers = self._numbers
        wire.gather(sights.memory, sights.places[0], self.sim.time, self._ranges, self._farthest, numbers)
        self._size = wire.write(self._literals, self._ends, numbers, self._reply)
        wire.tell(self._line.fileno(), self._reply, self._size)
        if self._transcript is not None:
            self._transcript.note(self.sim.time_ns, TOLD, self._reply, self._size)

    def _find_ranges(self) -> None:
        """Where the readings of rangefinders lie."""
        fleet, self._edition = self.sim.fleet, self._sights.edition
        for k, sensor in enumerate(self._rangefinders()[: self._ranges.size]):
            row = fleet.sensing.rows[fleet.sensor_index[sensor.vehicle, sensor.name]]
            self._ranges[k] = row.ctypes.data + 8 * (READING if sensor.parameters.delay == 0 else DELAYED)

    def hear(self) -> None:
        frame = wire.hear(self._line.fileno(), self._packet, self._frame)
        if frame < 0:
            frame = self._listen_on(frame)
        self._frame = frame
        self._note_packet()
        lowest, highest = self.parameters.outputs
        wire.outputs_to_speeds(self._packet, self._motors, lowest, highest, self._most, self._speeds)
        self.vehicle.set_rotor_speeds(self._speeds)

    def _note_packet(self) -> None:
        if self._transcript is not None:
            self._transcript.note(self.sim.time_ns, HEARD, self._packet, wire.packet_size(self._packet))

    def _listen_on(self, found: int) -> int:
        """Nothing, nonsense or a repeated frame has come; who repeats a frame has not got the reply."""
        began = time.monotonic()
        nonsense = ""
        while found < 0:
            silence = time.monotonic() - began
            if found == wire.REPEATED:
                wire.tell(self._line.fileno(), self._reply, self._size)
            elif found == wire.NONSENSE:
                nonsense = f"; {_what_came(self._packet)}"
            elif found == wire.NOT_HEARD:
                self._must_be_alive()
                if self._door and silence > FORGIVEN and (frame := self._one_started_again(self._door)) >= 0:
                    return frame
            if silence > self.parameters.timeout:
                raise AutopilotFailed(f"did not answer within {self.parameters.timeout:g} s{nonsense}")
            found = wire.hear(self._line.fileno(), self._packet, self._frame)
        return found

    def _one_started_again(self, door: socket.socket) -> int:
        """The count of the frame of one that speaks from elsewhere, now in the packet and the one that is talked to."""
        while True:
            try:
                data, sender = door.recvfrom(wire.LONGEST_PACKET)
            except BlockingIOError:
                return wire.NOT_HEARD
            self._packet[: len(data)] = np.frombuffer(data, np.uint8)
            if (frame := wire.frame_count(self._packet, len(data), -1)) >= 0:
                self._line.connect(sender)
                self.sim.event(self.vehicle.name, "its autopilot was started again", level="warning")
                return frame

    def _must_be_alive(self) -> None:
        if self._program is not None and (how := self._program.ended):
            raise AutopilotFailed(how)

    # -- meeting and parting -----------------------------------------------------------------------------------------

    def _listen(self) -> None:
        port = PORT + PORTS_APART * self._instance
        self._line = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        try:
            self._line.bind(("127.0.0.1", port))
        except OSError as error:
            raise AutopilotFailed(
                f"cannot be listened to: UDP port {port}: {error.strerror}; `instance` chooses another"
            ) from None
        set_kernel_timeouts(self._line, LOOK)
        if self.parameters.attach:
            self._door = self._second_socket(port)

    def _second_socket(self, port: int) -> socket.socket:
        """Gets what others send than the one that the first is connected to. Both share the port from now on only, so
        that one in use is noticed.
        """
        door = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        for each in (self._line, door):
            each.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        door.setblocking(False)
        door.bind(("127.0.0.1", port))
        return door

    def meet(self) -> None:
        """Its first datagram tells where it is."""
        deadline = time.monotonic() + self.parameters.start_timeout
        nonsense = ""
        while True:
            try:
                data, sender = self._line.recvfrom(wire.LONGEST_PACKET)
            except BlockingIOError:
                self._must_be_alive()
                data = b""
            self._packet[: len(data)] = np.frombuffer(data, np.uint8)
            if data and (frame := wire.frame_count(self._packet, len(data), -1)) >= 0:
                self._frame = frame
                self._line.connect(sender)
                self._note_packet()
                return
            if data:
                nonsense = f"; {_what_came(self._packet)}"
            if time.monotonic() > deadline:
                raise AutopilotFailed(f"has not spoken within {self.parameters.start_timeout:g} s{nonsense}")

    def _started(self, folder: Path) -> Program:
        wanted = self.parameters
        binary = find_program(wanted.binary, "AIRLOOM_ARDUCOPTER", "arducopter", USUAL, ADVICE)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "airloom.parm").write_text("".join(f"{name} {value:g}\n" for name, value in self._params().items()))
        defaults = [path for path in (parent / DEFAULTS for parent in binary.parents) if path.is_file()][:1]
        origin = self.sim.scenario.world.origin
        home = f"{origin.latitude:.8f},{origin.longitude:.8f},{origin.altitude:g},0"
        command: list[Any] = [
            binary, "--model", "JSON:127.0.0.1", f"-I{self._instance}", "-w", "--speedup", f"{wanted.speedup:g}",
            "--serial0", "tcp:0", "--home", home, "--sysid", self._instance + 1, "--start-time", START_TIME,
            "--defaults", ",".join(map(str, [*defaults, folder / "airloom.parm"])),
        ]  # fmt: skip
        return Program([str(part) for part in command], folder)

    def _params(self) -> dict[str, float]:
        layout = LAYOUTS[self._frame_of_rotors]
        params: dict[str, float] = {"FRAME_CLASS": layout.frame_class, "FRAME_TYPE": layout.frame_type}
        for k, sensor in enumerate(self._rangefinders(), 1):
            p = sensor.parameters
            params[f"RNGFND{k}_TYPE"] = SIMULATED_RANGEFINDER
            params[f"RNGFND{k}_ORIENT"] = LOOKS_DOWN if p.pitch > pi / 4 else LOOKS_AHEAD
            params[f"RNGFND{k}_MIN_CM"], params[f"RNGFND{k}_MAX_CM"] = 100 * p.min_distance, 100 * p.max_distance
        return {**params, **self.parameters.params}

    def _layout(self) -> tuple[str, list[int]]:
        """The frame, and for each rotor the output that drives it."""
        given, rotors = self.parameters.motors, self.vehicle.airframe.rotors
        frame = self.parameters.frame
        if frame is not None and frame not in LAYOUTS:
            raise AutopilotFailed(f"knows no frame '{frame}': {', '.join(LAYOUTS)}")
        if given is not None and sorted(given) != list(range(1, len(rotors) + 1)):
            raise AutopilotFailed(f"needs `motors` with each of 1 to {len(rotors)} once, got {given}")
        for name in [frame] if frame else LAYOUTS:
            found = given if given and frame else outputs_of_rotors(LAYOUTS[name], rotors)
            if found is not None:
                return name, given or found
        raise AutopilotFailed(
            f"finds no rotors of frame {frame or ' or '.join(LAYOUTS)} on this vehicle, by their bearings and the ways "
            "they turn; move them, or name `frame` and `motors`"
        )

    def _warn_of_a_slow_imu(self) -> None:
        rates = [s.rate for s in self.sim.fleet.sensors if s.vehicle == self.vehicle.name and isinstance(s, Imu)]
        if rates and max(rates) < self.parameters.rate:
            rate = self.parameters.rate
            text = (
                f"its autopilot is told each reading of the IMU {rate / max(rates):.3g} times: give the IMU its rate "
                f"of {rate:g} Hz, got {max(rates):g} Hz"
            )
            self.sim.event(self.vehicle.name, text, level="warning")

    def close(self) -> None:
        self._line.close()
        if self._door is not None:
            self._door.close()
        if self._transcript is not None:
            self._transcript.close()
        if self._program is not None:
            self._program.end()
            self._program = None


def _what_came(packet: np.ndarray) -> str:
    magic = int(packet[0]) | int(packet[1]) << 8
    return (
        f"what came is not of ArduPilot's JSON interface: it begins with {magic} instead of {wire.MAGIC} or "
        f"{wire.MAGIC_32}, or has another size"
    )
