"""Dataflow patterns: what part of a program looks like, where it occurs, and why it does not."""
