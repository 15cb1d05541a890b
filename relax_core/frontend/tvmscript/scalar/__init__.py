"""Scalar expressions: dimensions of Relax shapes, and the arithmetic of TIR."""
