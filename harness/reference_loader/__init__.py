"""The specification as code."""
