"""Packed functions with schemas: how a schema is written, and what the functions of the library declare."""
