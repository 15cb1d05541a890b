"""What changed between two texts: side by side, and as a patch."""
