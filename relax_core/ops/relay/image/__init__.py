"""Relay's operators on images, and on boxes in them."""
