"""Values that choose by comparisons, and what is left of them where the results of the comparisons are known."""

from collections.abc import Callable, Iterator

from relax_core.ir.node import Node, postorder
from relax_core.ir.prim import Binary, PrimExpr, Select, Unary
from relax_core.ir.rewriting.rewrite import RewriteLog, rewrite
from relax_core.ir.tir import Buffer, BufferLoad, BufferStore
from relax_core.jit.transforms.reductions.reduction import may_stop

Decide = Callable[[Binary], bool | None]
"""Tells what a comparison results in, `None` if that is not known."""


def resolved(value: PrimExpr, decide: Decide) -> PrimExpr:
    """Return a value with the choices that are made."""

    def made(item: Node) -> Node | None:
        """Rule: choice by position -> what is chosen."""
        if not isinstance(item, Select):
            return None
        truth = _truth(item.condition, decide)
        return None if truth is None else item.true_value if truth else item.false_value

    return rewrite(value, made, log=RewriteLog())


def _truth(condition: PrimExpr, decide: Decide) -> bool | None:
    match condition:
        case Unary(op="not", a=a):
            inner = _truth(a, decide)
            return None if inner is None else not inner
        case Binary(op="and" | "or" as op, a=a, b=b):
            first, second, ends_it = _truth(a, decide), _truth(b, decide), op == "or"
            # Where the first side is not known it is evaluated, and must not stop the kernel if it is left out here.
            is_needed = first is None and (second is not ends_it or stops_or_reads(a))
            return None if is_needed else ends_it if first is ends_it else second
        case Binary():
            return decide(condition)
        case _:
            return None


def stops_or_reads(condition: PrimExpr) -> bool:
    """Tell whether evaluating a condition may stop the kernel, or reads memory, so that it is not left out."""
    return may_stop(condition) or any(isinstance(item, BufferLoad) for item in postorder(condition))


def comparisons(value: PrimExpr) -> Iterator[Binary]:
    """Yield the comparisons that the choices in a value are made of."""
    for item in postorder(value):
        if isinstance(item, Select):
            yield from _compared(item.condition)


def _compared(condition: PrimExpr) -> Iterator[Binary]:
    match condition:
        case Unary(op="not", a=a):
            yield from _compared(a)
        case Binary(op="and" | "or", a=a, b=b):
            yield from _compared(a)
            yield from _compared(b)
        case Binary():
            yield condition
        case _:
            pass


def has_chosen_sizes(store: BufferStore) -> bool:
    """Tell whether a condition chooses a size of a buffer that is read: to choose there would make another buffer."""
    buffers = (item for item in postorder(store.value) if isinstance(item, Buffer))
    return any(isinstance(part, Select) for buffer in buffers for part in postorder(buffer))
