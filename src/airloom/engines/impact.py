"""Whether a body is about to hit something hard: then MuJoCo takes the tick in short parts, with stiffer contacts.

A contact of time constant T is a critically damped spring: a body that meets it with speed v sinks in by v T/e.
MuJoCo needs T of at least two steps and rests well with four, so at 60 m/s and a step of 4 ms a body would be 0.35 m
deep before it stands, and through most walls. Slow bodies sink little and need no more than the usual step. For a
fast one that is near ground, obstacle or vehicle, the tick is divided. What is near is judged by spheres around the
bodies' boxes, so that it costs ordinary flight a comparison a vehicle.
"""

from math import sqrt

from airloom.compiled import compiled
from airloom.compiled import rows as row
from airloom.compiled.rows import LANES
from airloom.world.ground import (
    OBSTACLE_WIDTH,
    W_DX,
    W_DY,
    W_HEADER,
    W_OBSTACLES,
    ceiling,
    is_thing_near,
    lowest_and_highest,
)


@compiled
def _reach(w, i):
    """Radius of a sphere around the origin that holds the box."""
    x = abs(w[row.BOX_CX + i]) + w[row.BOX_X + i]
    y = abs(w[row.BOX_CY + i]) + w[row.BOX_Y + i]
    z = abs(w[row.BOX_CZ + i]) + w[row.BOX_Z + i]
    return sqrt(x * x + y * y + z * z)


@compiled
def _length(x, y, z):
    return sqrt(x * x + y * y + z * z)


@compiled
def _is_any_fast(w, fast):
    """Of the lanes of a block, counted without branches; a corner's speed is at most |v| + |ω| reach."""
    count = 0
    for i in range(LANES):
        turn, reach = _length(w[row.WX + i], w[row.WY + i], w[row.WZ + i]), _reach(w, i)
        count += 1 if _length(w[row.VX + i], w[row.VY + i], w[row.VZ + i]) + turn * reach > fast else 0
    return count > 0


@compiled
def _nears_ground(w, i, world, reach, swing, dt, fast):
    """Level flight over flat ground does not come nearer, however fast."""
    x, y = w[row.PX + i], w[row.PY + i]
    level = sqrt(w[row.VX + i] * w[row.VX + i] + w[row.VY + i] * w[row.VY + i])
    range_, lowest = reach + level * dt, w[row.PZ + i] - reach - max(swing - w[row.VZ + i], 0.0) * dt
    if lowest > ceiling(world, x, y, range_):
        return False
    low, high = lowest_and_highest(world, x, y, range_)
    steepest = (high - low) / min(world[W_DX], world[W_DY]) if high > low else 0.0
    return lowest < high and steepest * level + swing - w[row.VZ + i] > fast


@compiled
def _beyond(x, half):
    """How far a coordinate is outside −half … half."""
    return max(abs(x) - half, 0.0)


@compiled
def _nears_obstacle(w, i, world, range_):
    for k in range(int(world[W_OBSTACLES])):
        at = W_HEADER + k * OBSTACLE_WIDTH
        x, y, z = w[row.PX + i] - world[at + 4], w[row.PY + i] - world[at + 5], w[row.PZ + i] - world[at + 6]
        c, s = world[at + 7], world[at + 8]
        x, y = _beyond(c * x + s * y, world[at + 1]), _beyond(c * y - s * x, world[at + 2])
        z = _beyond(z, world[at + 3])
        if x * x + y * y + z * z < range_ * range_:
            return True
    return is_thing_near(world, w[row.PX + i], w[row.PY + i], w[row.PZ + i], range_)


@compiled
def _nears_vehicle(w, i, reach, swing, blocks, vehicles, own, dt, fast):
    for b in range(blocks.shape[0]):
        other = blocks[b]
        for j in range(LANES):
            if vehicles[b, j] < 0 or vehicles[b, j] == own:
                continue
            x, y, z = (
                other[row.PX + j] - w[row.PX + i],
                other[row.PY + j] - w[row.PY + i],
                other[row.PZ + j] - w[row.PZ + i],
            )
            size = _reach(other, j)
            nearing = _length(
                other[row.VX + j] - w[row.VX + i], other[row.VY + j] - w[row.VY + i], other[row.VZ + j] - w[row.VZ + i]
            )
            nearing += swing + size * _length(other[row.WX + j], other[row.WY + j], other[row.WZ + j])
            if nearing > fast and _length(x, y, z) < reach + size + nearing * dt:
                return True
    return False


@compiled
def hits_soon(blocks, vehicles, world, dt, fast):
    """Whether a vehicle may hit ground, obstacle or another within a tick, some corner moving faster than `fast`."""
    for b in range(blocks.shape[0]):
        w = blocks[b]
        if not _is_any_fast(w, fast):
            continue
        for i in range(LANES):
            reach = _reach(w, i)
            swing = reach * _length(w[row.WX + i], w[row.WY + i], w[row.WZ + i])
            speed = swing + _length(w[row.VX + i], w[row.VY + i], w[row.VZ + i])
            if vehicles[b, i] < 0 or not speed > fast:
                continue
            if (
                _nears_ground(w, i, world, reach, swing, dt, fast)
                or _nears_obstacle(w, i, world, reach + speed * dt)
                or _nears_vehicle(w, i, reach, swing, blocks, vehicles, vehicles[b, i], dt, fast)
            ):
                return True
    return False
