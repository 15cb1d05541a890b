"""The scopes of a prim func: loops, blocks, launches and lets, each with those around it."""

from collections.abc import Iterator

from relax_core.ir.node import children
from relax_core.ir.tir import Block, For, LaunchThread, LetStmt, Stmt

Path = tuple[Stmt, ...]
"""The loops, blocks, launches and lets around a statement, the outermost first."""

Scope = For | Block | LaunchThread | LetStmt


def paths_of(root: Stmt) -> Iterator[Path]:
    """Yield the scopes in a statement, in the order of the text, each as the last of its path."""
    stack: list[tuple[Stmt, Path]] = [(root, ())]
    while stack:
        stmt, path = stack.pop()
        inside = path
        if isinstance(stmt, Scope):
            inside = (*path, stmt)
            yield inside
        stack += [(part, inside) for part in reversed(children(stmt)) if isinstance(part, Stmt)]
