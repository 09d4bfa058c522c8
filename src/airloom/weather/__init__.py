"""The air: wind laws that add up, and how dense it is."""
