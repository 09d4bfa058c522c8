"""Objects of a world file become things: each kind has a module that makes shapes of it, here they are put in place."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from airloom.scenario.models import World
from airloom.scenario.objects import MeshObject, Object, ObjectError
from airloom.scenario.scatter import AtRandom
from airloom.world.meshes import Mesh
from airloom.world.objects.car import build_car
from airloom.world.objects.fence import build_fence
from airloom.world.objects.house import build_house
from airloom.world.objects.mesh_file import build_mesh, complaints_of
from airloom.world.objects.place import Ground, Place
from airloom.world.objects.post import build_post
from airloom.world.objects.power_line import build_power_line
from airloom.world.objects.scattering import places_of
from airloom.world.objects.tree import build_tree
from airloom.world.objects.vine_row import build_vine_row
from airloom.world.things import Solid, Thing

BUILDERS: dict[str, Callable[..., tuple[Mesh, tuple[Solid, ...]]]] = {
    "tree": build_tree, "house": build_house, "car": build_car, "post": build_post, "fence": build_fence,
    "power_line": build_power_line, "vine_row": build_vine_row, "mesh": build_mesh,
}  # fmt: skip
MOST_TRIANGLES = 8_000_000


def things_of(world: World, ground: Ground) -> list[Thing]:
    """All that stands in a world; those of a scattered object are named NAME_0, NAME_1, …"""
    things: list[Thing] = []
    triangles = 0
    for name, placed in world.objects.items():
        try:
            for thing in _built(name, placed, ground):
                things.append(thing)
                triangles += len(thing.mesh.faces)
                if triangles > MOST_TRIANGLES:
                    raise ObjectError(f"with it the world has more than {MOST_TRIANGLES:,} triangles; have fewer")
        except ObjectError as error:
            raise ObjectError(f"world.objects.{name}: {error}") from None
    return things


def _built(name: str, placed: Object, ground: Ground) -> Iterator[Thing]:
    for n, place in enumerate(places_of(name, placed)):
        mesh, solids = BUILDERS[placed.kind](placed, place, ground)
        yield Thing(name if placed.scatter is None else f"{name}_{n}", placed.kind, mesh, solids)


def oddities(world: World, things: list[Thing]) -> list[str]:
    """What a user should know about objects that can be used all the same."""
    names, told = {thing.name for thing in things}, []
    for name, own in world.objects.items():
        if isinstance(own, MeshObject):
            told += complaints_of(own)
        if isinstance(rule := own.scatter, AtRandom) and f"{name}_{rule.count - 1}" not in names:
            standing = sum(f"{name}_{n}" in names for n in range(rule.count))
            told.append(f"{name}: only {standing} of {rule.count} fit into the polygon; have fewer, or less apart")
    return told


__all__ = ["BUILDERS", "Ground", "Place", "oddities", "things_of"]
