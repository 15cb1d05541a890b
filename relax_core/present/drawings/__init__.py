"""Graphs: made from programs, laid out, as DOT and SVG."""
