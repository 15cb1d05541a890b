"""Expressions that are watched over a whole run."""
