"""Contractions, such as matrix products and convolutions: register tiling with packed operands."""
