"""Relay's operators on tensors: their elements, axes, indices, and how they are made."""
