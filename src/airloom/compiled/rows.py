"""The workspace of a block: eight vehicles side by side, one named row for each quantity.

A block is one flat array. Row `PX` holds the x position of the block's eight vehicles, and vehicle `i` of the
block is at `w[PX + i]`. Lane loops over such rows compile to vector instructions. Units are SI, the world is
east-north-up, the body forward-left-up; "origin" is the vehicle's reference point, "centre" its centre of mass.
"""

LANES = 8
"""Vehicles in a block."""
PARKED = 1e6
"""Height of lanes without a vehicle, m."""

STATE_ROWS = 13
GAIN_ROWS = 48
MEMORY_ROWS = 36
COMMAND_ROWS = 4

_next = 0


def _rows(count: int) -> list[int]:
    global _next
    start, _next = _next, _next + count
    return [(start + k) * LANES for k in range(count)]


# The state that the engine integrates: origin position and velocity in the world, attitude body→world, body rates.
PX, PY, PZ, QW, QX, QY, QZ, VX, VY, VZ, WX, WY, WZ = _rows(STATE_ROWS)
STATE = PX

(MODE,) = _rows(1)  # the control mode in force, 0 if idle
# The last command of each mode is kept while another is in force. Position and yaw; the yaw's cosine and sine.
SPX, SPY, SPZ, SVX, SVY, SVZ, SAX, SAY, SAZ, SYAW, SYAWRATE, SCOS, SSIN = _rows(13)
BVX, BVY, BVZ, BAX, BAY, BAZ, BYAWRATE, B_IN_BODY = _rows(8)  # the last command of velocity and yaw rate
ATHRUST, AROLL, APITCH, AYAW, AROLLRATE, APITCHRATE, AYAWRATE = _rows(7)  # of thrust and attitude
RTHRUST, RX, RY, RZ, RAX, RAY, RAZ, R_IN_WORLD = _rows(8)  # of thrust and angular velocity
QTHRUST, QTX, QTY, QTZ, Q_IN_WORLD = _rows(5)  # of thrust and torque
GIVEN = _rows(6)[0]  # 1 for each mode that has had a command

# What odometry read last: position, attitude, velocity in the body, rates.
OPX, OPY, OPZ, OQW, OQX, OQY, OQZ, OVX, OVY, OVZ, OWX, OWY, OWZ = _rows(13)
GX, GY, GZ, AX, AY, AZ = _rows(6)  # what the IMU read last: gyroscope and accelerometer

# What the estimator believes: position and velocity in the world, attitude, body rates.
EPX, EPY, EPZ, EVX, EVY, EVZ, EQW, EQX, EQY, EQZ, EWX, EWY, EWZ = _rows(13)

GAIN = _rows(GAIN_ROWS)[0]  # the controller's numbers, 48 rows that it names itself
MEMORY = _rows(MEMORY_ROWS)[0]  # what the controller remembers, 36 rows
FILTER_GAIN = _rows(8)[0]  # the estimator's numbers, 8 rows
FILTER_MEMORY = _rows(8)[0]  # what the estimator remembers, 8 rows
# What the controller asks of its inner loop, kept for the log: thrust, roll, pitch, yaw rate.
COMMAND = _rows(COMMAND_ROWS)[0]

# The body: mass, centre of mass from the origin, inertia about the centre, quadratic drag.
MASS, CX, CY, CZ, JXX, JYY, JZZ, JXY, JXZ, JYZ, DRAG = _rows(11)
BOX_X, BOX_Y, BOX_Z, BOX_CX, BOX_CY, BOX_CZ = _rows(6)  # its bounding box: half its size, and its middle
INV_MASS, INV_JXX, INV_JYY, INV_JZZ, INV_JXY, INV_JXZ, INV_JYZ = _rows(7)  # inverse of mass and inertia matrix

WINDX, WINDY, WINDZ, GRAVITY = _rows(4)  # wind and gravity at the vehicle, world
EFX, EFY, EFZ, ETX, ETY, ETZ = _rows(6)  # from systems: force at the centre (world) and torque (body)

# Mean acceleration of the origin (world) and of the rates (body) over the last tick: what an IMU integrates.
MEAN_AX, MEAN_AY, MEAN_AZ, MEAN_ALPHA_X, MEAN_ALPHA_Y, MEAN_ALPHA_Z = _rows(6)

