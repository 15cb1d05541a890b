"""Passes: a file each, which ends in `PASS`; `library.PASSES` is the table of all."""
