"""Passes on Relay."""
