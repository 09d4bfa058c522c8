"""Systems that come with Airloom, and how systems choose vehicles."""

from airloom.systems.selection import chosen

__all__ = ["chosen"]
