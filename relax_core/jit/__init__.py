"""TIR prim funcs to machine code: bounds-checked, cancellable, compiled at their first call."""
