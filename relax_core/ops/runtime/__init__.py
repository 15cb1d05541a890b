"""Operators of the run time: calls, closures, memory, devices, several workers."""
