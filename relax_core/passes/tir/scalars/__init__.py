"""Passes on the scalar expressions of prim funcs."""
