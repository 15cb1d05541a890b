"""Transformations of loop nests while they are lowered: each keeps every value, and says what it did or why not."""
