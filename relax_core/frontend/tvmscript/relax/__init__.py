"""Relax functions: signatures, statements, expressions and calls."""
