"""PX4 SITL over its simulator interface, in lockstep: told what the sensors read, it answers each frame."""

from __future__ import annotations

import re
import socket
import time
from contextlib import suppress
from pathlib import Path
from typing import ClassVar

import numpy as np
from pydantic import Field

from airloom.autopilots import mavlink_wire as mavlink
from airloom.autopilots import px4_wire as wire
from airloom.autopilots.autopilot import AutopilotFailed
from airloom.autopilots.programs import Program, ProgramAutopilot, ProgramParameters, digits, find_program
from airloom.autopilots.px4_battery import BatteryLine, without_its_own
from airloom.autopilots.px4_console import Console
from airloom.autopilots.px4_wings import FIXED_WING, STARTS_FROM, kind_of, wing_params
from airloom.autopilots.readings import find_readings, sensors_of, table_of_readings
from airloom.autopilots.relay import FIRST_PORT, PORTS_APART, Datagrams, Relay
from airloom.autopilots.sensor_messages import MOST_VALUES
from airloom.engines.lockstep import FILE, RESULT, address
from airloom.loom.line import set_kernel_timeouts
from airloom.sensors.imu import Imu
from airloom.sensors.rangefinder import Rangefinder

PORT, GROUND_STATION_PORT = 4560, 18570
PATIENCE = 1.0  # s until the end of a program that has hung up is seen
USUAL_RATE = 250.0  # Hz
MOTOR_1 = 101  # as the function of an output
LOOK = 0.2  # s between two looks whether it is still alive
PAUSE = 0.002  # s to think that it is given for a frame without an answer, such as those while it boots
ADVICE = "Build PX4's target 'px4_sitl_default', and name the program by `binary`, by AIRLOOM_PX4 or in the PATH"
USUAL = ("~/PX4-Autopilot/build/px4_sitl_default/bin/px4", "PX4-Autopilot/build/px4_sitl_default/bin/px4")
VERSION_HEADER = "src/lib/version/build_git_version.h"
"""In PX4's build, beside the folder of the program."""
VERSION = re.compile(r'PX4_GIT_TAG_STR\s+"v(\d+)\.(\d+)\.(\d+)')
LEFT_BEHIND = ("parameters.bson", "parameters_backup.bson", "dataman")
"""What PX4 would remember of an earlier run in the same folder."""


class PX4Parameters(ProgramParameters):
    rate: float = Field(USUAL_RATE, gt=0, le=1000, description="frames a second, Hz")
    airframe: str | None = Field(
        None, description="the one of PX4's that it starts from; one of the vehicle's kind if left out"
    )


