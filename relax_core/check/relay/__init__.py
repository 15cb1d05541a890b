"""Checking Relay: types with algebraic data and polymorphism, exhaustiveness of matches, and well-formedness."""
