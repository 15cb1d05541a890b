"""Operators that make tensors, or move, pick and look at their elements."""
