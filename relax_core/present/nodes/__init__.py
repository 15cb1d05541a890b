"""What is known of a node: in words, through the stages, back to the source."""
