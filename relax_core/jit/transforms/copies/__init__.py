"""Nests that only move elements: contiguous runs and transpositions."""
