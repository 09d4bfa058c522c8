"""Meshes as glTF, which any browser shows."""

from __future__ import annotations

from typing import Any

import numpy as np
from PIL import Image
from trimesh import Trimesh
from trimesh.exchange.gltf import export_glb
from trimesh.visual import TextureVisuals
from trimesh.visual.material import PBRMaterial

from airloom.world.meshes import Mesh

UNLIT = "KHR_materials_unlit"


def glb(
    mesh: Mesh, *, roughness: float = 0.6, normals: np.ndarray | None = None, light: np.ndarray | None = None
) -> bytes:
    """As binary glTF 2.0. Without normals its faces are flat; opacity below 1 anywhere makes all of it translucent.

    One that has light of its own, red, green and blue for each vertex, needs none from elsewhere: it is drawn quicker.
    """
    shades = linear(mesh.colours[:, :3]) if light is None else light
    colours = np.column_stack([shades, mesh.colours[:, 3] / 255.0]).astype(np.float32)

    def paint(document: dict[str, Any]) -> None:
        """trimesh's own colours have 8 bits, too few for dark ones; ours come as an attribute it does not know."""
        (primitive,) = document["meshes"][0]["primitives"]
        primitive["attributes"]["COLOR_0"] = primitive["attributes"].pop("_colours")
        primitive["material"] = 0
        material: dict[str, Any] = {
            "pbrMetallicRoughness": {"metallicFactor": 0.0, "roughnessFactor": roughness},
            "alphaMode": "BLEND" if mesh.colours[:, 3].min() < 255 else "OPAQUE",
        }
        document["materials"] = [material]
        if light is not None:
            material["extensions"] = {UNLIT: {}}
            document["extensionsUsed"] = [UNLIT]

    solid = Trimesh(
        mesh.vertices, mesh.faces, vertex_normals=normals, vertex_attributes={"_colours": colours}, process=False
    )
    return export_glb(solid.scene(), include_normals=normals is not None, tree_postprocessor=paint)


def linear(colours: np.ndarray) -> np.ndarray:
    """Red, green and blue of light instead of sRGB, 0 … 1."""
    share = np.asarray(colours) / 255.0
    return np.where(share <= 0.04045, share / 12.92, ((share + 0.055) / 1.055) ** 2.4)


def pictured_glb(
    vertices: np.ndarray, faces: np.ndarray, places: np.ndarray, picture: np.ndarray, light: float
) -> bytes:
    """Triangles with a picture laid over them that brings its own light, times `light`.

    Places of the vertices in the picture run from its lower left, 0 … 1. A fourth channel is its opacity.
    """
    image, has_opacity = Image.fromarray(picture), picture.shape[2] == 4
    image.format = "PNG" if has_opacity else "JPEG"  # trimesh writes the file as this

    def paint(document: dict[str, Any]) -> None:
        (primitive,) = document["meshes"][0]["primitives"]
        primitive["attributes"]["COLOR_0"] = primitive["attributes"].pop("_colours")
        (material,) = document["materials"]
        material["alphaMode"] = "BLEND" if has_opacity else "OPAQUE"
        material["extensions"] = {UNLIT: {}}
        document["extensionsUsed"] = [UNLIT]

    colours = np.full((len(vertices), 4), light, dtype=np.float32)
    colours[:, 3] = 1.0
    material = PBRMaterial(baseColorTexture=image, baseColorFactor=[255, 255, 255, 255], metallicFactor=0.0)
    visual = TextureVisuals(uv=places, material=material)
    solid = Trimesh(vertices, faces, visual=visual, vertex_attributes={"_colours": colours}, process=False)
    return export_glb(solid.scene(), include_normals=False, tree_postprocessor=paint)
