"""The items of a plan, each checked and made a step. Commands and their parameters are MAVLink's (MAV_CMD)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from math import atan2, cos, hypot, inf, pi, radians, sin
from typing import Any

from airloom.missions.fence import Point
from airloom.missions.items import Circle, GoTo, Loiter, Rest, Spray, TakeOff, Turn
from airloom.missions.plans.file import FARTHEST, Place, PlanFile, is_number, shown
from airloom.missions.plans.order import Flight, SplinePoint, Step, Way, nothing
from airloom.missions.plans.structure_scan import structure_scan
from airloom.scenario.errors import listed
from airloom.scenario.models import Vector3

USUAL_RADIUS = 10.0  # m, of a circle whose radius is left out, as ArduPilot's
TAKEOFF_SPEED = 1.5
MOST_TURNS = 1000
JUMP = 177
WAYPOINT = 16
PARALLEL = 0.02  # rad
ABOVE_SEA, ABOVE_HOME, ABOVE_GROUND = range(3)
FRAMES = {0: ABOVE_SEA, 5: ABOVE_SEA, 3: ABOVE_HOME, 6: ABOVE_HOME, 10: ABOVE_GROUND, 11: ABOVE_GROUND}
HARMLESS = {
    195: "region of interest", 196: "region of interest", 197: "region of interest", 201: "region of interest",
    203: "camera", 204: "gimbal", 205: "gimbal", 206: "camera trigger", 214: "camera trigger", 530: "camera mode",
    531: "camera zoom", 532: "camera focus", 1000: "gimbal", 2000: "camera", 2001: "camera",
    2500: "video", 2501: "video",
}  # fmt: skip

Numbers = list[float | None]


def read_steps(plan: PlanFile) -> list[Step]:
    return list(_Reader(plan).steps())


class _Reader:
    def __init__(self, plan: PlanFile) -> None:
        self._plan = plan
        self._left_out: dict[int, list[str]] = {}
        self._pump_told = False
        self._flights: dict[int, Callable[[Numbers, Any], Flight]] = {
            16: self._waypoint, 17: self._loiter, 18: self._circle, 19: self._loiter_time, 20: self._return,
            21: self._land, 22: self._take_off, 31: self._loiter_to_altitude, 82: self._spline, 93: self._delay,
            115: self._turn, 178: self._change_speed, 183: self._servo, 187: self._actuator, 189: self._land_start,
            216: self._sprayer, 84: self._take_off, 85: self._land, 3000: self._transition,
        }  # fmt: skip

    def steps(self) -> Iterator[Step]:
        plan, items = self._plan, self._plan.mission.get("items")
        if not isinstance(items, list) or not items:
            raise plan.error('the plan\'s mission has no "items"')
        for number, raw in enumerate(items, start=1):
            plan.at(f"item {number}")
            if not isinstance(raw, dict) or raw.get("type") not in ("SimpleItem", "ComplexItem"):
                raise plan.error(f'must be an object whose "type" is SimpleItem or ComplexItem, got {shown(raw)}')
            if raw["type"] == "SimpleItem":
                yield self._step(raw, raw.get("doJumpId"))
            else:
                yield from self._complex(raw, number)
        self._tell_what_is_left_out()

    def _step(self, raw: dict[str, Any], jump_id: Any) -> Step:
        plan, command, numbers = self._plan, raw.get("command"), raw.get("params")
        if not isinstance(command, int) or isinstance(command, bool):
            raise plan.error(f'"command" must be a whole number, got {shown(command)}')
        if not isinstance(numbers, list) or len(numbers) != 7 or not all(n is None or is_number(n) for n in numbers):
            raise plan.error('"params" must be seven numbers or null')
        jump_id = jump_id if isinstance(jump_id, int) else None
        if command == JUMP:
            return self._jump(numbers, jump_id)
        if command in self._flights:
            return Step(plan.where, self._flights[command](numbers, raw.get("frame")), jump_id)
        if command in HARMLESS:
            self._left_out.setdefault(command, []).append(plan.where)
            return Step(plan.where, nothing, jump_id)
        able = listed([str(known) for known in sorted([*self._flights, JUMP])], "and")
        raise plan.error(f"command {command} cannot be flown; supported are {able}")

    def _tell_what_is_left_out(self) -> None:
        for command, places in self._left_out.items():
            more = f", and {len(places) - 1} more of it" if len(places) > 1 else ""
            self._plan.warnings.append(f"{places[0]}: command {command} ({HARMLESS[command]}) is left out{more}")

    def _complex(self, raw: dict[str, Any], number: int) -> Iterator[Step]:
        plan, kind = self._plan, raw.get("complexItemType")
        if kind == "StructureScan":
            for x, y, height in structure_scan(raw, plan):
                yield Step(plan.where, _going(plan.above(x, y, plan.home_height + height)))
            return
        if kind == "fwLandingPattern":
            yield Step(plan.where, self._landing_pattern(raw))
            return
        if kind not in ("survey", "CorridorScan"):
            able = "survey, CorridorScan, StructureScan and fwLandingPattern"
            raise plan.error(f"a ComplexItem '{shown(kind)}' cannot be flown; supported are {able}")
        transects = raw.get("TransectStyleComplexItem")
        items = transects.get("Items") if isinstance(transects, dict) else None
        if not isinstance(items, list) or not items:
            raise plan.error(f"the {kind} holds no transects (its Items); save the plan with a newer QGroundControl")
        places: list[Point] = []
        for inner, item in enumerate(items, start=1):
            plan.at(f"item {number} ({kind}), its item {inner}")
            if not isinstance(item, dict) or item.get("type") != "SimpleItem":
                raise plan.error(f"must be a SimpleItem, got {shown(item)}")
            step = self._step(item, None)
            if item.get("command") == WAYPOINT:
                place = self._place(item["params"], item.get("frame"))
                places.append((place.x, place.y))
            is_line = kind == "survey" and item.get("command") == WAYPOINT and _is_along_the_first(places)
            yield replace(step, fly=_over(step.fly, is_line))

    def _jump(self, numbers: Numbers, jump_id: int | None) -> Step:
        target, times = numbers[0], numbers[1]
        if target is None or times is None or target != int(target) or times != int(times) or times < -1:
            raise self._plan.error(f"a jump takes an item's doJumpId and how often, got {shown(numbers[:2])}")
        return Step(self._plan.where, nothing, jump_id, int(target), inf if times == -1 else int(times))

    # -- commands ----------------------------------------------------------------------------------------------------

    def _take_off(self, numbers: Numbers, frame: Any) -> Flight:
        plan, yaw, here = self._plan, _yaw(numbers[3]), not (numbers[4] and numbers[5])
        place = self._place([*numbers[:4], None, None, numbers[6]] if here else numbers, frame, instead=plan.home)

        def fly(way: Way) -> Iterator[Any]:
            if not way.in_the_air:
                x, y, ground = way.place
                if not place.z > ground:
                    raise plan.error(f"takeoff leads to {place.z:.1f} m, and the ground where it begins is higher")
                way.in_the_air, way.place = True, (x, y, place.z)
                pace = {} if way.speed is None else {"speed": min(way.speed, TAKEOFF_SPEED)}
                yield TakeOff(takeoff=place.z - ground, **pace)
            if not plan.is_for_wings and (not here or yaw is not None):
                yield way.goto(Place(*way.place[:2], place.z) if here else place, yaw)

        return fly

    def _waypoint(self, numbers: Numbers, frame: Any) -> Flight:
        accepted, place = numbers[1] or None, self._place(numbers, frame)
        if accepted is not None and not 0 < accepted <= FARTHEST:
            raise self._plan.error(f"an acceptance radius is 0 to {FARTHEST:g} m, got {accepted:g}")
        return _then_rest(_going(place, _yaw(numbers[3]), accepted), self._seconds(numbers[0] or 0.0))

    def _loiter_time(self, numbers: Numbers, frame: Any) -> Flight:
        """Multirotors hold there, as MAVLink says."""
        if not self._plan.is_for_wings:
            return self._waypoint(numbers, frame)
        return self._circling(self._place(numbers, frame), numbers[2], self._seconds(numbers[0] or 0.0))

    def _loiter_to_altitude(self, numbers: Numbers, frame: Any) -> Flight:
        place = self._place(numbers, frame)
        return self._circling(place, numbers[1], 0.0) if self._plan.is_for_wings else _going(place)

    def _circling(self, place: Place, radius: float | None, seconds: float | None) -> Flight:
        """Of an aeroplane: clockwise if the radius is positive, the usual radius if it is 0."""
        if radius and abs(radius) > FARTHEST:
            raise self._plan.error(f"a circle's radius is at most {FARTHEST:g} m, got {radius:g}")
        at, wide = (place.x, place.y, place.z), abs(radius) if radius else None

        def fly(way: Way) -> Iterator[Any]:
            way.place = at
            yield Loiter(loiter=at, seconds=seconds, radius=wide, clockwise=(radius or 1.0) > 0)

        return fly

    def _loiter(self, numbers: Numbers, frame: Any) -> Flight:
        place = self._place(numbers, frame)
        go = self._circling(place, numbers[2], None) if self._plan.is_for_wings else _going(place, _yaw(numbers[3]))

        def fly(way: Way) -> Iterator[Any]:
            way.is_over = True
            return go(way)

        return fly

    def _circle(self, numbers: Numbers, frame: Any) -> Flight:
        place, turns = self._place(numbers, frame), numbers[0] or 1.0
        radius = numbers[2] or (1.0 if self._plan.is_for_wings else USUAL_RADIUS)
        if not 0 < turns <= MOST_TURNS:
            raise self._plan.error(f"a circle has up to {MOST_TURNS} turns, got {turns:g}")
        if abs(radius) > FARTHEST:
            raise self._plan.error(f"a circle's radius is at most {FARTHEST:g} m, got {radius:g}")
        centre, clockwise = (place.x, place.y, place.z), radius > 0

        def fly(way: Way) -> Iterator[Any]:
            wide = {"radius": abs(radius)} if numbers[2] or not self._plan.is_for_wings else {}
            circle = Circle(circle=centre, turns=turns, clockwise=clockwise, **wide, **way.pace)
            way.place = _end_of(circle, way.place)
            yield circle

        return fly

    def _spline(self, numbers: Numbers, frame: Any) -> Flight:
        place = self._place(numbers, frame)

        def fly(way: Way) -> Iterator[Any]:
            way.place = (place.x, place.y, place.z)
            yield SplinePoint(way.place, way.speed)

        return _then_rest(fly, self._seconds(numbers[0] or 0.0))

    def _land(self, numbers: Numbers, frame: Any) -> Flight:
        point = self._plan.point([numbers[4], numbers[5]]) if numbers[4] and numbers[5] else None
        if self._plan.is_for_wings:
            return lambda way: iter([way.land(point)])
        return _landing(point)

    def _landing_pattern(self, raw: dict[str, Any]) -> Flight:
        """An aeroplane's: where it touches down, and from where it approaches, which here gives only the course."""
        land = self._plan.point(raw.get("landCoordinate"))
        begin = self._plan.point(raw.get("landingApproachCoordinate") or raw.get("loiterCoordinate"))
        course = atan2(land[1] - begin[1], land[0] - begin[0])
        return lambda way: iter([way.land(land, course)])

    def _return(self, numbers: Numbers, frame: Any) -> Flight:
        if self._plan.is_for_wings:
            return lambda way: iter([way.land()])
        return _landing(self._plan.home)

    def _land_start(self, numbers: Numbers, frame: Any) -> Flight:
        """A mark for autopilots that abort a mission; who flies all of it passes by."""
        return nothing

    def _delay(self, numbers: Numbers, frame: Any) -> Flight:
        rest = Rest(sleep=self._seconds(numbers[0]))
        return lambda way: iter([rest])

    def _seconds(self, seconds: float | None) -> float:
        if seconds is None or seconds < 0:
            raise self._plan.error(f"a delay takes a number of seconds, got {seconds}; times of day are not supported")
        return seconds

    def _turn(self, numbers: Numbers, frame: Any) -> Flight:
        angle, rate, side, relative = numbers[:4]
        if angle is None or not -360 <= angle <= 360:
            raise self._plan.error(f"a turn takes an angle of −360 to 360 degrees, got {angle}")
        if side not in (None, -1, 0, 1) or relative not in (None, 0, 1):
            got = f"got {side} and {relative}"
            raise self._plan.error(f"a turn takes a side of −1, 0 or 1, and 1 if its angle is relative, {got}")
        if self._plan.is_for_wings:
            self._plan.warn("a turn on the spot is left out: the plan is for an aeroplane")
            return nothing
        pace = {"rate": radians(rate)} if rate and rate > 0 else {}
        if relative:
            turn = Turn(turn=radians(angle) * (1 if side == -1 else -1), relative=True, **pace)
        else:
            turn = Turn(turn=_yaw(angle), clockwise=side == 1 if side else None, **pace)
        return lambda way: iter([turn])

    def _change_speed(self, numbers: Numbers, frame: Any) -> Flight:
        if numbers[0] in (2, 3):
            self._plan.warn("a change of the speed to climb or descend is left out")
            return nothing
        speed = self._plan.speed if numbers[1] == -2 else self._plan.checked_speed(numbers[1])

        def fly(way: Way) -> Iterator[Any]:
            way.speed = speed or way.speed
            return iter(())

        return fly

    def _transition(self, numbers: Numbers, frame: Any) -> Flight:
        """Of what hovers and cruises: from now on at the plan's speed of cruise (4), or of hovering (3)."""
        if numbers[0] not in (3, 4):
            raise self._plan.error(f"a transition leads to hovering (3) or to cruise (4), got {shown(numbers[0])}")
        speed = self._plan.cruise_speed if numbers[0] == 4 else self._plan.speed

        def fly(way: Way) -> Iterator[Any]:
            way.speed = speed
            return iter(())

        return fly

    def _sprayer(self, numbers: Numbers, frame: Any) -> Flight:
        """In proportion to the speed, as ArduPilot's; param 2, the flow at the plan's speed, is Airloom's own."""
        on, flow = numbers[0], numbers[1] or 0.0
        if on not in (0, 1) or flow < 0:
            raise self._plan.error(f"a sprayer is switched off (0) or on (1), got {shown(numbers[:2])}")
        if not on:
            return lambda way: iter([Spray(spray=0.0)])
        return lambda way: iter([Spray(spray=flow or 1.0, of_pump=not flow, speed=way.speed or 0.0)])

    def _servo(self, numbers: Numbers, frame: Any) -> Flight:
        if numbers[1] is None or not 500 <= numbers[1] <= 2500:
            raise self._plan.error(f"a servo takes a pulse of 500 to 2500 µs, got {numbers[1]}")
        return self._pump((numbers[1] - 1000) / 1000, f"servo {numbers[0] or 0:g}")

    def _actuator(self, numbers: Numbers, frame: Any) -> Flight:
        value = numbers[0]
        if value is None or not -1 <= value <= 1:
            raise self._plan.error(f"actuator 1 takes a value of −1 to 1, got {value}")
        return self._pump((value + 1) / 2, "actuator 1")

    def _pump(self, share: float, what: str) -> Flight:
        if not self._pump_told:
            self._plan.warn(f"{what} is taken for the pump of the sprayer")
            self._pump_told = True
        return lambda way: iter([Spray(spray=min(max(share, 0.0), 1.0), of_pump=True)])

    def _place(self, numbers: Numbers, frame: Any, instead: Point | None = None) -> Place:
        """Above a latitude and longitude, or above another point if they are left out."""
        plan = self._plan
        latitude, longitude, altitude = numbers[4:]
        nowhere = latitude is None or longitude is None
        if altitude is None or (nowhere and instead is None):
            raise plan.error("latitude, longitude and altitude (params 5 to 7) must be given")
        above = FRAMES.get(frame) if isinstance(frame, int) else None
        if above is None:
            known = "0 (above the sea), 3 (above home) and 10 (above the ground)"
            raise plan.error(f"frame {shown(frame)} is not supported; known are {known}")
        x, y = instead if nowhere and instead else plan.point([latitude, longitude])
        if above == ABOVE_GROUND:
            return plan.above(x, y, plan.ground(x, y) + altitude, altitude)
        if above == ABOVE_HOME:
            return plan.above(x, y, plan.home_height + altitude)
        if latitude is None or longitude is None:
            return plan.above(x, y, altitude - plan.origin.altitude)
        return plan.above(*plan.local(latitude, longitude, altitude))


