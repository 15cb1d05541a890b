"""Bring your own codegen: what is offloaded becomes functions of its own."""
