"""Buffers of prim funcs: declared, allocated, and asked for what they have."""
