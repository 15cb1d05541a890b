"""Transformations of whole loops: joined, fused, split, hoisted from, run in parallel, kept in registers."""
