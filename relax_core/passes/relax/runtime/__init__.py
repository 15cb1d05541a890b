"""Lowering to what the machine runs: destinations, shapes, memory, builtins."""
