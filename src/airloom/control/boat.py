"""A flight stack for boats, whose thrusters push ahead and turn."""
