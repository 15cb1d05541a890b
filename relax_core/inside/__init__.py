"""Stepping inside a prim func: statement by statement, to any iteration, backwards, with every access."""
