"""Local functions: what they capture, and how they are lifted."""
