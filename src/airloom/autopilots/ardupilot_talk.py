"""What is said with an ArduPilot on our own line: which version it is, whether it has taken the scenario's parameters,
what its status texts are, and which faults its own sensors have.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from airloom.autopilots import mavlink_wire as wire
from airloom.autopilots.ardupilot_faults import FaultDesk
from airloom.autopilots.ardupilot_line import ArduPilotLine, text_of
from airloom.autopilots.ardupilot_names import other_name
from airloom.autopilots.programs import ProgramAutopilot, digits

PERIOD = 0.1  # s between two looks at the line
LOOKS_A_GREETING, ALWAYS_THERE = 10, "LOG_BITMASK"  # ArduPilot tells its texts only to whom it has heard since its boot
PATIENCE = 10.0  # s in which ArduPilot must have been heard
QUESTIONS_A_LOOK = 10  # for parameters by two names each; it has room for 20
OFTEN_ENOUGH = 20  # times to be asked for a parameter that it knows
REQUEST_MESSAGE, SEND_BANNER = 512, 42428  # commands; the banner are the texts of its start
RESET_BATTERY, FIRST_BATTERY = 42651, 1  # a command, and the bit of the first battery in it
WARNING = 4  # severity of a text, less is worse
LONGEST_TEXT = 50


class Expected:
    """A parameter of the scenario, by each name that it may have there, and its value by that name."""

    def __init__(self, name: str, value: float) -> None:
        self.name, self.asked = name, 0
        self.by_name = {name: value, **dict(filter(None, [other_name(name, value)]))}


class Talk:
    def __init__(self, autopilot: ProgramAutopilot, line: ArduPilotLine, params: Mapping[str, float]) -> None:
        """`params` are those that it should have been given."""
        self._autopilot, self._line, self._sim = autopilot, line, autopilot.sim
        self._expected = [Expected(name, value) for name, value in params.items()]
        self._text = ""
        self._looks = 0
        self._began = self._sim.time
        self._has_begun = False
        self._complaints: set[str] = set()
        self._over = False
        self.faults = FaultDesk(self._sim, autopilot.vehicle, self)
        self._sim.call_at(self._sim.time, self._look)

    def ask(self, name: str) -> None:
        """For the value of a parameter."""
        self._line.ask(name)

    def put(self, name: str, value: float) -> None:
        """Give a parameter this value."""
        self._line.put(name, value)

    @property
    def problem(self) -> str | None:
        """Why nothing can be said, if so."""
        return None if self._line.is_open else self._line.problem

    def _look(self) -> None:
        if self._over:
            return
        self._sim.call_at(self._sim.time + PERIOD, self._look)
        self._line.connect()
        if self._looks % LOOKS_A_GREETING == 0:
            self.ask(ALWAYS_THERE)
        self._looks += 1
        for number, values in self._line.frames():
            self._note(number, values)
        if self._line.is_heard:
            self._ask_what_is_unknown()
        elif self._expected and self._sim.time > self._began + PATIENCE:
            self._warn(f"whether ArduPilot has the parameters of the scenario is not known: {self._line.problem}")
        self.faults.say()

    def _note(self, number: int, values: np.ndarray) -> None:
        if number == wire.HEARTBEAT and not self._has_begun:
            self._has_begun = True
            self._line.command(SEND_BANNER)
            self._tell_charge()
        elif number == wire.PARAM_VALUE:
            name, value = text_of(values[3:19]), float(values[0])
            self._check(name, value)
            self.faults.note(name, value)
        elif number == wire.AUTOPILOT_VERSION and self._autopilot.version is None:
            self._autopilot.note_version(*((int(values[2]) >> shift) & 0xFF for shift in (24, 16, 8)))
        elif number == wire.STATUSTEXT:
            self._note_text(values)

    def _tell_charge(self) -> None:
        """It holds a battery for full when it begins, and counts what is drawn from then on."""
        battery = self._autopilot.vehicle.description.battery
        if battery is not None and battery.charge < 1.0:
            self._line.command(RESET_BATTERY, FIRST_BATTERY, 100 * battery.charge)

    # -- version and parameters --------------------------------------------------------------------------------------

    def _ask_what_is_unknown(self) -> None:
        who = self._autopilot.version
        if who is None:
            self._line.command(REQUEST_MESSAGE, wire.AUTOPILOT_VERSION)
        for expected in self._expected[:QUESTIONS_A_LOOK]:
            if expected.asked == OFTEN_ENOUGH:
                self._expected.remove(expected)
                self._warn(f"ArduPilot {who or 'as it is'} knows no parameter {expected.name}: it is ignored")
                continue
            expected.asked += 1
            for name in expected.by_name:
                self.ask(name)

    def _check(self, name: str, value: float) -> None:
        for expected in [one for one in self._expected if name in one.by_name]:
            self._expected.remove(expected)
            wanted = expected.by_name[name]
            if abs(value - wanted) > 1e-5 * max(abs(wanted), 1.0):
                self._warn(f"ArduPilot has {name} {value:.7g}, and not {digits(wanted)} as the scenario says")

    # -- what it says ------------------------------------------------------------------------------------------------

    def _note_text(self, values: np.ndarray) -> None:
        """A long text comes in pieces, all but the last of them full."""
        piece, is_part = text_of(values[1 : 1 + LONGEST_TEXT]), values[1 + LONGEST_TEXT] != 0
        self._text += piece
        if not (is_part and len(piece) == LONGEST_TEXT):
            self._autopilot.note_text(self._text, is_warning=values[0] <= WARNING)
            self._text = ""

    def _warn(self, text: str) -> None:
        if text not in self._complaints:
            self._complaints.add(text)
            self._sim.event(self._autopilot.vehicle.name, text, level="warning")

    def close(self) -> None:
        self._over = True
        self.faults.close()
        self._line.close()
