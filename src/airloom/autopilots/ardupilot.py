"""ArduPilot SITL over its JSON interface, in lockstep: one datagram of outputs, one reply with the state, one frame."""

from __future__ import annotations

import shlex
import socket
import time
from collections.abc import Iterator, Sequence
from functools import partial
from math import inf, pi
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import numpy as np
from pydantic import Field, model_validator

from airloom.autopilots import ardupilot_wire as wire
from airloom.autopilots.ardupilot_faults import OWN
from airloom.autopilots.ardupilot_line import ArduPilotLine
from airloom.autopilots.ardupilot_names import both_generations
from airloom.autopilots.ardupilot_outputs import outputs_of
from airloom.autopilots.ardupilot_programs import PROGRAMS, ProgramName, program_for
from airloom.autopilots.ardupilot_talk import Talk
from airloom.autopilots.autopilot import AutopilotFailed
from airloom.autopilots.layouts import LAYOUTS
from airloom.autopilots.programs import Program, ProgramAutopilot, ProgramParameters, digits, find_program
from airloom.autopilots.pulses import Outputs, table_of
from airloom.autopilots.relay import FIRST_PORT, PERIOD, PERIOD_ALONE, PORTS_APART, Relay
from airloom.autopilots.sub_outputs import FRAMES
from airloom.autopilots.transcript import HEARD, note
from airloom.commands import CommandError
from airloom.compiled import rows as row
from airloom.engines.lockstep import BLOCK, FILE, LANE, RESULT, address
from airloom.keeper import on_loopback
from airloom.loom.line import set_kernel_timeouts
from airloom.plugin import Parameters
from airloom.sensors.air_data import Airspeed
from airloom.sensors.battery import CURRENT, VOLTAGE, BatterySensor
from airloom.sensors.imu import Imu
from airloom.sensors.rangefinder import Rangefinder
from airloom.sensors.sensor import Sensor

if TYPE_CHECKING:
    from airloom.scenario.errors import KeyPath
    from airloom.scenario.models import Scenario
    from airloom.scenario.models import Vehicle as VehicleDescription

PORT = 9002
THIRD_PORT = 5763  # its SERIAL2, which is ours
OTHER_SERIALS = (1, 5, 6, 7, 8)
"""Those that it would listen on, by TCP; 3 and 4 are its GNSS."""
RC_PORT = 5501
"""Where it hears a remote control by UDP, at times of the wall clock. Ours has its channels in the frames."""
LOOK = 0.2  # s between two looks whether it is still alive
SILENCE = 1.0  # s after which one that was attached may have been started again
PARAMS = "airloom.parm"
START_TIME = 1735689600  # s: its calendar begins with 2025 in every run, or equal runs would differ
FRAMES_A_LOOP = 1.8  # that ArduPilot needs, of those that SCHED_LOOP_RATE says
SIMULATED_AIRSPEED = 100  # ARSPD_TYPE
VOLTAGE_AND_CURRENT = 4  # BATT_MONITOR
BATTERY = ("voltage", "current")
"""What is told of one, by its names there."""
SIMULATED_RANGEFINDER, LOOKS_DOWN, LOOKS_AHEAD = 100, 25, 0  # RNGFND1_TYPE and RNGFND1_ORIENT
LOG_FROM_BOOT = {"LOG_DISARMED": 1}
"""A log that begins with arming is opened by a thread on the wall clock, and ArduPilot waits for it some frames."""
NARROWEST, WIDEST = 800, 2200  # µs: pulses of a remote control

Channels = Annotated[
    list[Annotated[float, Field(ge=NARROWEST, le=WIDEST)]], Field(min_length=1, max_length=wire.MOST_CHANNELS)
]


class RcInput(Parameters):
    """Where the sticks and switches of the remote control are from a time on."""

    at: float = Field(ge=0, description="s")
    rc: Channels = Field(description="as many channels as at the start, µs")


