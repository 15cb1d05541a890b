"""Stages that hold prim funcs alone, run as parts of the last module that calls them."""
