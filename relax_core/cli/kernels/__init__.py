"""Commands that look inside kernels."""
