"""Recorded runs shown: stack, registers, memory, time."""
