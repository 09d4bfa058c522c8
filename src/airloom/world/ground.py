"""The ground: a plane or a height field, its height and slope anywhere, and rays that meet it or what stands on it.

The compiled loop sees the world as one flat array, which `land.py` makes: a header of named places, then obstacles.
Heights and the shapes of things lie elsewhere, and the header has their addresses.
"""

from __future__ import annotations

from math import ceil, floor, inf, sqrt

from airloom.compiled import compiled, numbers_at, singles_at
from airloom.world.grid import BLOCK
from airloom.world.tree import SOLID_WIDTH, is_solid_near, ray_to_triangles

(
    W_GRAVITY, W_PRESSURE, W_TEMPERATURE, W_LATITUDE, W_LONGITUDE, W_ALTITUDE,
    W_FIELD_X, W_FIELD_Y, W_FIELD_Z, W_STEP, W_HUMIDITY,
    W_BASE, W_TOP, W_COLUMNS, W_ROWS, W_X0, W_Y0, W_DX, W_DY, W_GRID, W_CEILINGS,
    W_TRIANGLES, W_TRIANGLES_AT, W_TRIANGLE_LEAVES, W_TRIANGLE_BOXES,
    W_SOLIDS, W_SOLIDS_AT, W_SOLID_LEAVES, W_SOLID_BOXES,
    W_WATER, W_WATER_LENGTH, W_OBSTACLES, W_HEADER,
) = range(33)  # fmt: skip
"""Places in the world array. W_BASE is the plane's height, and the height field's lowest, which also lies around it:
within a cell beyond its edge the ground falls to it, so that nobody gets in from the side.
Those that end in _AT, _BOXES, GRID, CEILINGS and WATER are addresses."""

OBSTACLE_WIDTH = 9  # shape, half size x, y, z, position x, y, z, cos yaw, sin yaw
SMALLEST_STRIDE = 1e-6  # m, so that rounding cannot hold a ray on a line


@compiled
def height_at(world, r, c):
    """Of a corner of the grid; a hole's floor is the lowest height, and so is all around."""
    columns, rows = int(world[W_COLUMNS]), int(world[W_ROWS])
    if not (0 <= r < rows and 0 <= c < columns):
        return world[W_BASE]
    height = singles_at(int(world[W_GRID]), columns * rows)[r * columns + c]
    return height if height == height else world[W_BASE]


@compiled
def _first_corner(u, count):
    """Of the cell in which a place is that lies u cells from the first of so many corners; −1 before it."""
    if u < 0.0:
        return -1
    return min(int(u), count - 2) if u <= count - 1 else count - 1


@compiled
def ground(world, x, y):
    """Height of the ground and its slope east and north. A cell is two triangles, split as MuJoCo splits it."""
    columns, rows = int(world[W_COLUMNS]), int(world[W_ROWS])
    base = world[W_BASE]
    if columns == 0:
        return base, 0.0, 0.0
    u, v = (x - world[W_X0]) / world[W_DX], (y - world[W_Y0]) / world[W_DY]
    if not (u >= -1.0 and v >= -1.0 and u <= columns and v <= rows):
        return base, 0.0, 0.0
    c, r = _first_corner(u, columns), _first_corner(v, rows)
    u, v = u - c, v - r
    southwest, southeast = height_at(world, r, c), height_at(world, r, c + 1)
    northwest, northeast = height_at(world, r + 1, c), height_at(world, r + 1, c + 1)
    if u > v:
        east, north = southeast - southwest, northeast - southeast
    else:
        east, north = northeast - northwest, northwest - southwest
    return southwest + u * east + v * north, east / world[W_DX], north / world[W_DY]


@compiled
def is_over_heights(world, x, y, cells):
    """Whether a place is over the height field, or not farther from it than some cells."""
    u, v = (x - world[W_X0]) / world[W_DX], (y - world[W_Y0]) / world[W_DY]
    return -cells <= u <= world[W_COLUMNS] - 1 + cells and -cells <= v <= world[W_ROWS] - 1 + cells


