"""IR to text, with the place of every node in it."""
