"""What a run is beside its simulation: folder, pace, log, figures, replay, and the link to those outside."""
