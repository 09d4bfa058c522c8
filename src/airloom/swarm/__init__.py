"""Many as one: what members know of each other by radio, laws of flocking, and how well a swarm holds together."""
