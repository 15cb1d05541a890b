"""Dataflow blocks: where they are, and the order of what is in them."""
