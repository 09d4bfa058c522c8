"""The studio: see a simulation in the browser, click it, fly it. A process of its own beside the simulation."""
