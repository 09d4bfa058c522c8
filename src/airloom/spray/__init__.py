"""Spraying: drops from nozzles fly through wind and downwash, land, and leave a map."""
