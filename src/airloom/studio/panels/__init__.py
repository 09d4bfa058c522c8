"""What stands beside the scene: buttons, sliders, plots."""
