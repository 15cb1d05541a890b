"""Offloading: composites, regions and what they are handed to."""
