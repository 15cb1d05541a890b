"""Layers of a model: parts of a function that repeat, and what they are called."""
