"""Patterns of several bindings of a block, and rewriting by them."""
