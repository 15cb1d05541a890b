"""Host scalars, and the rules of prim funcs."""
