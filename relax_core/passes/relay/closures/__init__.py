"""Functions as values and polymorphism, made into first-order code."""
