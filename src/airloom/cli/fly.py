"""airloom fly"""

from __future__ import annotations

import shlex
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from inspect import signature
from math import atan2, degrees
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape

from airloom.basics.hints import did_you_mean
from airloom.cli.screen import complain, new_table, out, say
from airloom.cli.signals import interrupted_by_ctrl_c
from airloom.errors import UserError

if TYPE_CHECKING:
    from airloom.runs.link.client import LinkClient

MODES = ("idle", "position_yaw", "velocity_yawrate", "thrust_attitude", "thrust_velocity", "thrust_torque")
LOOK_PERIOD = 0.05
"""Seconds between two requests of a verb that goes on for a while; well below the usual command timeout of 1 s."""
MOST_ROWS = 20
OBSTACLES = ("box", "cylinder", "sphere")
TYPE_HELP = "; type help"


def register(app: typer.Typer) -> None:
    app.command()(fly)


def fly(
    run: Annotated[str, typer.Argument(metavar="RUN", help="A run's folder, or the word last.")] = "last",
) -> None:
    """Command a run from another terminal; a headless one must have been started with --link.

    Type help for what can be said. Ctrl-C breaks off a wait, Ctrl-D leaves; the run flies on.

    From a script, pipe the lines in; the exit code is 1 if any was refused.

    [bold]Examples[/bold]

      airloom fly
      airloom fly runs/hover-1
      printf 'cf takeoff 1\\ncf wait\\ncf goto 1 0 1\\n' | airloom fly
    """
    from airloom.runs.link.client import LinkClient

    with interrupted_by_ctrl_c(), LinkClient.find(run) as link:
        raise typer.Exit(Cockpit(link).converse())


class NotUnderstood(UserError, ValueError):
    """A line that means nothing; the message says what would."""


@dataclass(frozen=True)
class Verb:
    usage: str
    meaning: str
    act: Callable[..., None]


