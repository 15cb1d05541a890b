"""Schedule primitives as passes: each changes the loops around one block and keeps what the function computes.

`Split(block='C', loop='i', factors=[None, 32])` is TVM's `sch.split(i, factors=[None, 32])` for the loop `i` of the
block `C`; a schedule is a pipeline of them.
"""
