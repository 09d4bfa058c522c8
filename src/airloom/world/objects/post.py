"""Upright poles."""

from __future__ import annotations

from airloom.scenario.objects import Post
from airloom.world.meshes import Mesh, lathe
from airloom.world.objects.place import Ground, Place
from airloom.world.things import Solid

IN_THE_GROUND = 0.3  # m, for slopes


def build_post(post: Post, place: Place, ground: Ground) -> tuple[Mesh, tuple[Solid, ...]]:
    radius, height = post.diameter / 2, post.height
    mesh = lathe([[radius, -IN_THE_GROUND], [radius, height - 0.5 * radius], [0.6 * radius, height]], 10, post.colour)
    return place.put(mesh, [Solid("cylinder", (radius, radius, height / 2), (0.0, 0.0, height / 2))], ground)
