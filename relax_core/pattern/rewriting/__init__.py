"""Rewriting what patterns of Relax match, up to a fixpoint."""