class PX4(ProgramAutopilot):
    """PX4 SITL over its simulator MAVLink interface, in lockstep."""

    Parameters: ClassVar[type[PX4Parameters]] = PX4Parameters
    parameters: PX4Parameters
    needs = ("imu", "magnetometer", "barometer", "gnss")
    speaks_as, tried = "PX4", ((1, 17),)
    tell, hear = wire.tell, wire.hear

    def open(self, folder: Path) -> None:
        self._folder = folder
        self._console: Console | None = None
        self._relay: Relay | None = None
        self._battery: BatteryLine | None = None
        if self.vehicle.description.battery is not None:
            self._battery = BatteryLine(self.sim, self.vehicle, self.instance)
        if self.parameters.mavlink is not None:
            autopilot = Datagrams(GROUND_STATION_PORT + self.instance)
            self._relay = Relay(FIRST_PORT + PORTS_APART * self.instance, self.way(), autopilot)
        self._line, self._boots_until = socket.socket(), 0.0  # until it connects
        self._listen()
        self._check_imu()
        self._motors = np.array(self.given_motors() or range(1, len(self.vehicle.airframe.rotors) + 1)) - 1
        self._fill_wire()
        if self.parameters.attach:
            self._say_what_it_must_know()
        else:
            self.program = self._started(folder)
            self._console = Console(self, folder)

    def _fill_wire(self) -> None:
        self._data, self._stream = np.zeros(wire.LONGEST_DATA, np.uint8), np.zeros(wire.LONGEST_STREAM, np.uint8)
        self._values, self._found = np.zeros(MOST_VALUES), np.zeros(mavlink.FOUND, np.int64)
        self._speaker = np.array([1, 1, 0])
        self._sensors = table_of_readings()
        row = self.wire
        row[wire.DATA], row[wire.STREAM] = address(self._data), address(self._stream)
        row[wire.VALUES], row[wire.FOUND_AT] = address(self._values), address(self._found)
        row[wire.SPEAKER_AT], row[wire.SENSORS] = address(self._speaker), address(self._sensors)
        row[wire.MOTORS], row[wire.ROTORS] = address(self._motors), self._motors.size
        row[wire.SERVOS] = len(self.vehicle.description.servos)

    def settle(self) -> None:
        super().settle()
        self.wire[wire.WORLD] = address(self.sim.fleet.flight.world)
        find_readings(self._sensors, self.sim.fleet, self.vehicle)
        for finder in sensors_of(self.vehicle, Rangefinder)[:1]:
            self.wire[wire.NEAREST] = round(100 * finder.parameters.min_distance)
            self.wire[wire.FARTHEST] = round(100 * finder.parameters.max_distance)

    def _check_imu(self) -> None:
        """PX4 answers only when its IMU has felt something."""
        imu = sensors_of(self.vehicle, Imu)[0]
        if imu.rate < self.parameters.rate:
            raise AutopilotFailed(
                f"needs an IMU as fast as its `rate` of {self.parameters.rate:g} Hz; '{imu.name}' has {imu.rate:g} Hz"
            )

    @property
    def address(self) -> str:
        if self.parameters.mavlink is not None:
            return f"tcp:127.0.0.1:{FIRST_PORT + PORTS_APART * self.instance}"
        return f"udpout:127.0.0.1:{GROUND_STATION_PORT + self.instance}"

    def carry(self) -> None:
        if self._relay is not None:
            self._relay.carry()

    # -- frames ------------------------------------------------------------------------------------------------------

    def listen_on(self) -> None:
        result, awake = int(self.wire[RESULT]), bool(self.wire[wire.IS_AWAKE])
        deadline = time.monotonic() + self.parameters.timeout
        while result == wire.NOT_HEARD and awake:
            self.must_be_alive()
            if time.monotonic() > deadline:
                raise AutopilotFailed(f"did not answer within {self.parameters.timeout:g} s")
            result = self.hear_again()
        if result == wire.NOT_HEARD:
            self._must_wake_up()
        elif result == wire.NOT_AWAITED:
            time.sleep(PAUSE)
        elif result == wire.AWAKE:
            self.wire[wire.IS_AWAKE] = 1
            set_kernel_timeouts(self._line, LOOK)
        elif result == wire.AHEAD:
            ahead, told = self._values[0] / 1e6, self.wire[wire.AWAITED] / 1e6
            raise AutopilotFailed(f"answers for the time {ahead:.6f} s, but has only been told of {told:.6f} s")
        elif result == wire.PARTED:
            self._part()

    def _must_wake_up(self) -> None:
        """Counted from its first frame: before it, the loop may have been compiled."""
        self.must_be_alive()
        self._boots_until = self._boots_until or time.monotonic() + self.parameters.start_timeout
        if time.monotonic() > self._boots_until:
            raise AutopilotFailed(f"has not answered within {self.parameters.start_timeout:g} s of its start")

    def _part(self) -> None:
        """The connection is gone, and the program with it; one that somebody else starts may come again."""
        if not self._has_hung_up():
            raise AutopilotFailed("no longer reads what it is told")
        if self.parameters.attach:
            self.sim.event(self.vehicle.name, "PX4 has closed the connection: waiting for it to come again", "warning")
            self.meet()
            return
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            self.must_be_alive()
            time.sleep(0.01)
        raise AutopilotFailed("has closed the connection")

    def _has_hung_up(self) -> bool:
        try:
            return not self._line.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT)
        except BlockingIOError:
            return False
        except OSError:
            return True

    # -- meeting and parting -----------------------------------------------------------------------------------------

    def _listen(self) -> None:
        port = PORT + self.instance
        self._door = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        self._door.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            self._door.bind(("127.0.0.1", port))
            self._door.listen(1)
        except OSError as error:
            raise AutopilotFailed(
                f"cannot be listened to: TCP port {port}: {error.strerror}; `instance` chooses another"
            ) from None
        self._door.settimeout(LOOK)

    def meet(self) -> None:
        """It connects; then it boots, during which it does not answer, and its rotors are at rest."""
        self.vehicle.set_rotor_speeds([0.0] * len(self._motors))
        deadline = time.monotonic() + self.parameters.start_timeout
        self._boots_until = 0.0
        while True:
            with suppress(TimeoutError):
                line, _ = self._door.accept()
                break
            self.must_be_alive()
            if time.monotonic() > deadline:
                raise AutopilotFailed(f"has not connected within {self.parameters.start_timeout:g} s")
        self._line.close()
        self._line = line
        line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        set_kernel_timeouts(line, PAUSE)
        self.wire[FILE], self.wire[wire.IS_AWAKE] = line.fileno(), 0
        self.wire[wire.FIRST] = self.wire[wire.END] = 0

    def _started(self, folder: Path) -> Program:
        binary = find_program(self.parameters.binary, "AIRLOOM_PX4", "px4", USUAL, ADVICE)
        etc = binary.parent.parent / "etc"
        script = etc / "init.d-posix/rcS"
        if not script.is_file():
            raise AutopilotFailed(f"cannot be started: there is no {script}, which PX4 needs. {ADVICE}")
        self._look_for_version(binary)
        folder.mkdir(parents=True, exist_ok=True)
        for name in LEFT_BEHIND:
            (folder / name).unlink(missing_ok=True)
        command = [binary, "-d", "-i", self.instance, "-w", folder, *self.parameters.arguments, etc]
        return Program(command, folder, self._variables(script.read_text(errors="replace")))

    def _look_for_version(self, binary: Path) -> None:
        """Its build has it in a header."""
        with suppress(OSError):
            text = (binary.parent.parent / VERSION_HEADER).read_text(errors="replace")
            if found := VERSION.search(text):
                self.note_version(*map(int, found.groups()))

    def _variables(self, start_script: str = "") -> dict[str, str]:
        own_battery = without_its_own(start_script) if self._battery else {}
        params = {f"PX4_PARAM_{name}": digits(value) for name, value in (own_battery | self._params()).items()}
        airframe = self.parameters.airframe or STARTS_FROM[kind_of(self.vehicle.airframe)]
        return {**params, "PX4_SIM_MODEL": airframe}

    def _say_what_it_must_know(self) -> None:
        """One that somebody else starts has the parameters of its airframe and of the scenario only from there."""
        variables = " ".join(f"{name}={value}" for name, value in self._variables().items())
        self.wait_for_command(f"{variables} px4 -d -i {self.instance} BUILD/etc")
        if self.parameters.all_params:
            text = "its PX4 was attached and has the scenario's parameters only if it was started with them"
            self.sim.event(self.vehicle.name, text, level="warning")

    def _params(self) -> dict[str, float]:
        """What PX4 must know of the airframe, and what the scenario says. Thrust goes with the square of the speed."""
        airframe, given = self.vehicle.airframe, self.parameters.all_params
        params: dict[str, float] = {"CA_AIRFRAME": 0, "CA_ROTOR_COUNT": len(airframe.rotors), "THR_MDL_FAC": 1}
        if kind_of(airframe) != FIXED_WING:
            hover = airframe.mass * airframe.gravity / airframe.max_thrusts[airframe.lifters].sum()
            params["MPC_THR_HOVER"] = min(max(hover, 0.1), 0.8)
        if self.parameters.rate > USUAL_RATE:
            params["IMU_INTEG_RATE"] = self.parameters.rate  # or frames between would have no answer
        for rotor, motor in zip(airframe.rotors, self._motors, strict=True):
            x, y, _ = np.subtract(rotor.position, airframe.vehicle.center_of_mass)
            params[f"CA_ROTOR{motor}_PX"], params[f"CA_ROTOR{motor}_PY"] = x, -y
            params[f"CA_ROTOR{motor}_KM"] = rotor.moment_constant if rotor.turns == "ccw" else -rotor.moment_constant
            params[f"PWM_MAIN_FUNC{motor + 1}"] = MOTOR_1 + motor
        return {**params, **wing_params(airframe, self._motors, given), **given}

    def close(self) -> None:
        """The program first: PX4 spins if the connection ends before it does. It leaves links to where it was built."""
        super().close()
        for each in (self._console, self._relay, self._battery):
            if each is not None:
                each.close()
        for path in self._folder.glob("*"):
            if path.is_symlink():
                path.unlink()
        self._door.close()
        self._line.close()
