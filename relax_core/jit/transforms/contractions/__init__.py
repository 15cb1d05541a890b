"""Sums of products, as of matrix products and convolutions, in tiles of registers."""
