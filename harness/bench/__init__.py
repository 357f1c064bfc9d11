"""Measures the harness, and what loaders cost."""
