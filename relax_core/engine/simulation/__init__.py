"""Simulating launches of threads, for the commands and the pages."""
