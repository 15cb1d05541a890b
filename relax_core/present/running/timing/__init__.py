"""Runs on a clock, for tools that show such."""
