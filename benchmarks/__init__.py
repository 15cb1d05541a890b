"""Benchmarks: ratios measured in one run, printed as tables by `python -m benchmarks [NAME ...]`."""