class Cockpit:
    """Reads lines, sends what they mean, tells what came of it."""

    def __init__(self, link: LinkClient) -> None:
        self._link = link
        self._vehicles: list[str] = []
        self._look_who_is_there()
        self._done = False

    def _look_who_is_there(self) -> None:
        self._vehicles = list(self._link.ask("info")["vehicles"])

    def converse(self) -> int:
        """The exit code."""
        refused = False
        for line in self._prompted_lines() if sys.stdin.isatty() else sys.stdin:
            refused |= not self.obey(line)
            if self._done:
                break
        return int(refused and not sys.stdin.isatty())

    def _prompted_lines(self) -> Iterator[str]:
        from airloom.cli.line_editing import editing

        with editing(self._completions):
            self._status()
            say("Type help for what you can say.", "dim")
            while True:
                try:
                    yield input("> ")
                except (EOFError, KeyboardInterrupt):
                    print()
                    return

    def obey(self, line: str) -> bool:
        """Whether the line could be carried out."""
        try:
            self._carry_out(shlex.split(line, comments=True))
        except ValueError as error:  # refused, not understood, or quotes without an end
            complain(str(error))
            return False
        except KeyboardInterrupt:
            if not sys.stdin.isatty():
                raise
            self._link.renew()
            say("\nbroken off; the vehicles do what they were last told", "yellow")
        return True

    def _carry_out(self, words: list[str]) -> None:
        if not words:
            return
        if words[0] in GENERAL:
            _call(GENERAL[words[0]], self, *words[1:])
            return
        if words[0] in FOR_VEHICLES and len(words) > 1 and words[1] not in FOR_VEHICLES:
            raise NotUnderstood(f"name the vehicle first: VEHICLE {FOR_VEHICLES[words[0]].usage}")
        if len(words) == 1:
            raise NotUnderstood(self._what_is(words[0]))
        vehicle, verb, *rest = words
        if verb not in FOR_VEHICLES:
            raise NotUnderstood(f"nothing is called '{verb}'{did_you_mean(verb, FOR_VEHICLES) or TYPE_HELP}")
        _call(FOR_VEHICLES[verb], self, vehicle, *rest)

    def _what_is(self, word: str) -> str:
        if word in self._vehicles or set(word) & set("*?["):
            return f"what shall {word} do? For example: {word} takeoff 2; type help"
        if word in FOR_VEHICLES:
            return f"name the vehicle first: VEHICLE {FOR_VEHICLES[word].usage}"
        return f"nothing is called '{word}'{did_you_mean(word, [*GENERAL, *self._vehicles]) or TYPE_HELP}"

    def _completions(self, words: list[str]) -> list[str]:
        """What could stand after these words."""
        if not words:
            return [*self._vehicles, *GENERAL]
        if len(words) == 1 and words[0] not in GENERAL:
            return list(FOR_VEHICLES)
        if words == ["spawn"]:
            from airloom.scenario import known

            return [*known("vehicle"), *OBSTACLES]
        if words[1:] == ["mode"]:
            return list(MODES)
        if words[1:] == ["tune"] and words[0] in self._vehicles:
            return [f"{name}=" for name in self._link.ask("gains", vehicle=words[0])["vehicles"][words[0]]]
        return []

    # -- about the run -----------------------------------------------------------------------------------------------

    def _status(self) -> None:
        info = self._link.ask("info")
        speed = "as fast as it can" if info["speed"] == "max" else f"at {info['speed']:g} × real time"
        say(f"{info['scenario']}: t = {info['time']:.2f} of {info['end']:g} s, {'paused' if info['paused'] else speed}")
        self._show("*")

    def _help(self, verb: str | None = None) -> None:
        lines = [(f"VEHICLE {one.usage}", one) for name, one in FOR_VEHICLES.items() if verb in (None, name)]
        lines += [(one.usage, one) for name, one in GENERAL.items() if verb in (None, name)]
        if not lines:
            raise NotUnderstood(f"nothing is called '{verb}'{did_you_mean(verb, FOR_VEHICLES | GENERAL) or TYPE_HELP}")
        if verb is None:
            out.print(HELP)
        table = new_table("", "")
        for usage, one in lines:
            table.add_row(escape(usage), one.meaning)
        out.print(table)

    def _pause(self) -> None:
        say(f"paused at t = {self._link.ask('pause')['time']:.3f} s")

    def _step(self, ticks: str = "1") -> None:
        say(f"t = {self._link.ask('step', ticks=_whole_number(ticks))['time']:.9g} s")

    def _restart(self) -> None:
        self._link.ask("reset")
        self._look_who_is_there()
        say("back at t = 0 s")

    def _spawn(self, kind: str, x: str, y: str, z: str, *, yaw: str = "0", size: str | None = None) -> None:
        given = {} if size is None else {"size": _numbers(*size.split(","))}
        name = self._link.ask("spawn", kind=kind, position=_numbers(x, y, z), yaw=_number(yaw), **given)["name"]
        self._look_who_is_there()
        say(f"{name} is there")

    def _save(self, file: str, *, overwrite: str = "0") -> None:
        saved = self._link.ask("save", file=file, overwrite=bool(_number(overwrite)))["file"]
        say(f"saved; run it with: airloom run {shlex.quote(saved)}")

    def _resume(self) -> None:
        self._link.ask("resume")

    def _speed(self, speed: str) -> None:
        self._link.ask("speed", speed=speed if speed == "max" else _number(speed))

    def _wait(self, seconds: str) -> None:
        end = self._link.ask("info")["time"] + _number(seconds)
        while self._link.ask("info")["time"] < end:
            time.sleep(LOOK_PERIOD)

    def _stop(self) -> None:
        told = self._link.ask("stop")  # nothing, if the run was over before it could answer
        say(f"stopped at t = {told['time']:.3f} s" if told else "stopped")
        self._done = True

    def _quit(self) -> None:
        self._done = True

    # -- to vehicles -------------------------------------------------------------------------------------------------

    def _show(self, vehicle: str) -> None:
        seen = self._link.ask("observe", vehicle=vehicle)["vehicles"]
        table = new_table("vehicle", "x m", "y m", "z m", "speed m/s", "yaw °", "mode", "mission", numbers=range(1, 6))
        for name, state in list(seen.items())[:MOST_ROWS]:
            numbers = [*state["position"], _length(state["velocity"]), degrees(_yaw(state["attitude"]))]
            table.add_row(name, *(f"{round(x, 2) + 0.0:.2f}" for x in numbers), state["mode"], state["mission"] or "")
        out.print(table)
        if len(seen) > MOST_ROWS:
            say(f"… and {len(seen) - MOST_ROWS} more", "dim")

    def _takeoff(self, vehicle: str, height: str | None = None, *, speed: str | None = None) -> None:
        self._tell("takeoff", vehicle, height=_maybe_number(height), speed=_maybe_number(speed))

    def _goto(self, vehicle: str, x: str, y: str, z: str, *, yaw: str | None = None, speed: str | None = None) -> None:
        self._tell("goto", vehicle, position=_numbers(x, y, z), yaw=_maybe_number(yaw), speed=_maybe_number(speed))

    def _return(self, vehicle: str, *, speed: str | None = None) -> None:
        self._tell("return_home", vehicle, speed=_maybe_number(speed))

    def _land(self, vehicle: str, *, speed: str | None = None) -> None:
        self._tell("land", vehicle, speed=_maybe_number(speed))

    def _await(self, vehicle: str) -> None:
        while any(v["mission"] for v in self._link.ask("observe", vehicle=vehicle)["vehicles"].values()):
            time.sleep(LOOK_PERIOD)
        self._show(vehicle)

    def _mode(self, vehicle: str, mode: str) -> None:
        self._tell("switch_mode", vehicle, mode=mode)

    def _position(self, vehicle: str, x: str, y: str, z: str, *, yaw: str = "0") -> None:
        self._tell("command", vehicle, kind="position_yaw", position=_numbers(x, y, z), yaw=_number(yaw))

    def _velocity(
        self, vehicle: str, x: str, y: str, z: str, *, turn: str = "0", body: str = "0", **lasting: str
    ) -> None:
        turning = {"yaw_rate": _number(turn), "body_frame": bool(_number(body))}
        self._keep_telling(vehicle, lasting, kind="velocity_yawrate", velocity=_numbers(x, y, z), **turning)

    def _attitude(self, vehicle: str, thrust: str, roll: str, pitch: str, yaw: str, **lasting: str) -> None:
        angles = _numbers(roll, pitch, yaw)
        self._keep_telling(vehicle, lasting, kind="thrust_attitude", thrust=_number(thrust), attitude=angles)

    def _rates(self, vehicle: str, thrust: str, x: str, y: str, z: str, **lasting: str) -> None:
        rates = _numbers(x, y, z)
        self._keep_telling(vehicle, lasting, kind="thrust_velocity", thrust=_number(thrust), velocity=rates)

    def _torque(self, vehicle: str, thrust: str, x: str, y: str, z: str, **lasting: str) -> None:
        torque = _numbers(x, y, z)
        self._keep_telling(vehicle, lasting, kind="thrust_torque", thrust=_number(thrust), torque=torque)

    def _tune(self, vehicle: str, **gains: str) -> None:
        from airloom.scenario import parse_override

        if not gains:
            raise NotUnderstood("name what to change, as in: tune attitude_frequency=6")
        self._tell("tune", vehicle, gains=dict(parse_override(f"{key}={value}") for key, value in gains.items()))

    def _gains(self, vehicle: str) -> None:
        for name, gains in self._link.ask("gains", vehicle=vehicle)["vehicles"].items():
            say(f"{name}: {' '.join(f'{key}={value}' for key, value in gains.items())}")

    def _kill(self, vehicle: str) -> None:
        self._tell("kill", vehicle)

    def _recover(self, vehicle: str) -> None:
        self._tell("recover", vehicle)

    def _reset(self, vehicle: str) -> None:
        self._tell("reset_pose", vehicle)

    def _spray(self, vehicle: str, flow: str) -> None:
        self._tell("spray", vehicle, flow=_number(flow))

    def _refill(self, vehicle: str, litres: str | None = None) -> None:
        self._tell("refill", vehicle, litres=_maybe_number(litres))

    def _tell(self, method: str, vehicle: str, **fields: Any) -> None:
        given = {key: value for key, value in fields.items() if value is not None}
        told = self._link.ask(method, vehicle=vehicle, **given)["vehicles"]
        if told != [vehicle]:
            say(f"told {', '.join(told[:5])}{f' and {len(told) - 5} more' if len(told) > 5 else ''}", "dim")

    def _keep_telling(self, vehicle: str, lasting: dict[str, str], **command: Any) -> None:
        """Again and again for some simulated seconds (`for=3`), lest the vehicle brake because nobody speaks to it."""
        seconds = _number(lasting.pop("for", "0"))
        if lasting:
            raise NotUnderstood(f"no option is called {', '.join(lasting)}; type help")
        self._tell("command", vehicle, **command)
        end = self._link.ask("info")["time"] + seconds
        while self._link.ask("info")["time"] < end:
            time.sleep(LOOK_PERIOD)
            self._link.ask("command", vehicle=vehicle, **command)
        if seconds:
            self._link.ask("recover", vehicle=vehicle)


