"""Partitioning shown: regions, what crosses their borders, targets."""
