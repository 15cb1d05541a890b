"""Scalar expressions in Python's notation, for texts and messages."""
