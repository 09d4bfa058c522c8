"""Terrain folders made of surveys: GeoTIFFs and point clouds."""
