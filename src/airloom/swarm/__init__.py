"""Many as one: what members know of each other by radio alone, laws of flocking, and how well a swarm holds together."""
