"""Forks of a run: what functions are by definition, and where two runs part."""
