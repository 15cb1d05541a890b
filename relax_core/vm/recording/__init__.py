"""Recorded runs: the log, what is read off from it, and going on from a time of it."""
