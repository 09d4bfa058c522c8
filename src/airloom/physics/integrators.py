"""Steps of the batch engine."""

from airloom.compiled import compiled
from airloom.physics.attitude import normalize, rotate_by_rates
from airloom.physics.contact import add_ground_contact
from airloom.physics.rigid_body import newton_euler
from airloom.physics.rows import (
    DERIVATIVE, DVX, DWX, LANES, PX, START, STATE, STATE_ROWS, SUM, VX, WX,
)  # fmt: skip
from airloom.physics.wrench import gather_wrench

STATES = STATE_ROWS * LANES


@compiled
def derivative(w, world, effects, parameters):
    gather_wrench(w, effects, parameters)
    add_ground_contact(w, world)
    newton_euler(w)


@compiled
def _next_stage(w, weight, dt):
    for j in range(STATES):
        w[SUM + j] += weight * w[DERIVATIVE + j]
        w[STATE + j] = w[START + j] + dt * w[DERIVATIVE + j]


@compiled
def step_rk4(w, world, effects, parameters, dt):
    """Classical Runge-Kutta of fourth order; rotor speeds are held over the step."""
    for j in range(STATES):
        w[START + j] = w[STATE + j]
        w[SUM + j] = 0.0
    derivative(w, world, effects, parameters)
    _next_stage(w, 1.0, 0.5 * dt)
    derivative(w, world, effects, parameters)
    _next_stage(w, 2.0, 0.5 * dt)
    derivative(w, world, effects, parameters)
    _next_stage(w, 2.0, dt)
    derivative(w, world, effects, parameters)
    for j in range(STATES):
        w[STATE + j] = w[START + j] + dt / 6.0 * (w[SUM + j] + w[DERIVATIVE + j])
    normalize(w)


@compiled
def step_euler(w, world, effects, parameters, dt):
    """MuJoCo's scheme: velocities first, then positions with the new velocities, attitude by the exponential map."""
    for j in range(STATES):
        w[START + j] = w[STATE + j]
    derivative(w, world, effects, parameters)
    for j in range(3 * LANES):
        w[VX + j] += dt * w[DVX + j]
        w[WX + j] += dt * w[DWX + j]
    for j in range(3 * LANES):
        w[PX + j] += dt * w[VX + j]
    rotate_by_rates(w, dt)
