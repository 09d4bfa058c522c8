"""Sensors that see: depth cameras, lidars, cameras. They look where the compiled loop pauses, if somebody wants it."""
