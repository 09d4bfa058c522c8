"""What a studio shows: a simulation that runs, or one that was recorded."""
