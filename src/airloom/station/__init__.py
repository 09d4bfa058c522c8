"""Base stations: vehicles tell them how they are, and are told what to do, by radio; what a vehicle does without."""