class ArduPilotParameters(ProgramParameters):
    program: ProgramName | None = Field(
        None, description="which of ArduPilot's it is; the one that fits the vehicle if left out"
    )
    frame: str | None = Field(
        None,
        description=f"of a copter {', '.join(LAYOUTS)}; of a sub {', '.join(FRAMES)}; the one that fits the rotors if "
        "left out",
    )
    outputs: tuple[int, int] = Field((1000, 2000), description="at rest and at full speed, µs")
    speedup: float = Field(100.0, gt=0, description="ArduPilot's own limit, × real time")
    rc: Channels | None = Field(None, description="channels of a remote control at the start, µs; none if left out")
    sticks: list[RcInput] = Field(default_factory=list, description="how the remote control is moved later")
    battery: float | None = Field(
        None, gt=0, description="voltage that ArduPilot is told instead of its vehicle's, V; it does not change"
    )

    @model_validator(mode="after")
    def _has_channels_for_the_sticks(self) -> ArduPilotParameters:
        channels = len(self.rc or ())
        for sticks in self.sticks:
            if len(sticks.rc) != channels:
                raise ValueError(f"sticks: {len(sticks.rc)} channels at {sticks.at:g} s, but rc has {channels}")
        return self


class ArduPilot(ProgramAutopilot):
    """ArduPilot SITL over its JSON interface, in lockstep: arducopter, arduplane, ardusub or ardurover."""

    Parameters: ClassVar[type[ArduPilotParameters]] = ArduPilotParameters
    parameters: ArduPilotParameters
    needs = ("imu",)
    speaks_as, tried = "ArduPilot", ((4, 6), (4, 7))
    own_sensors = tuple(OWN)
    tell, hear = wire.tell, wire.hear

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._sort = PROGRAMS[self.parameters.program or program_for(self.vehicle.description)]
        self._line = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._door: socket.socket | None = None
        self._relay: Relay | None = None
        self._talk: Talk | None = None

    @classmethod
    def mistakes_in(
        cls, parameters: ProgramParameters, name: str, vehicle: VehicleDescription, scenario: Scenario
    ) -> Iterator[tuple[KeyPath, str]]:
        assert isinstance(parameters, ArduPilotParameters)
        yield from super().mistakes_in(parameters, name, vehicle, scenario)
        program = PROGRAMS[parameters.program or program_for(vehicle)]
        least = FRAMES_A_LOOP * parameters.all_params.get("SCHED_LOOP_RATE", program.loop_rate_for(vehicle))
        if parameters.rate < least:
            yield (
                ("rate",),
                f"{program.binary} needs {FRAMES_A_LOOP:g} × SCHED_LOOP_RATE = {least:g} frames a second or more, got "
                f"{parameters.rate:g}; raise rate or lower params.SCHED_LOOP_RATE",
            )

    def open(self, folder: Path) -> None:
        self._listen()
        wanted, airframe = self.parameters, self.vehicle.airframe
        outputs = outputs_of(self._sort.name, airframe, wanted.frame, self.given_motors(), wanted.outputs)
        self._warn_of_a_slow_imu()
        self._fill_wire(outputs)
        for sticks in self.parameters.sticks:
            self.sim.call_at(sticks.at, partial(setattr, self, "rc", sticks.rc))
        params = self._params(outputs)
        folder.mkdir(parents=True, exist_ok=True)
        text = "".join(f"{name} {digits(value)}\n" for name, value in both_generations(params).items())
        (folder / PARAMS).write_text(text)
        if self.parameters.attach:
            line = ArduPilotLine(THIRD_PORT + PORTS_APART * self.instance)
            command = self._command(self._sort.binary, "tcp:0", [f"ARDUPILOT/{self._sort.defaults}", folder / PARAMS])
            self.wait_for_command(shlex.join(map(str, command)))
        else:
            line, self._relay = ArduPilotLine(), Relay(FIRST_PORT + PORTS_APART * self.instance, self.way())
            self.program = self._started(folder, line)
            self._beat()
        self._talk = Talk(self, line, params)

    def _beat(self) -> None:
        """Lets the loop pause, so that those who have no turns get their bytes soon enough."""
        if self._relay is not None:
            self.sim.call_at(self.sim.time + (PERIOD if self._relay.has_client else PERIOD_ALONE), self._beat)

    def carry(self) -> None:
        if self._relay is not None:
            self._relay.carry()

    @property
    def address(self) -> str:
        return f"tcp:127.0.0.1:{FIRST_PORT + PORTS_APART * self.instance}"

    def _fill_wire(self, outputs: Outputs) -> None:
        rc, voltage, sensors = self.parameters.rc or [], self.parameters.battery, self._told_sensors()
        ranges = self._rangefinders()
        battery = BATTERY if self._tells_its_battery else BATTERY[:1] if voltage is not None else ()
        template = wire.reply_template(len(rc), battery, len(ranges), len(sensors) > len(ranges))
        self._literals, self._ends = wire.literals(template)
        self._numbers = np.zeros(template.count("#"))
        self._numbers[wire.NUMBERS :][: len(rc)] = rc
        if voltage is not None:
            self._numbers[wire.NUMBERS + len(rc)] = voltage
        self._reply, self._packet = np.zeros(wire.LONGEST_REPLY, np.uint8), np.zeros(wire.LONGEST_PACKET, np.uint8)
        self._rotor_pulses, self._servo_pulses = table_of(outputs.rotors), table_of(outputs.servos)
        farthest = [getattr(sensor.parameters, "max_distance", inf) for sensor in sensors]
        self._farthest = np.array([inf for _ in BATTERY if self._tells_its_battery] + farthest)
        self._readings = np.zeros(self._farthest.size, np.int64)
        w = self.wire
        w[FILE], w[wire.LAST_FRAME] = self._line.fileno(), -1
        w[wire.LITERALS], w[wire.ENDS], w[wire.PIECES] = (
            address(self._literals),
            address(self._ends),
            self._ends.size,
        )
        w[wire.NUMBERS_OF], w[wire.COUNT] = address(self._numbers), self._numbers.size
        w[wire.REPLY], w[wire.PACKET] = address(self._reply), address(self._packet)
        w[wire.ROTOR_PULSES], w[wire.ROTORS] = address(self._rotor_pulses), len(outputs.rotors)
        w[wire.SERVO_PULSES], w[wire.SERVOS] = address(self._servo_pulses), len(outputs.servos)
        w[wire.READINGS], w[wire.FARTHEST], w[wire.READING_COUNT] = (
            address(self._readings),
            address(self._farthest),
            self._readings.size,
        )

    def settle(self) -> None:
        super().settle()
        sensors = [address(self.sim.fleet.reading(sensor)) for sensor in self._told_sensors()]
        self._readings[:] = [*self._battery_places(), *sensors]

    @property
    def _tells_its_battery(self) -> bool:
        return self.parameters.battery is None and self.vehicle.description.battery is not None

    def _battery_places(self) -> list[int]:
        """Where its voltage and its current are, as its power module measures them if it has one."""
        if not self._tells_its_battery:
            return []
        fleet = self.sim.fleet
        for sensor in self.vehicle.sensors:
            if isinstance(sensor, BatterySensor):
                return [address(fleet.reading(sensor)[which:]) for which in (VOLTAGE, CURRENT)]
        block = fleet.flight.blocks[self.wire[BLOCK]][self.wire[LANE] :]
        return [address(block[which:]) for which in (row.BATTERY_VOLTAGE, row.BATTERY_CURRENT)]

    def _told_sensors(self) -> list[Sensor]:
        """Those that are told as one number each, after the battery: airspeed, then distances."""
        return [*self._airspeed(), *self._rangefinders()]

    def _airspeed(self) -> list[Airspeed]:
        """That of the vehicle, if it has one."""
        return [sensor for sensor in self.vehicle.sensors if isinstance(sensor, Airspeed)][:1]

    def _rangefinders(self) -> list[Rangefinder]:
        """Those of the vehicle, as many as ArduPilot has room for."""
        return [sensor for sensor in self.vehicle.sensors if isinstance(sensor, Rangefinder)][: wire.MOST_RANGES]

    @property
    def rc(self) -> list[float]:
        """Channels of the remote control, µs."""
        return self._numbers[wire.NUMBERS :][: len(self.parameters.rc or ())].tolist()

    @rc.setter
    def rc(self, channels: Sequence[float]) -> None:
        if len(channels) != len(self.rc) or not all(NARROWEST <= channel <= WIDEST for channel in channels):
            raise CommandError(
                f"the remote control of {self.vehicle.name} takes as many channels as its `rc` in the scenario, "
                f"{len(self.rc)}, each of {NARROWEST} to {WIDEST} µs, got {list(channels)}"
            )
        self._numbers[wire.NUMBERS :][: len(channels)] = channels

    # -- frames ------------------------------------------------------------------------------------------------------

    def listen_on(self) -> None:
        """Nothing, nonsense or a repeated frame has come.

        Who repeats a frame after a silence has not got the reply. Without one, the frame comes from a time when the
        simulation stood still, and a second reply to it would be one too many: ArduPilot would run ahead by it from
        then on. A silence is heard, not measured: a busy machine may let us wait between two looks.
        """
        began, instead, was_silent = time.monotonic(), "", False
        while (result := int(self.wire[RESULT])) < 0:
            silence = time.monotonic() - began
            if result == wire.REPEATED and was_silent:
                self._line.send(self._reply[: self.wire[wire.SIZE]].data)
                was_silent = False
            elif result == wire.NONSENSE:
                instead = f"; {self._what_came()}"
            elif result == wire.NOT_HEARD:
                was_silent = True
                self.must_be_alive()
                if self._door is not None and silence > SILENCE and self._is_another(self._door):
                    began = time.monotonic()
            if silence > self.parameters.timeout:
                raise AutopilotFailed(f"did not answer within {self.parameters.timeout:g} s{instead}")
            self.hear_again()

    def _is_another(self, door: socket.socket) -> bool:
        """Whether one speaks from elsewhere, which is the one that is listened to from now on; it repeats itself."""
        try:
            count, sender = self._count_and_sender(door)
        except BlockingIOError:
            return False
        if count < 0:
            return False
        self._line.connect(sender)
        self.wire[wire.LAST_FRAME] = -1
        self.sim.event(self.vehicle.name, "its autopilot was started again", level="warning")
        return True

    # -- meeting and parting -----------------------------------------------------------------------------------------

    def _listen(self) -> None:
        port = PORT + PORTS_APART * self.instance
        try:
            self._line.bind(("127.0.0.1", port))
        except OSError as error:
            raise AutopilotFailed(
                f"cannot be listened to: UDP port {port}: {error.strerror}; `instance` chooses another"
            ) from None
        set_kernel_timeouts(self._line, LOOK)

    def meet(self) -> None:
        """Its first datagram tells where it is."""
        deadline, instead = time.monotonic() + self.parameters.start_timeout, ""
        while True:
            try:
                count, sender = self._count_and_sender(self._line)
            except BlockingIOError:
                self.must_be_alive()
            else:
                if count >= 0:
                    break
                instead = f"; {self._what_came()}"
            if time.monotonic() > deadline:
                raise AutopilotFailed(f"has not spoken within {self.parameters.start_timeout:g} s{instead}")
        self._line.connect(sender)
        self.wire[wire.LAST_FRAME] = count
        if self.parameters.attach:
            self._door = self._second_socket()

    def _second_socket(self) -> socket.socket:
        """Gets what others send than the one that the first is connected to. They share the port only from now on:
        one in use was noticed, and the first datagram came to the first.
        """
        door = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        for each in (self._line, door):
            each.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        door.setblocking(False)
        door.bind(self._line.getsockname())
        return door

    def _count_and_sender(self, line: socket.socket) -> tuple[int, Any]:
        """Of the next datagram, whoever has sent it."""
        size, sender = line.recvfrom_into(self._packet.data)
        count = wire.frame_count(self._packet, size, -1)
        if count >= 0:
            note(self.wire, self.sim.tick, HEARD, address(self._packet), size)
        return count, sender

    def _what_came(self) -> str:
        magic = int(self._packet[0]) | int(self._packet[1]) << 8
        return (
            f"what came is not of ArduPilot's JSON interface: it begins with {magic} instead of {wire.MAGIC} or "
            f"{wire.MAGIC_32}, or has another size"
        )

    def _started(self, folder: Path, line: ArduPilotLine) -> Program:
        assert self._relay is not None
        sort = self._sort
        binary = find_program(self.parameters.binary, sort.variable, sort.binary, sort.usual, sort.advice)
        defaults = [path for path in (parent / sort.defaults for parent in binary.parents) if path.is_file()][:1]
        command = self._command(binary, self._relay.device, [*defaults, PARAMS])
        closed = [word for serial in OTHER_SERIALS for word in (f"--serial{serial}", f"none:{serial}")]
        command += [*closed, "--serial2", line.device, *self.parameters.arguments]
        remote_control, frames = (port + PORTS_APART * self.instance for port in (RC_PORT, PORT))
        return Program(command, folder, reach=on_loopback(remote_control, peer=frames))

    def _command(self, binary: Any, first_port: str, defaults: Sequence[Any]) -> list[Any]:
        origin = self.sim.scenario.world.origin
        home = f"{origin.latitude:.8f},{origin.longitude:.8f},{origin.altitude:g},0"
        return [
            binary, "--model", "JSON:127.0.0.1", f"-I{self.instance}", "-w", "--speedup",
            f"{self.parameters.speedup:g}", "--serial0", first_port, "--home", home, "--sysid", self.instance + 1,
            "--start-time", START_TIME, "--defaults", ",".join(map(str, defaults)),
        ]  # fmt: skip

    def _params(self, outputs: Outputs) -> dict[str, float]:
        params: dict[str, float] = {**outputs.params, **LOG_FROM_BOOT}
        if battery := self.vehicle.description.battery:
            params |= {"BATT_MONITOR": VOLTAGE_AND_CURRENT, "BATT_CAPACITY": 1000 * battery.capacity}
        if self._airspeed():
            params |= {"ARSPD_TYPE": SIMULATED_AIRSPEED, "ARSPD_USE": 1}
        for k, sensor in enumerate(self._rangefinders(), 1):
            mounted = sensor.parameters
            params[f"RNGFND{k}_TYPE"] = SIMULATED_RANGEFINDER
            params[f"RNGFND{k}_ORIENT"] = LOOKS_DOWN if mounted.pitch > pi / 4 else LOOKS_AHEAD
            params[f"RNGFND{k}_MIN_CM"] = 100 * mounted.min_distance
            params[f"RNGFND{k}_MAX_CM"] = 100 * mounted.max_distance
        return {**params, **self.parameters.all_params}

    def _warn_of_a_slow_imu(self) -> None:
        rate, fastest = self.parameters.rate, max(s.rate for s in self.vehicle.sensors if isinstance(s, Imu))
        if fastest < rate:
            text = f"its IMU reads {fastest:g} times a second, but its autopilot is told {rate:g} times: raise its rate"
            self.sim.event(self.vehicle.name, text, level="warning")

    def conclude(self) -> None:
        """Who does not fly has nothing to say of a landing."""
        if self._sort.flies:
            super().conclude()

    def close(self) -> None:
        for each in (self._talk, self._line, self._door):
            if each is not None:
                each.close()
        super().close()
        if self._relay is not None:
            self._relay.close()
            self._relay = None
