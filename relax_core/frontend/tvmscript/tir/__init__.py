"""Prim funcs: signatures, statements and expressions."""
