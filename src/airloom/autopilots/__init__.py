"""Autopilots: the flight code that will really fly, a process of its own for each vehicle, in lockstep."""
