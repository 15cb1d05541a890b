"""Passes on Relax, one per file."""
