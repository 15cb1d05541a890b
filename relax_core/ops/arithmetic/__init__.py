"""Operators that compute: on elements, along axes, on matrices."""
