"""Relay modules as Relay text."""
