"""Whether a pattern matches an expression, where in a module, and why not."""
