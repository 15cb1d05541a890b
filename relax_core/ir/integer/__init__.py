"""Exact integer arithmetic: polynomials, intervals, affine forms, iterator splits, and what they prove.

Everything here computes with integers that have no limits; a machine integer has them, and each reader of expressions
says what it makes of a result that does not fit its dtype:

- `prove` is about counts: shapes, extents, strides. Code that computes one stops where a result does not fit its dtype,
  so that two counts which are equal on paper are equal wherever both have a value.
- `bounds`, `affine`, `iter_split` and `strides` are about the values of a kernel, which wrap around. `bounds` takes a
  result that is not proven to fit for an unknown number of its dtype. `affine` and `iter_split` let sums and products
  wrap around, which compute modulo a power of two and so commute with it, and ask for a proof wherever something
  else is done with a result: a division, a conversion to a wider dtype, the use as an index.
"""
