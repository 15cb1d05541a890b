"""Applying a part of what a pass changed, to find the change that makes a result wrong."""
