"""Calls of machine code: arguments checked and packed, builtins without Python, threads, the heap."""
