"""Passes on the memory of prim funcs: where buffers are allocated, how large they are, which of them share memory."""
