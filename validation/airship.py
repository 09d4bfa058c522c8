"""Airships: what the air that moves along does, beside Lamb's table, Munk's moment and the balance of forces."""

from __future__ import annotations

from math import pi

from airloom.scenario import load_vehicle
from airloom.scenario.ellipsoids import added_mass
from airloom.scenario.models import Motion, Pose, Scenario
from airloom.simulation import Simulation
from validation.case import Outcome, Row, case, engine

LAMB = {
    1.5: (0.305, 0.621, 0.094), 2.0: (0.209, 0.702, 0.240), 2.99: (0.122, 0.803, 0.465), 3.99: (0.082, 0.860, 0.608),
    6.01: (0.045, 0.918, 0.764), 9.97: (0.021, 0.960, 0.883),
}  # fmt: skip
"""Length over width: k₁, k₂, k′."""
SIZE, GRAVITY = (4.7, 1.4, 1.9), 9.80665
DISPLACED = 1.225 * pi / 6 * SIZE[0] * SIZE[1] * SIZE[2]


def adrift(on: str, velocity: tuple[float, float, float], damped: bool = True) -> Simulation:
    """The bundled `airship` without its stack, high up; without fins and drag if it shall not be damped."""
    ship = load_vehicle("airship")
    bare = {} if damped or ship.hull is None else {
        "surfaces": {}, "servos": {}, "hull": ship.hull.model_copy(update={"quadratic_damping": (0.0,) * 6}),
    }  # fmt: skip
    pose, motion = Pose(position=(0, 0, 1000)), Motion(velocity=velocity)
    ship = ship.model_copy(update={"pose": pose, "motion": motion, "controller": None, **bare})
    scenario = {"name": "adrift", "engine": engine(on), "vehicles": {"v": ship}}
    return Simulation(Scenario.model_validate(scenario))


@case("Airship", "Lamb, Hydrodynamics (1932), articles 114 and 115, with his table; Munk, NACA report 184 (1924)")
def airship() -> Outcome:
    """Ellipsoids of revolution drag along k₁ and k₂ of the mass they displace, and k′ of its inertia when turning. The
    bundled `airship` starts to sink with (m − ρV) g/(m + m_Az); without fins, slipping by 0.3 m/s at 3 m/s, it turns
    across its way with (m_Ay − m_Ax) u v/(J + J_A).
    """
    rows = []
    for slender, (along, across, turning) in LAMB.items():
        air = added_mass((slender, 1.0, 1.0), 1.0)
        rows.append(Row(f"k₁ at {slender:g}", air[0], along, 0.002))
        rows.append(Row(f"k₂ at {slender:g}", air[1], across, 0.003))
        rows.append(Row(f"k′ at {slender:g}", air[5] / ((slender**2 + 1.0) / 20.0), turning, 0.003))
    ship, air = load_vehicle("airship"), added_mass(SIZE, DISPLACED)
    heavy = (ship.mass - DISPLACED) * GRAVITY
    for on in ("rk4", "mujoco"):
        sim = adrift(on, (0.0, 0.0, 0.0))
        sim.run(until=0.5)
        sinks = -sim.vehicles["v"].velocity[2] / 0.5
        rows.append(Row(f"sinks, {on}", sinks, heavy / (ship.mass + air[2]), 0.0005, "m/s²"))
        sim = adrift(on, (3.0, 0.3, 0.0), damped=False)
        sim.run(until=0.02)
        turns = -sim.vehicles["v"].rates[2] / 0.02
        expected = (air[1] - air[0]) * 3.0 * 0.3 / (ship.inertia.zz + air[5])
        rows.append(Row(f"turns across, {on}", turns, expected, 0.03 * expected, "rad/s²"))
    return Outcome(rows)
