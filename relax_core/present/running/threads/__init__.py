"""Presents the threads of a block of a launch that is stepped through."""
