"""Copies of statements and prim funcs that bind variables and buffers of their own."""

from dataclasses import replace

from relax_core.ir.node import Node, map_children, postorder
from relax_core.ir.prim import LetExpr, PrimExpr, PrimVar
from relax_core.ir.rewriting.rewrite import RewriteLog, rewrite
from relax_core.ir.tir import Allocate, Block, Buffer, DeclBuffer, For, LaunchThread, LetStmt, PrimFunc, Stmt


def renewed(function: PrimFunc) -> PrimFunc:
    """Return a copy of a prim func with variables and buffers of its own."""
    return rewrite(
        function, lambda node: replace(node) if isinstance(node, PrimVar | Buffer) else None, log=RewriteLog()
    )


def copied(body: Stmt, values: dict[PrimVar, PrimExpr]) -> Stmt:
    """Return `body` where `values` stand for variables, and what it binds is bound anew under the same names.

    Text that stands several times in a function so binds each variable once.
    """
    memo: dict[Node, Node] = {**values}
    for current in postorder(body):
        match current:
            case For(var=var) | LetStmt(var=var) | LaunchThread(var=var) | Allocate(var=var) | LetExpr(var=var):
                _again(memo, var)
            case Block(iter_vars=items):
                for item in items:
                    _again(memo, item.var)
            case _:
                pass
    bound = {part for part in postorder(body) if isinstance(part, DeclBuffer | Block)}
    buffers = {item.buffer for item in bound if isinstance(item, DeclBuffer)}
    buffers |= {buffer for item in bound if isinstance(item, Block) for buffer in item.alloc_buffers}
    buffers |= {match.buffer for item in bound if isinstance(item, Block) for match in item.matches}
    for current in postorder(body):
        if current in memo:
            continue
        rebuilt = map_children(current, memo.__getitem__)
        memo[current] = replace(current) if rebuilt is current and current in buffers else rebuilt
    result = memo[body]
    assert isinstance(result, Stmt), "a statement stays one"
    return result


def _again(memo: dict[Node, Node], var: PrimVar) -> None:
    if var not in memo:
        memo[var] = replace(var)