KEPT_ROWS = _next
"""Rows up to here survive the tick; those below are scratch of one derivative or one step."""

# The air's density as a share of 1.225 kg/m³: 1 unless the weather says otherwise. It follows from the altitude.
(DENSITY,) = _rows(1)
R00, R01, R02, R10, R11, R12, R20, R21, R22 = _rows(9)  # rotation matrix body→world
UX, UY, UZ = _rows(3)  # velocity of the centre through the air, body
FX, FY, FZ, TX, TY, TZ = _rows(6)  # wrench about the centre, body
# How the state changes, in a second.
DPX, DPY, DPZ, DQW, DQX, DQY, DQZ, DVX, DVY, DVZ, DWX, DWY, DWZ = _rows(STATE_ROWS)
DERIVATIVE = DPX
START = _rows(STATE_ROWS)[0]  # the state at the beginning of a step
SUM = _rows(STATE_ROWS)[0]  # derivatives that an integrator adds up
# The rotors of this tick together: wrench = ROTOR_PUSH − ROTOR_DAMPING · (velocity through the air, rates).
ROTOR_PUSH = _rows(6)[0]
ROTOR_DAMPING = _rows(36)[0]  # see ROTOR_PUSH; row by row
SCRATCH = _rows(16)[0]  # the controller's, for one call; the mixer works in them

# What a tank has left in this tick, 0 without one: litres, litres per minute; mass of the liquid, its centre from the
# origin, its inertia about that, all as if it were frozen.
LITRES, FLOW, LIQUID_MASS, LIQUID_X, LIQUID_Y, LIQUID_Z, LIQUID_JXX, LIQUID_JYY, LIQUID_JZZ = _rows(9)
# What its swinging adds: force and torque about the origin, body; and the sum of mass × displacement of what swings.
SWING_FX, SWING_FY, SWING_FZ, SWING_TX, SWING_TY, SWING_TZ, SWING_X, SWING_Y = _rows(8)

# What a battery has left in this tick, 0 without one: voltage, the current that is drawn, charge and capacity (Ah).
BATTERY_VOLTAGE, BATTERY_CURRENT, BATTERY_CHARGE, BATTERY_CAPACITY = _rows(4)

SERVOS = 8
"""As many as a vehicle can have."""
SERVO = _rows(SERVOS)[0]  # what each servo is told, −1 … 1
(AIRSPEED,) = _rows(1)  # what an airspeed sensor read last, m/s; 0 without one
WASHES = 8
"""As many propellers of a vehicle can blow over its surfaces."""
WASH = _rows(WASHES)[0]  # by how much each of them speeds the air up in its disc, m/s
LEAN_X, LEAN_Y, LEAN_Z = _rows(3)  # gravity at the vehicle less that of the row GRAVITY, world; 0 on a flat Earth
WING_GAIN = _rows(GAIN_ROWS)[0]  # numbers of the law of wings, for a controller that flies on rotors as well

WIDTH = _next * LANES

# One rotor of a block: the same idea, `rotors[r * ROTOR_WIDTH + SPEED + i]`. Rotors come in fours, idle ones added.
ROTORS_TOGETHER = 4
_next = 0
# Of a rotor: its speed and the one it is told, thrust per speed², the lag of its motor, its greatest speed.
SPEED, TARGET, THRUST_CONSTANT, LAG_UP, LAG_DOWN, MAX_SPEED = _rows(6)
(SHARE,) = _rows(1)  # of the speed it is told; less than 1 if it fails
(MIN_SPEED,) = _rows(1)  # 0, or negative if it turns backwards too
MIX_THRUST, MIX_X, MIX_Y, MIX_Z = _rows(4)  # this rotor's thrust per collective thrust and per torque
ROTOR_WIDTH = _next * LANES

# Its propeller: what its speed becomes. Blocks of equal vehicles share theirs, so that they stay in the cache.
_next = 0
PUSH = _rows(6)[0]  # of a propeller: wrench per speed²
# Of a propeller: wrench per speed and per (velocity through the air, rates), row by row.
DAMPING = _rows(36)[0]
PROPELLER_WIDTH = _next * LANES
