"""Follow parts of a program through the stages of a recorded pipeline."""
