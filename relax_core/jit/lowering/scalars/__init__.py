"""Scalar expressions and vectors of them, as instructions."""
