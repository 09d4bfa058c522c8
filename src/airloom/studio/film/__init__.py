"""Videos and pictures without a screen."""
