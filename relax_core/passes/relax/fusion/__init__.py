"""Operators that are computed together."""
