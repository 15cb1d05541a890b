"""The builtins that compiled code calls."""
