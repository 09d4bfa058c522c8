"""Checks for users: of a plugin's promises, and of this machine."""
