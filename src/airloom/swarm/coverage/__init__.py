"""Areas that a swarm keeps in sight or explores, by radio alone."""
