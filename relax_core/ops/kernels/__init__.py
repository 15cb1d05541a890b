"""What the prim funcs of operators are built with."""
