"""What compiled code of your own needs: forces, sensors, estimators, controllers, guides and lines to autopilots.

    from airloom.kernels import LANES, effect, row

    @effect
    def damp_yaw(w, p):
        for i in range(LANES):
            w[row.TZ + i] -= p[i] * w[row.WZ + i]

A kernel is a function that Numba compiles to machine code and the loop calls by its address. `w` is the workspace of a
block, eight vehicles side by side: `w[row.PX + i]` is the x position of vehicle `i`. What is here stays as it is from
one version to the next, or the change is told; other compiled functions may change.
"""

from airloom.autopilots.axes import frd_from_flu, ned_frd_from_enu_flu, ned_from_enu
from airloom.compiled import Kernel, bytes_at, compiled, integers_at, libc, numbers_at
from airloom.compiled import rows as row
from airloom.compiled.lanes import angle_of, limit, shortest_turn, update
from airloom.compiled.rows import LANES
from airloom.control.flight_stack import ARRIVED, block_kernel, guide_kernel
from airloom.control.mixer import OTHER_WANTS, WANT_THRUST, WANT_X, WANT_Y, WANT_Z, mix
from airloom.engines.lockstep import FILE as WIRE_FILE
from airloom.engines.lockstep import OWN as WIRE_OWN
from airloom.engines.lockstep import RESULT as WIRE_RESULT
from airloom.engines.lockstep import STEP_NS as WIRE_STEP_NS
from airloom.engines.lockstep import TICKS as WIRE_TICKS
from airloom.engines.lockstep import WIRE_WIDTH, frame_kernel
from airloom.physics.attitude import multiply, rotate, rotate_back, rotation
from airloom.physics.wrench import effect, ticker
from airloom.sensors.noise import normal_pair
from airloom.sensors.sensor import (
    MOUNT_POSITION,
    OWN,
    READING,
    READING_WIDTH,
    body_to_world,
    sensor_kernel,
    sensor_position,
    sensor_velocity,
    sensor_velocity_in_body,
    to_sensor,
    world_to_body,
)
from airloom.sensors.sensor_errors import add_errors
from airloom.weather.air import wind_at, wind_law
from airloom.world.atmosphere import air_density, air_pressure, air_temperature, humid_air_density
from airloom.world.geodesy import geodetic_to_local, local_to_geodetic
from airloom.world.ground import (
    W_ALTITUDE,
    W_FIELD_X,
    W_FIELD_Y,
    W_FIELD_Z,
    W_GRAVITY,
    W_HUMIDITY,
    W_LATITUDE,
    W_LONGITUDE,
    W_PRESSURE,
    W_STEP,
    W_TEMPERATURE,
    ground,
    ray,
)

# The reference page has the same groups; what stands behind a name is said of it there.
__all__ = [  # noqa: RUF022
    # To make a kernel
    "compiled",
    "Kernel",
    "effect",
    "ticker",
    "wind_law",
    "block_kernel",
    "sensor_kernel",
    "guide_kernel",
    "frame_kernel",
    # The workspace of a block
    "LANES",  # vehicles in a block
    "row",  # the rows of the workspace, see below
    # Numbers in a loop over lanes, without calls and branches
    "limit",
    "update",
    "angle_of",
    "shortest_turn",
    # Rotations: quaternions w, x, y, z, body→world
    "rotation",
    "rotate",
    "rotate_back",
    "multiply",
    "body_to_world",
    "world_to_body",
    # The world, as the array `world`
    "ground",
    "ray",
    "air_temperature",
    "air_pressure",
    "air_density",
    "humid_air_density",
    "wind_at",
    "local_to_geodetic",
    "geodetic_to_local",
    "W_GRAVITY",  # gravity, m/s²
    "W_PRESSURE",  # pressure at the sea, Pa
    "W_HUMIDITY",  # relative humidity, 0 … 1
    "W_TEMPERATURE",  # temperature at the sea, K
    "W_LATITUDE",  # latitude of the origin, rad
    "W_LONGITUDE",  # longitude of the origin, rad
    "W_ALTITUDE",  # altitude of the origin above the sea, m
    "W_FIELD_X",  # magnetic field east, T
    "W_FIELD_Y",  # magnetic field north, T
    "W_FIELD_Z",  # magnetic field up, T
    "W_STEP",  # the simulation's step, s
    # Sensors
    "READING",  # where the reading begins in the sensor's row `s`
    "READING_WIDTH",  # numbers that a reading has room for
    "OWN",  # where the numbers of `own_parameters` begin in `s`
    "MOUNT_POSITION",  # where the place on the vehicle begins in `s`: x, y, z in the body, m
    "sensor_position",
    "sensor_velocity",
    "sensor_velocity_in_body",
    "to_sensor",
    "add_errors",
    "normal_pair",
    # Controllers
    "WANT_THRUST",  # row for the wanted thrust along body z, N
    "WANT_X",  # row for the wanted torque about body x, N m
    "WANT_Y",  # row for the wanted torque about body y, N m
    "WANT_Z",  # row for the wanted torque about body z, N m
    "OTHER_WANTS",  # the first of seven rows that `mix` does not touch
    "mix",
    # Guides
    "ARRIVED",  # where a guide notes in its plan whether the vehicle has arrived
    # Lines to autopilots
    "WIRE_FILE",  # column of a wire: the file number of its socket
    "WIRE_TICKS",  # column of a wire: ticks from frame to frame
    "WIRE_STEP_NS",  # column of a wire: ns in a tick
    "WIRE_RESULT",  # column of a wire: what came of hearing; below 0, Python deals with it
    "WIRE_OWN",  # the first column that is the kernels' own
    "WIRE_WIDTH",  # columns in all
    "numbers_at",  # `numbers_at(address, count)`: the array of numbers there, which somebody else must keep alive
    "integers_at",  # the same for whole numbers of 64 bits
    "bytes_at",  # the same for bytes
    "libc",  # functions of the C library: sockets, files, clocks
    "ned_from_enu",
    "frd_from_flu",
    "ned_frd_from_enu_flu",
]
