"""Typed publish/subscribe inside the process, and what the loop and commands have to do with it."""
