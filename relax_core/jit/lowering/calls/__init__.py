"""Calls of prim funcs and of packed functions."""
