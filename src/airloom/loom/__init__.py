"""The loom: many programs, one clock. It lets other processes take part in a run, in strict lockstep."""
