"""What programs are: nodes, types, expressions, prim funcs and modules."""
