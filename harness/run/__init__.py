"""One run: collecting, cases and their records, what is kept for a replay; the pytest plugin."""
