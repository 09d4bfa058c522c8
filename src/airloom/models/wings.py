"""Wings: Gazebo's LiftDrag plugins as surfaces, AdvancedLiftDrag as aerodynamics, the joints of flaps as servos.

Signs and defaults are those of gz-sim's code (src/systems/lift_drag/LiftDrag.cc and advanced_lift_drag/
AdvancedLiftDrag.cc): a joint's angle adds control_joint_rad_to_cl to C_L and cm_delta to C_m per radian; a surface of
AdvancedLiftDrag adds its coefficients per degree, times its direction.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import degrees, pi, sqrt
from typing import Any

import numpy as np

from airloom.models.description import Description, Joint, ModelError, Plugin
from airloom.models.lumping import Body
from airloom.models.plugins import (
    direction_in,
    is_advanced_lift_drag,
    is_lift_drag,
    is_position_controller,
    link_in,
    many_in,
    number_in,
    only_tells,
    place_of,
    positive_in,
    vector_in,
    word_in,
    words_of,
)
from airloom.models.sensing import clean_name
from airloom.models.yaml_text import plain

Values = dict[str, Any]
DENSITY = 1.225  # kg/m³ of the standard atmosphere
OTHER_FLUID = 0.2  # share by which a density differs that is not that of air
NEVER = pi / 2 - 1e-6  # rad, Gazebo's stall if none is given
USUAL_REACH, USUAL_LAG, LONGEST_LAG = 0.5, 0.05, 10.0  # rad, s, s
MOST_SERVOS = 8
ALONG = 1e-3  # how far axes may differ that are taken as the same
DERIVATIVES = {"drag": "CD", "side": "CY", "lift": "CL", "roll": "Cell", "pitch": "Cem", "yaw": "Cen"}


class Wings:
    """What a vehicle file says of them: `surfaces`, `aerodynamics`, `servos`."""

    def __init__(self, description: Description, body: Body, spinning: set[str]) -> None:
        self._description, self._body = description, body
        self.surfaces: dict[str, Values] = {}
        self.aerodynamics: Values | None = None
        self.servos: dict[str, Values] = {}
        self._servo_of: dict[str, str | None] = {}
        for plugin in description.plugins:
            if is_lift_drag(plugin) and link_in(description, plugin, "link_name").name not in spinning:
                self._add_surfaces(plugin)
            elif is_advanced_lift_drag(plugin):
                self._add_aircraft(plugin)
        self._tell()

    @property
    def moved(self) -> set[str]:
        """Joints that are servos."""
        return {joint for joint, servo in self._servo_of.items() if servo}

    def entries(self) -> Values:
        made = {"surfaces": self.surfaces, "aerodynamics": self.aerodynamics, "servos": self.servos}
        return {key: value for key, value in made.items() if value}

    def _add_surfaces(self, plugin: Plugin) -> None:
        description, v, place = self._description, plugin.values, place_of(self._description, plugin)
        link = link_in(description, plugin, "link_name")
        pose = self._body.pose_of(link)
        if not vector_in(v, "forward", "1 0 0", place).any() or not vector_in(v, "upward", "0 0 1", place).any():
            description.notes.ignore(f"the surface of {link.name}, which faces nowhere (LiftDrag)")
            return
        forward = pose.rotation @ direction_in(v, "forward", "1 0 0", place)
        up = pose.rotation @ direction_in(v, "upward", "0 0 1", place)
        lift = number_in(v, "cla", 1.0, place)
        surface: Values = {
            "position": plain(pose.rotation @ vector_in(v, "cp", "0 0 0", place) + pose.position),
            "forward": plain(forward), "up": plain(up), "area": self._area(v, place),
            "alpha_0": number_in(v, "a0", 0.0, place),
            "stall": min(positive_in(v, "alpha_stall", NEVER, place), NEVER),
            "lift": lift, "lift_stalled": number_in(v, "cla_stall", 0.0, place),
            "drag": number_in(v, "cda", 0.01, place), "drag_stalled": number_in(v, "cda_stall", 1.0, place),
        }  # fmt: skip
        for ours, theirs in (("moment", "cma"), ("moment_stalled", "cma_stall")):
            surface |= {ours: number_in(v, theirs, 0.0, place)} if number_in(v, theirs, 0.0, place) else {}
        surface |= self._flap(plugin, link.name, lift, forward, up)
        own = "" if "::" in plugin.name or is_lift_drag(Plugin(plugin.name, "", {})) else plugin.name
        name = word_in(v, "surface") or own or surface.get("servo") or word_in(v, "control_joint_name") or link.name
        ways = {"": up}
        if word_in(v, "radial_symmetry").lower() in ("1", "true"):
            description.notes.assume(f"{link.name} lifts alike to all sides: two surfaces across each other here")
            ways["_aside"] = np.cross(forward, up)
        for more, way in ways.items():
            self.surfaces[clean_name(name + more, self.surfaces)] = {**surface, "up": plain(way)}

    def _area(self, values: Values, place: str) -> float:
        """The world knows the air's density, so the plugin's counts only if it is that of something else."""
        area, density = positive_in(values, "area", 1.0, place), positive_in(values, "air_density", 1.2041, place)
        if abs(density / DENSITY - 1.0) < OTHER_FLUID:
            return area
        self._description.notes.assume(
            f"{place}: a density of {density:g} kg/m³ is not that of air; its area is larger or smaller instead"
        )
        return plain(area * density / DENSITY)

    def _flap(self, plugin: Plugin, link: str, slope: float, forward: np.ndarray, up: np.ndarray) -> Values:
        """What moves a surface: a flap on it, or a joint that turns all of it, which turns its angle of attack."""
        description, v, place = self._description, plugin.values, place_of(self._description, plugin)
        named = word_in(v, "control_joint_name")
        if named:
            joint = description.joints.get(plugin.prefix + named)
            if joint is None:
                raise ModelError(f"{place}: there is no joint '{named}'")
            lift, moment = number_in(v, "control_joint_rad_to_cl", 4.0, place), number_in(v, "cm_delta", 0.0, place)
        else:
            joint = next((j for j in description.joints.values() if j.child == link and j.kind == "revolute"), None)
            if joint is None or joint.is_fixed:
                return {}
            axis = self._body.to_body.rotation @ joint.axis
            lift, moment = slope * float(np.cross(axis, forward) @ up), 0.0
        servo = self._servo(joint)
        if servo is None:
            return {}
        return {"servo": servo, "lift_by_servo": plain(lift), **({"moment_by_servo": moment} if moment else {})}

    def _servo(self, joint: Joint) -> str | None:
        """None for a joint that nobody moves: it is held at zero."""
        if joint.name not in self._servo_of:
            drivers = list(_drivers(self._description, joint.name))
            if drivers and len(self.servos) == MOST_SERVOS:
                self._description.notes.ignore(f"the servo {joint.name}: a vehicle has {MOST_SERVOS} at most")
                drivers = []
            name = clean_name(joint.name, self.servos) if drivers and not joint.is_fixed else None
            if name:
                self.servos[name] = self._servo_values(joint, drivers)
            self._servo_of[joint.name] = name
        return self._servo_of[joint.name]

    def _servo_values(self, joint: Joint, drivers: list[Plugin]) -> Values:
        """The lag of a joint with damping d whose angle a controller of gain p holds is d/p."""
        notes = self._description.notes
        low, high = joint.limits or (-pi, pi)
        if low <= -pi or high >= pi or low >= high:
            notes.assume(f"the servo {joint.name} has no limits: ±{USUAL_REACH} rad")
            low, high = -USUAL_REACH, USUAL_REACH
        controller = next(filter(is_position_controller, drivers), None)
        lag = USUAL_LAG
        if controller is not None and joint.damping > 0.0:
            gain = positive_in(controller.values, "p_gain", 1.0, place_of(self._description, controller))
            lag = min(joint.damping / gain, LONGEST_LAG)
        else:
            notes.assume(f"the servo {joint.name} lags by {USUAL_LAG} s")
        rate = {} if joint.fastest is None else {"rate": plain(joint.fastest)}
        return {"lowest": plain(min(low, 0.0)), "highest": plain(max(high, 0.0)), "lag": plain(lag), **rate}

    def _add_aircraft(self, plugin: Plugin) -> None:
        description, v, place = self._description, plugin.values, place_of(self._description, plugin)
        pose = self._body.pose_of(link_in(description, plugin, "link_name"))
        forward = pose.rotation @ direction_in(v, "forward", "1 0 0", place)
        up = pose.rotation @ direction_in(v, "upward", "0 0 1", place)
        if np.abs(forward - [1, 0, 0]).max() > ALONG or np.abs(up - [0, 0, 1]).max() > ALONG:
            description.notes.ignore(f"{place}: its forward is not the x axis of the vehicle, or its up not the z axis")
            return
        if self.aerodynamics is not None:
            description.notes.ignore(f"{place}: a vehicle has one aerodynamics, and this is a second")
            return
        area, aspect = self._area(v, place), positive_in(v, "AR", None, place)
        made: Values = {
            "position": plain(pose.rotation @ vector_in(v, "cp", "0 0 0", place) + pose.position), "area": area,
            "span": plain(sqrt(area * aspect)), "efficiency": positive_in(v, "eff", None, place),
            "stall": min(positive_in(v, "alpha_stall", NEVER, place), NEVER),
            "pitch_stalled": number_in(v, "Cema_stall", 0.0, place),
        }  # fmt: skip
        if number_in(v, "mac", 0.0, place):
            made["chord"] = positive_in(v, "mac", None, place)
        count = number_in(v, "num_ctrl_surfaces", 0.0, place)
        surfaces = many_in(v, "control_surface")[: max(int(count), 0)]
        for ours, theirs in DERIVATIVES.items():
            made[ours] = self._coefficient(plugin, theirs, surfaces)
        if made["pitch"].get("zero") or made["pitch"].get("alpha"):
            description.notes.assume(
                "Cem0 and Cema count, as the description of AdvancedLiftDrag says; Gazebo's code loses them"
            )
        self.aerodynamics = made

    def _coefficient(self, plugin: Plugin, theirs: str, surfaces: list[Values]) -> Values:
        v, place = plugin.values, place_of(self._description, plugin)
        keys = {"zero": "0", "alpha": "a", "beta": "b", "p": "p", "q": "q", "r": "r"}
        made = {ours: number_in(v, theirs + letter, 0.0, place) for ours, letter in keys.items()}
        servos: dict[str, float] = {}
        for surface in surfaces:
            joint = self._description.joints.get(plugin.prefix + word_in(surface, "name"))
            if joint is None:
                raise ModelError(f"{place}: there is no joint '{word_in(surface, 'name')}'")
            per_degree = number_in(surface, f"{theirs}_ctrl", 0.0, place) * number_in(surface, "direction", 1.0, place)
            servo = self._servo(joint) if per_degree else None
            if servo:
                servos[servo] = plain(servos.get(servo, 0.0) + degrees(1.0) * per_degree)
        return {key: value for key, value in made.items() if value} | ({"servos": servos} if servos else {})

    def _tell(self) -> None:
        notes, count = self._description.notes, len(self.surfaces)
        if self.surfaces:
            notes.understand(f"{count} surface{'s' * (count != 1)} that lift{'s' * (count == 1)} (LiftDrag)")
            notes.assume("surfaces lift backwards as forwards, in air of the world's density")
        if self.aerodynamics:
            notes.understand("the aerodynamics of the whole aircraft (AdvancedLiftDrag)")
        if self.servos:
            notes.understand(f"{len(self.servos)} servos: {', '.join(self.servos)}")


def _drivers(description: Description, joint: str) -> Iterator[Plugin]:
    """Plugins that move a joint: whatever names it, but for those that it moves and those that only tell of it."""
    for plugin in description.plugins:
        moves = not (is_lift_drag(plugin) or is_advanced_lift_drag(plugin) or only_tells(plugin))
        if moves and any(plugin.prefix + word == joint for word in words_of(plugin.values)):
            yield plugin
