"""Schedule primitives on loops: how they are divided, joined and ordered, and how they run."""
