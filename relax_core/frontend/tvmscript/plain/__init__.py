"""Types and calls in their plainest spelling, which are read from their words."""
