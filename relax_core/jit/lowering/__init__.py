"""Prim funcs to LLVM IR as text: statements, expressions, views of memory, checks, and what is known about values."""
