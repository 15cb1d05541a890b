"""Pipelines that ran elsewhere: dumps, logs and traces of another compiler's passes, opened as stages."""
