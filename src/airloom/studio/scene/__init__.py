"""What is drawn in three dimensions."""
