"""Simulation time for programs that know nothing of it: what `airloom exec` puts in place of clocks and waits."""