def _call(verb: Verb, cockpit: Cockpit, *words: str) -> None:
    """Words with = are options; what does not fit the verb is answered with how it is used."""
    options = dict(word.split("=", 1) for word in words if "=" in word)
    plain = [word for word in words if "=" not in word]
    try:
        fitting = signature(verb.act).bind(cockpit, *plain, **options)
    except TypeError:
        raise NotUnderstood(f"use it as: {verb.usage}") from None
    verb.act(*fitting.args, **fitting.kwargs)


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise NotUnderstood(f"'{text}' is no number") from None


def _whole_number(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise NotUnderstood(f"'{text}' is no whole number") from None


def _maybe_number(text: str | None) -> float | None:
    return None if text is None else _number(text)


def _numbers(*texts: str) -> list[float]:
    return [_number(text) for text in texts]


def _length(vector: list[float]) -> float:
    return sum(x * x for x in vector) ** 0.5


def _yaw(attitude: list[float]) -> float:
    w, x, y, z = attitude
    return atan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z))


HELP = """Say what a vehicle shall do: [bold]VEHICLE VERB …[/bold]   VEHICLE may be a pattern: drone* or *

First steps:  [cyan]* takeoff 2[/cyan]   [cyan]* goto 1 2 3[/cyan]   [cyan]status[/cyan]   [cyan]* land[/cyan]
Metres, seconds, radians, newtons; x east, y north, z up. Tab completes, arrow up repeats.
"""

