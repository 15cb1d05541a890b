"""Transformations of loop nests during lowering: each keeps the bits, and remarks what it did or why it did not."""
