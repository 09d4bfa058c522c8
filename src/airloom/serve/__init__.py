"""The simulation stands still and goes step by step, as a controller in another program says."""
