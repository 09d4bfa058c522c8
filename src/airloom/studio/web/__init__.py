"""What browsers talk to."""