def _going(place: Place, yaw: float | None = None, acceptance: float | None = None) -> Flight:
    return lambda way: iter([way.goto(place, yaw, acceptance)])


def _over(fly: Flight, is_line: bool) -> Flight:
    """What a step of a survey flies, over its places and along its lines."""

    def over(way: Way) -> Iterator[Any]:
        for item in fly(way):
            is_going = isinstance(item, GoTo)
            yield item.model_copy(update={"acceptance": 0.0, "line": is_line}) if is_going else item

    return over


def _is_along_the_first(places: list[Point]) -> bool:
    """Whether the last leg of a survey is one of its lines: the first leg is, and they are parallel."""
    if len(places) < 2:
        return False
    (ax, ay), (bx, by) = ((end[0] - begin[0], end[1] - begin[1]) for begin, end in (places[:2], places[-2:]))
    return abs(ax * by - ay * bx) <= PARALLEL * hypot(ax, ay) * hypot(bx, by)


def _then_rest(fly: Flight, seconds: float) -> Flight:
    rest = [Rest(sleep=seconds)] if seconds else []
    return lambda way: iter([*fly(way), *rest])


def _landing(point: Point | None) -> Flight:
    """At a point, or where it is, from the height that it has."""
    return lambda way: iter([*([way.goto_level(point)] if point else []), way.land()])


def _end_of(circle: Circle, here: Vector3) -> Vector3:
    """Where a circle ends that begins at its point nearest to here."""
    x, y, z = circle.circle
    theta = atan2(here[1] - y, here[0] - x) + 2 * pi * circle.turns * (-1 if circle.clockwise else 1)
    return x + circle.radius * cos(theta), y + circle.radius * sin(theta), z


def _yaw(compass: float | None) -> float | None:
    """Degrees clockwise from north → radians counter-clockwise from east."""
    if compass is None:
        return None
    east = pi / 2 - radians(compass)
    return atan2(sin(east), cos(east))
