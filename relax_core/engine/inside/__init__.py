"""Stepping inside kernels, for the commands, the pages and the API."""
