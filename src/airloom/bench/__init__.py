"""What Airloom costs, measured."""