@compiled
def ceiling(world, x, y, range_):
    """No ground within a distance of a place, east and north, is higher."""
    columns, rows = int(world[W_COLUMNS]), int(world[W_ROWS])
    top = world[W_BASE]
    if columns == 0:
        return top
    across, down = (columns + BLOCK - 2) // BLOCK, (rows + BLOCK - 2) // BLOCK
    ceilings = singles_at(int(world[W_CEILINGS]), across * down)
    width, depth = BLOCK * world[W_DX], BLOCK * world[W_DY]
    across_range, up_range = range_ + world[W_DX], range_ + world[W_DY]  # a cell more, in which it falls at the edges
    west, east = floor((x - across_range - world[W_X0]) / width), floor((x + across_range - world[W_X0]) / width)
    south, north = floor((y - up_range - world[W_Y0]) / depth), floor((y + up_range - world[W_Y0]) / depth)
    for r in range(max(south, 0), min(north, down - 1) + 1):
        for c in range(max(west, 0), min(east, across - 1) + 1):
            top = max(top, ceilings[r * across + c])
    return top


@compiled
def lowest_and_highest(world, x, y, range_):
    """Of the corners of all cells that are within a distance of a place, east and north."""
    columns, rows = int(world[W_COLUMNS]), int(world[W_ROWS])
    base = world[W_BASE]
    if columns == 0:
        return base, base
    west, east = (x - range_ - world[W_X0]) / world[W_DX], (x + range_ - world[W_X0]) / world[W_DX]
    south, north = (y - range_ - world[W_Y0]) / world[W_DY], (y + range_ - world[W_Y0]) / world[W_DY]
    is_inside = west >= 0.0 and south >= 0.0 and east <= columns - 1 and north <= rows - 1
    low, high = (inf, -inf) if is_inside else (base, base)
    for r in range(max(floor(south), 0), min(ceil(north), rows - 1) + 1):
        for c in range(max(floor(west), 0), min(ceil(east), columns - 1) + 1):
            height = height_at(world, r, c)
            low, high = min(low, height), max(high, height)
    return low, high


@compiled
def first_buried(world, points, rise):
    """The first of some points that lies less than `rise` above the ground; −1 if none does."""
    for k in range(points.shape[0]):
        if points[k, 2] < ground(world, points[k, 0], points[k, 1])[0] + rise:
            return k
    return -1


@compiled
def _to_next_line(x, rate):
    """How far along a ray, on which x changes at `rate`, to the next whole number."""
    if rate > 0.0:
        return (floor(x) + 1.0 - x) / rate
    if rate < 0.0:
        return (x - ceil(x) + 1.0) / -rate
    return inf


@compiled
def _to_block_end(x, rate):
    """How far along a ray, on which x changes at `rate`, to the end of the block of cells it is in."""
    return BLOCK * _to_next_line(x / BLOCK, rate)


@compiled
def _ray_to_plane(world, pz, dz, reach):
    distance = (world[W_BASE] - pz) / dz if dz != 0.0 else inf
    return distance if 0.0 <= distance <= reach else reach


@compiled
def _ray_to_ground(world, px, py, pz, dx, dy, dz, reach):
    """Distance along a unit ray to the ground, at most `reach`: the height field, its edge and the plane around it."""
    plane = _ray_to_plane(world, pz, dz, reach)
    if world[W_COLUMNS] == 0.0:
        return plane
    east, north = 0.5 * (world[W_COLUMNS] - 1) * world[W_DX], 0.5 * (world[W_ROWS] - 1) * world[W_DY]
    a, b = _slab(px - world[W_X0] - east, dx, east + world[W_DX])
    c, d = _slab(py - world[W_Y0] - north, dy, north + world[W_DY])
    enter, leave = max(a, c, 0.0), min(b, d, reach)
    if enter > leave or plane < enter:
        return plane
    distance = _ray_to_heights(world, px, py, pz, dx, dy, dz, enter, leave)
    if distance < leave:
        return distance
    return plane if plane >= leave else reach


