"""Statements in a row: what a rule puts among them stands there itself."""

from relax_core.ir.node import Node, preorder
from relax_core.ir.prim import Intrinsic
from relax_core.ir.tir import SeqStmt, Stmt, seq


def flat(node: Node) -> Node | None:
    """Rule: a row of statements in another one -> its statements."""
    is_nested = isinstance(node, SeqStmt) and any(isinstance(item, SeqStmt) for item in node.stmts)
    return seq(node.stmts) if is_nested and isinstance(node, SeqStmt) else None


def leaves_early(body: Stmt) -> bool:
    """Tell whether a loop with this body has a `break` or a `continue`, or one in it has: it is left a loop."""
    found = (item for item in preorder(body) if isinstance(item, Intrinsic))
    return any(item.name in ("break_loop", "continue_loop") for item in found)
