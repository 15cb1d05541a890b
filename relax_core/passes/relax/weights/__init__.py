"""Weights and sizes that are known before a function runs, and how a function gets its weights."""