@compiled
def _ray_to_heights(world, px, py, pz, dx, dy, dz, near, end):
    """Distance along a unit ray, which is over the height field from `near` to `end`, to the ground; else `end`.

    Between the lines of the grid and the diagonals of its cells the ground is flat, so the ray's height above it
    changes evenly from one line to the next, and where it becomes negative the ray has met the ground.
    Blocks of cells whose highest point the ray passes above are left out.
    """
    du, dv = dx / world[W_DX], dy / world[W_DY]
    across = (int(world[W_COLUMNS]) + BLOCK - 2) // BLOCK
    down = (int(world[W_ROWS]) + BLOCK - 2) // BLOCK
    ceilings = singles_at(int(world[W_CEILINGS]), across * down)
    while near < end:
        u, v = (px + near * dx - world[W_X0]) / world[W_DX], (py + near * dy - world[W_Y0]) / world[W_DY]
        far = min(near + max(min(_to_block_end(u, du), _to_block_end(v, dv)), SMALLEST_STRIDE), end)
        middle = 0.5 * (near + far)
        c = int((px + middle * dx - world[W_X0]) / world[W_DX]) // BLOCK
        r = int((py + middle * dy - world[W_Y0]) / world[W_DY]) // BLOCK
        top = ceilings[min(max(r, 0), down - 1) * across + min(max(c, 0), across - 1)]
        if min(pz + near * dz, pz + far * dz) > max(top, world[W_BASE]):
            near = far
            continue
        line = min(_to_next_line(u, du), _to_next_line(v, dv), _to_next_line(u - v, du - dv))
        far = min(near + max(line, SMALLEST_STRIDE), end)
        middle = 0.5 * (near + far)
        height, east, north = ground(world, px + middle * dx, py + middle * dy)
        above, climb = pz + middle * dz - height, dz - east * dx - north * dy
        if above + climb * (near - middle) < 0.0:
            return near
        if above + climb * (far - middle) < 0.0:
            return middle - above / climb
        near = far
    return end


@compiled
def _slab(p, d, half):
    """Where a line enters and leaves −half … half."""
    if d == 0.0:
        return (-inf, inf) if -half <= p <= half else (inf, -inf)
    a, b = (-half - p) / d, (half - p) / d
    return (a, b) if a < b else (b, a)


@compiled
def _round(a, b, c):
    """Real roots of a t² + 2 b t + c = 0 as an interval."""
    inside = b * b - a * c
    if inside < 0.0:
        return inf, -inf
    root = sqrt(inside)
    return (-b - root) / a, (-b + root) / a


@compiled
def _ray_to_obstacle(world, at, px, py, pz, dx, dy, dz):
    """Distance along a unit ray to an obstacle, infinite if missed, 0 inside."""
    shape, hx, hy, hz = int(world[at]), world[at + 1], world[at + 2], world[at + 3]
    x, y, z = px - world[at + 4], py - world[at + 5], pz - world[at + 6]
    c, s = world[at + 7], world[at + 8]
    x, y = c * x + s * y, c * y - s * x
    dx, dy = c * dx + s * dy, c * dy - s * dx
    if shape == 2:
        enter, leave = _round(1.0, x * dx + y * dy + z * dz, x * x + y * y + z * z - hx * hx)
    else:
        enter, leave = _slab(z, dz, hz)
        if shape == 0:
            a, b = _slab(x, dx, hx)
            enter, leave = max(enter, a), min(leave, b)
            a, b = _slab(y, dy, hy)
        elif dx * dx + dy * dy > 0.0:
            a, b = _round(dx * dx + dy * dy, x * dx + y * dy, x * x + y * y - hx * hx)
        else:
            a, b = (-inf, inf) if x * x + y * y <= hx * hx else (inf, -inf)
        enter, leave = max(enter, a), min(leave, b)
    if leave < max(enter, 0.0):
        return inf
    return max(enter, 0.0)


@compiled
def ray(world, px, py, pz, dx, dy, dz, reach):
    """Distance along the unit ray (dx, dy, dz) from a point to the ground, an obstacle or a thing, at most `reach`."""
    distance = _ray_to_ground(world, px, py, pz, dx, dy, dz, reach)
    for k in range(int(world[W_OBSTACLES])):
        distance = min(distance, _ray_to_obstacle(world, W_HEADER + k * OBSTACLE_WIDTH, px, py, pz, dx, dy, dz))
    if world[W_TRIANGLES] > 0.0:
        boxes = numbers_at(int(world[W_TRIANGLE_BOXES]), 12 * int(world[W_TRIANGLE_LEAVES]))
        triangles = numbers_at(int(world[W_TRIANGLES_AT]), 9 * int(world[W_TRIANGLES]))
        distance = ray_to_triangles(boxes, triangles, px, py, pz, dx, dy, dz, distance)
    return distance


@compiled
def is_thing_near(world, x, y, z, range_):
    """Whether a solid of something that stands on the ground is within a distance of a place; obstacles apart."""
    if world[W_SOLIDS] == 0.0:
        return False
    boxes = numbers_at(int(world[W_SOLID_BOXES]), 12 * int(world[W_SOLID_LEAVES]))
    solids = numbers_at(int(world[W_SOLIDS_AT]), SOLID_WIDTH * int(world[W_SOLIDS]))
    return is_solid_near(boxes, solids, x, y, z, range_)
