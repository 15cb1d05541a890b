"""The provenance of statements that transformations make: which statements of the text they stem from."""

from collections.abc import Iterable, Sequence

from relax_core.ir.node import Node, postorder
from relax_core.ir.tir import Block, BufferStore, For, SeqStmt, Stmt
from relax_core.jit.lowering.state import State


def note_pieces(state: State, made: Iterable[Stmt], loops: Sequence[For], inner: Block | BufferStore) -> None:
    """Record the origins of the pieces that a nest was split into: `loops`, outermost first, around one store."""
    loop_of = {loop.var: loop for loop in loops}
    store = inner.body if isinstance(inner, Block) else inner
    for item in postorder(*made):
        match item:
            case For(var=var) if var in loop_of:
                _note(state, item, loop_of[var])
            case Block():
                _note(state, item, inner)
            case BufferStore():
                _note(state, item, store)
            case SeqStmt():
                _note(state, item, loops[0])
            case _:
                pass


def note_rewritten(state: State, made: Stmt, old: Stmt) -> None:
    """Record the origins of `made`, which is `old` with other expressions."""
    pairs = ([item for item in postorder(stmt) if isinstance(item, Stmt)] for stmt in (made, old))
    for new, before in zip(*pairs, strict=True):
        _note(state, new, before)


def _note(state: State, new: Node, old: Node) -> None:
    if new is not old:
        state.provenance.origin[new] = state.provenance.origin.get(old, old)
