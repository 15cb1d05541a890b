"""Operators and prim funcs: what is known of them, and what composed operators are made of."""
