"""Airloom's numbers next to numbers from elsewhere: published tables, closed forms, other programs."""
