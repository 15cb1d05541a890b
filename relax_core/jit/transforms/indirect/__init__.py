"""Loops with indirect accesses: vector gathers, and bounds checks made ahead."""