FOR_VEHICLES = {
    "takeoff": Verb("takeoff [HEIGHT] [speed=…]", "rise by so many metres", Cockpit._takeoff),
    "goto": Verb("goto X Y Z [yaw=…] [speed=…]", "fly there smoothly and stop", Cockpit._goto),
    "return": Verb("return [speed=…]", "fly to where it began and land; vessels hold there", Cockpit._return),
    "land": Verb("land [speed=…]", "go down and stop the rotors", Cockpit._land),
    "wait": Verb("wait", "wait until its takeoff, goto, return or land is over", Cockpit._await),
    "show": Verb("show", "where it is and what it does", Cockpit._show),
    "kill": Verb("kill", "stop the rotors at once: it drops", Cockpit._kill),
    "recover": Verb("recover", "brake and hold where it is", Cockpit._recover),
    "reset": Verb("reset", "back to where the scenario puts it", Cockpit._reset),
    "mode": Verb("mode MODE", f"switch to one of {', '.join(MODES)}", Cockpit._mode),
    "position": Verb("position X Y Z [yaw=…]", "be there at once, as fast as it can", Cockpit._position),
    "velocity": Verb(
        "velocity X Y Z [turn=…] [body=1] [for=…]",
        "move so fast; for= goes on that long, else it brakes when its command timeout is over",
        Cockpit._velocity,
    ),
    "attitude": Verb("attitude THRUST ROLL PITCH YAW [for=…]", "thrust and angles", Cockpit._attitude),
    "rates": Verb("rates THRUST X Y Z [for=…]", "thrust and angular velocity", Cockpit._rates),
    "torque": Verb("torque THRUST X Y Z [for=…]", "thrust and torque", Cockpit._torque),
    "spray": Verb("spray FLOW", "so many litres a minute out of its tank, with all nozzles open", Cockpit._spray),
    "refill": Verb("refill [LITRES]", "fill its tank to so many litres; to the brim if left out", Cockpit._refill),
    "tune": Verb("tune GAIN=VALUE …", "change gains in flight", Cockpit._tune),
    "gains": Verb("gains", "the gains in force", Cockpit._gains),
}
GENERAL = {
    "status": Verb("status", "time, speed, and all vehicles", Cockpit._status),
    "pause": Verb("pause", "let time stand still", Cockpit._pause),
    "resume": Verb("resume", "let it go on", Cockpit._resume),
    "step": Verb("step [TICKS]", "some ticks forward, while time stands still; one if left out", Cockpit._step),
    "speed": Verb("speed N|max", "simulated seconds a second", Cockpit._speed),
    "wait": Verb("wait SECONDS", "wait so many simulated seconds", Cockpit._wait),
    "spawn": Verb(
        "spawn KIND X Y Z [yaw=…] [size=A,B,C]",
        "put a vehicle of airloom list, or a box, cylinder or sphere of that size, into a paused run",
        Cockpit._spawn,
    ),
    "save": Verb("save FILE [overwrite=1]", "write the world as it is now as a scenario", Cockpit._save),
    "reset": Verb("reset", "back to time 0, the whole run", Cockpit._restart),
    "stop": Verb("stop", "end the run, and leave", Cockpit._stop),
    "help": Verb("help [VERB]", "this", Cockpit._help),
    "quit": Verb("quit", "leave; the run flies on", Cockpit._quit),
}
