"""Patterns, and their text."""
