"""Steps of the batch engine."""

from airloom.compiled import compiled
from airloom.compiled import rows as row
from airloom.compiled.rows import LANES
from airloom.physics.attitude import normalize, rotate_by_rates
from airloom.physics.contact import add_ground_contact
from airloom.physics.rigid_body import newton_euler
from airloom.physics.wrench import gather_wrench

STATES = row.STATE_ROWS * LANES


@compiled
def derivative(w, world, effects, parameters):
    gather_wrench(w, effects, parameters)
    add_ground_contact(w, world)
    newton_euler(w)


@compiled
def _next_stage(w, weight, dt):
    for j in range(STATES):
        w[row.SUM + j] += weight * w[row.DERIVATIVE + j]
        w[row.STATE + j] = w[row.START + j] + dt * w[row.DERIVATIVE + j]


@compiled
def step_rk4(w, world, effects, parameters, dt):
    """Classical Runge-Kutta of fourth order; rotor speeds are held over the step."""
    for j in range(STATES):
        w[row.START + j] = w[row.STATE + j]
        w[row.SUM + j] = 0.0
    derivative(w, world, effects, parameters)
    _next_stage(w, 1.0, 0.5 * dt)
    derivative(w, world, effects, parameters)
    _next_stage(w, 2.0, 0.5 * dt)
    derivative(w, world, effects, parameters)
    _next_stage(w, 2.0, dt)
    derivative(w, world, effects, parameters)
    for j in range(STATES):
        w[row.STATE + j] = w[row.START + j] + dt / 6.0 * (w[row.SUM + j] + w[row.DERIVATIVE + j])
    normalize(w)


@compiled
def step_euler(w, world, effects, parameters, dt):
    """MuJoCo's scheme: velocities first, then positions with the new velocities, attitude by the exponential map."""
    for j in range(STATES):
        w[row.START + j] = w[row.STATE + j]
    derivative(w, world, effects, parameters)
    for j in range(3 * LANES):
        w[row.VX + j] += dt * w[row.DVX + j]
        w[row.WX + j] += dt * w[row.DWX + j]
    for j in range(3 * LANES):
        w[row.PX + j] += dt * w[row.VX + j]
    rotate_by_rates(w, dt)
