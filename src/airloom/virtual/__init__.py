"""Simulation time for programs that know nothing of it: what `airloom exec` puts in place of Python's clocks and waits."""
