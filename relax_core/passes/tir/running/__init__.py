"""Prim funcs are run on arrays: by FoldConstant, on constants."""
