"""The rules of well-formedness, and the walk that they share."""
