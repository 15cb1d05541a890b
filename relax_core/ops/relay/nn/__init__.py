"""Relay's operators of neural networks."""
