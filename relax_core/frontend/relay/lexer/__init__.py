"""Relay text as tokens, and the place in them."""
