"""Typed publish/subscribe inside the process, and what the loop and commands have to do with it."""

from airloom.bus import messages
from airloom.bus.bus import Bus, Topic

__all__ = ["Bus", "Topic", "messages"]
