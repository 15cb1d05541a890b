"""Relay text, versions 0.0.4 and 0.0.5, to modules."""
