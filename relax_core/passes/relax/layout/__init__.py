"""Reshapes, which change how elements are counted and nothing else."""
