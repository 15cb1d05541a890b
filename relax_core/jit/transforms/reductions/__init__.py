"""Nests that accumulate values which are used once: by columns, lanes and rows."""
