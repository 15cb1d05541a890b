"""What lines and nodes take of a quantity, as colours with their figures."""
