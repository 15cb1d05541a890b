"""The tensor viewer: a window of two axes of a tensor, its statistics, and how it differs from another."""
