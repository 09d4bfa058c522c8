"""Moments of inertia that somebody has measured or rounded may be a little more than a rigid body's: they fly."""

import numpy as np
import pytest

from airloom.basics.inertia import excess, possible
from airloom.scenario import load
from airloom.simulation import Simulation

ROTORPY = {"xx": 1.43e-5, "yy": 1.43e-5, "zz": 2.89e-5}
"""Of its Crazyflie: spencerfolk/rotorpy, rotorpy/vehicles/crazyflie_params.py."""


@pytest.mark.parametrize("engine", ["mujoco", "batch"])
def test_published_moments_fly_with_a_warning(engine):
    overrides = {f"vehicles.cf.inertia.{key}": value for key, value in ROTORPY.items()}
    sim = Simulation(load("hover", overrides | {"engine": engine}))
    assert any(
        "its largest moment of inertia exceeds the sum of the other two by 1.0%" in text for text in sim.warnings
    )
    sim.run(until=0.05)
    largest = np.linalg.eigvalsh(sim.vehicles["cf"].description.inertia.matrix())[-1]
    assert largest == pytest.approx(2.86e-5, rel=1e-6)


def test_what_can_be_is_not_touched():
    inertia = np.diag([1.0, 2.0, 2.9])
    assert possible(inertia) is inertia
    assert excess(inertia) < 0.0
    assert not any("moment of inertia" in text for text in Simulation.load("hover").warnings)
