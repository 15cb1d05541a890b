"""Schedule primitives on reductions: their initial values, and their parts."""
