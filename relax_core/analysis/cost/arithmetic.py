"""How many operations on values a prim func performs, counted from its loops without running it.

An operation is a sum, product, quotient, remainder, minimum, maximum, or a call of a mathematical function, in each
lane of a vector; a product that is added at once is two. Comparisons, conversions and all arithmetic of indices count
for nothing. Guards count as if they held, and of two branches the one with more operations counts, so that the number
is an upper bound.
"""

from collections.abc import Iterator, Sequence
from math import prod
from typing import Final, TypeAlias

from relax_core.analysis.cost.sizes import Sizes, UnknownCostError, known_size, size_of
from relax_core.ir.node import Node, children
from relax_core.ir.prim import Binary, IntImm, Intrinsic, PrimExpr, PrimVar, Select, StringImm, lanes_of
from relax_core.ir.tir import (
    AssertStmt,
    Block,
    BufferLoad,
    BufferStore,
    Evaluate,
    For,
    IfThenElse,
    LaunchThread,
    LetStmt,
    PrimFunc,
    SeqStmt,
    Stmt,
    While,
)

Argument: TypeAlias = tuple[int, ...] | int | None
"""The shape of a tensor, the value of a scalar, or `None` for what is not known."""

_OPERATIONS: Final = frozenset(("+", "-", "*", "/", "//", "%", "truncdiv", "truncmod", "min", "max"))
_NO_OPERATION: Final = frozenset(
    ("reinterpret", "if_then_else", "likely", "Broadcast", "Ramp", "Shuffle", "bitwise_and", "bitwise_or",
     "bitwise_xor", "bitwise_not", "shift_left", "shift_right", "isnan", "isinf", "isfinite")
)  # fmt: skip
_NAMING: Final = frozenset(("call_llvm_intrin", "call_llvm_pure_intrin"))
"""Calls that name what they call."""
_FUSED: Final = ("llvm.fma", "llvm.fmuladd")
"""A product and a sum at once."""
_NO_WORK: Final = frozenset(("ret", "assume", "tvm_storage_sync"))
"""Intrinsics that a statement may evaluate without computing anything."""


def operations(function: PrimFunc, arguments: Sequence[Argument]) -> int:
    """Count the operations of one call of `function` with arguments of these shapes.

    Complexity: linear in the text of the function.

    Raises:
        UnknownCostError: an extent is not known before the run, or it calls what is not counted.
    """
    return _in_statement(function.body, 1, _bound_sizes(function, arguments))


def _bound_sizes(function: PrimFunc, arguments: Sequence[Argument]) -> dict[PrimVar, int]:
    sizes: dict[PrimVar, int] = {}
    for param, given in zip(function.params, arguments, strict=False):
        buffer = function.buffer_of(param)
        match given:
            case int() if buffer is None:
                sizes[param] = given
            case tuple() if buffer is not None and len(buffer.shape) == len(given):
                for dim, size in zip(buffer.shape, given, strict=True):
                    if isinstance(dim, PrimVar):
                        sizes.setdefault(dim, size)
            case _:
                pass
    return sizes


def _in_statement(root: Stmt, times: int, sizes: dict[PrimVar, int]) -> int:
    """Count the operations of a statement that runs so many times; `sizes` gets what its lets bind."""
    total = 0
    waiting = [(root, times)]
    while waiting:
        stmt, times = waiting.pop()
        match stmt:
            case BufferStore(value=value):
                total += times * _in_value(value)
            case For(var=var, extent=extent, step=step, body=body):
                count = size_of(extent, sizes, f"the extent of the loop over `{var.name}`")
                stride = 1 if step is None else size_of(step, sizes, f"the step of the loop over `{var.name}`")
                waiting.append((body, times * -(-count // max(stride, 1))))
            case LaunchThread(tag=tag, extent=extent, body=body):
                waiting.append((body, times * size_of(extent, sizes, f"the number of `{tag}`")))
            case Block(init=init, body=body):
                waiting.append((body, times))
                if init is not None:
                    waiting.append((init, times // _reduced(stmt, sizes)))
            case IfThenElse(then_body=yes, else_body=no):
                branches = (yes,) if no is None else (yes, no)
                total += max(_in_statement(branch, times, sizes) for branch in branches)
            case LetStmt(var=var, value=value, body=body):
                total += times * _in_value(value) if "float" in var.dtype else 0
                _bind(var, value, sizes)
                waiting.append((body, times))
            case While():
                raise UnknownCostError("how often a `while` loop runs is not known")
            case Evaluate(value=Intrinsic(name=name)) if name not in _NO_WORK:
                raise UnknownCostError(f"what `{name}` does is not counted")
            case AssertStmt() | Evaluate():
                pass
            case _:
                waiting += ((part, times) for part in _inner(stmt))
    return total


def _inner(stmt: Stmt) -> Iterator[Stmt]:
    if isinstance(stmt, SeqStmt):
        yield from stmt.stmts
    else:
        yield from (part for part in children(stmt) if isinstance(part, Stmt))


def _bind(var: PrimVar, value: PrimExpr, sizes: dict[PrimVar, int]) -> None:
    found = known_size(value, sizes)
    if found is not None:
        sizes[var] = found


def _reduced(block: Block, sizes: Sizes) -> int:
    """Return how often a block runs for each time that its init statement does."""
    extents = (item.extent for item in block.iter_vars if item.kind == "reduce")
    return max(prod(size_of(extent, sizes, f"an extent of the block `{block.name}`") for extent in extents), 1)


def _in_value(root: PrimExpr) -> int:
    """Count the operations of a value that is stored; where one of two values is taken, the one with more counts."""
    total = 0
    waiting: list[Node] = [root]
    while waiting:
        match waiting.pop():
            case BufferLoad() | IntImm() | PrimVar():
                pass
            case Select(true_value=yes, false_value=no):
                total += max(_in_value(yes), _in_value(no))
            case Intrinsic(name="if_then_else", args=(_, yes, no)):
                total += max(_in_value(yes), _in_value(no))
            case Binary(op=op, a=a, b=b, dtype=dtype):
                total += lanes_of(dtype) if op in _OPERATIONS else 0
                waiting += (a, b)
            case Intrinsic(name="fma", args=args, dtype=dtype):
                total += 2 * lanes_of(dtype)
                waiting += args
            case Intrinsic(name=name, args=(_, StringImm(value=called), *args), dtype=dtype) if name in _NAMING:
                total += lanes_of(dtype) * (2 if called.startswith(_FUSED) else 1)
                waiting += args
            case Intrinsic(name=name, args=args, dtype=dtype):
                total += lanes_of(dtype) if name not in _NO_OPERATION else 0
                waiting += args
            case other:
                waiting += children(other)
    return total
