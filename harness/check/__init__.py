"""What the author of a check imports."""
