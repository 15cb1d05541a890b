"""Statements in a row: what a rule puts among them stands there itself."""

from relax_core.ir.node import Node
from relax_core.ir.tir import SeqStmt, seq


def flat(node: Node) -> Node | None:
    """Rule: a row of statements in another one -> its statements."""
    is_nested = isinstance(node, SeqStmt) and any(isinstance(item, SeqStmt) for item in node.stmts)
    return seq(node.stmts) if is_nested and isinstance(node, SeqStmt) else None
