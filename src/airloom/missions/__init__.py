"""Missions: coroutines on simulation time, smooth trajectories, pure pursuit, and mission files."""
