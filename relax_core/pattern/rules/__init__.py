"""Rewrite rules as text: read, matched by the pattern language, and applied with every check that a pass needs."""
