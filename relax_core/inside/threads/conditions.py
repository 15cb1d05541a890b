"""Conditions on what the lanes of a warp are about to run: computed in all of them at once."""

import operator
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final, NoReturn

import numpy as np

from relax_core.diagnostics import CompileError, Diagnostic
from relax_core.inside.conditions import WRITTEN
from relax_core.inside.threads.block import BlockRun, WarpRun
from relax_core.inside.threads.looking import about_to_store, roots_of
from relax_core.ir.node import preorder
from relax_core.ir.prim import PrimVar
from relax_core.ir.tir import Block, BufferStore, For, LaunchThread, LetStmt, Stmt
from relax_core.ops.kernels.numbers import numpy_type
from relax_core.simt.lanes import Array
from relax_core.simt.memory import Registers
from relax_core.simt.values import data_of, lanes_first
from relax_core.source import Span
from relax_core.vm.conditions.condition_syntax import (
    Apply,
    Comparison,
    Expression,
    Infix,
    ItemOf,
    Name,
    Number,
    Prefix,
    parse_condition,
)

_NUMBERS: Final[Mapping[str, float]] = MappingProxyType({"nan": np.nan, "inf": np.inf})
_INFIX: Final[Mapping[str, Callable[[Any, Any], Any]]] = MappingProxyType(
    {
        "+": operator.add, "-": operator.sub, "*": operator.mul, "/": np.true_divide, "//": np.floor_divide,
        "%": np.mod, "==": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt,
        ">=": operator.ge, "and": np.logical_and, "or": np.logical_or,
    }
)  # fmt: skip
_FUNCTIONS: Final[Mapping[str, Callable[[Any], Any]]] = MappingProxyType(
    {"isnan": np.isnan, "isinf": np.isinf, "abs": np.abs}
)


class _NotInScopeError(Exception):
    """A name stands for nothing at a statement."""


class Condition:
    """A condition on lanes: variables, numbers of threads, elements of memory, and what is about to be stored."""

    def __init__(self, run: BlockRun, body: Stmt, text: str) -> None:
        """Read a condition.

        Raises:
            CompileError: VM030 if it cannot be read, VM031 if a name is none of the kernel's.
        """
        self._tree = parse_condition(text)
        self._names = frozenset(_variables(body))
        self._check(self._tree, run)

    def holds(self, run: BlockRun) -> bool:
        """Tell whether it holds in a lane that runs the next statement."""
        warp = run.running
        if warp is None or warp.next is None:
            return False
        try:
            with np.errstate(all="ignore"):
                found = lanes_first(self._value(self._tree, run, warp), warp.state.lanes.count)
        except _NotInScopeError:
            return False
        return bool((found.astype(np.bool_) & warp.state.lanes.full(warp.next[1])).any())

    def value(self, run: BlockRun, lane: int) -> Any:
        """Return what it is in a lane of the warp that runs next; `None` where one of its names says nothing."""
        warp = run.running
        if warp is None:
            return None
        try:
            with np.errstate(all="ignore"):
                return lanes_first(self._value(self._tree, run, warp), warp.state.lanes.count)[lane]
        except _NotInScopeError:
            return None

    def _check(self, tree: Expression, run: BlockRun) -> None:
        match tree:
            case Number(value=bool() | int() | float()):
                pass
            case Name(name=name) if name in (*self._names, *_NUMBERS, WRITTEN):
                pass
            case Prefix(operand=operand):
                self._check(operand, run)
            case Infix(left=left, right=right):
                self._check(left, run)
                self._check(right, run)
            case Comparison(operands=items) | Apply(function="isnan" | "isinf" | "abs", args=items):
                for item in items:
                    self._check(item, run)
            case ItemOf(base=Name(name=name), indices=indices) if name in {item.name for item in roots_of(run)}:
                for item in indices:
                    self._check(item, run)
            case _:
                self._refuse(tree.span, run)

    def _refuse(self, span: Span, run: BlockRun) -> NoReturn:
        known = dict.fromkeys((*sorted(self._names), *(item.name for item in roots_of(run))))
        hint = f"there are {', '.join(f'`{name}`' for name in known)}, and `{WRITTEN}`; it knows isnan, isinf and abs"
        raise CompileError((Diagnostic("VM031", f"no statement knows `{span.text}`", span, hint),))

    def _value(self, tree: Expression, run: BlockRun, warp: WarpRun) -> Any:
        match tree:
            case Number(value=value):
                return value
            case Name(name=name):
                return self._named(name, run, warp)
            case Prefix(op=op, operand=operand):
                found = self._value(operand, run, warp)
                return np.logical_not(found) if op == "not" else -found
            case Infix(op=op, left=left, right=right):
                return _INFIX[op](self._value(left, run, warp), self._value(right, run, warp))
            case Comparison(operands=operands, ops=ops):
                values = [self._value(item, run, warp) for item in operands]
                found: Any = True
                for op, one, other in zip(ops, values, values[1:], strict=False):
                    found = np.logical_and(found, _INFIX[op](one, other))
                return found
            case ItemOf(base=Name(name=name), indices=indices):
                return _element(name, [self._value(item, run, warp) for item in indices], run, warp)
            case Apply(function=function, args=(arg,)):
                return _FUNCTIONS[function](self._value(arg, run, warp))
            case _:
                raise _NotInScopeError

    def _named(self, name: str, run: BlockRun, warp: WarpRun) -> Any:
        if name == WRITTEN:
            found = about_to_store(run, warp)
            if found is None:
                raise _NotInScopeError
            return found
        for var in reversed(variables_around(warp)):
            if var.name == name:
                return data_of(warp.state.variables[var])
        if name in _NUMBERS:
            return _NUMBERS[name]
        raise _NotInScopeError


def variables_around(warp: WarpRun) -> list[PrimVar]:
    """Return the variables of the statements around what a warp runs next, from the outside."""
    found: list[PrimVar] = []
    for frame in warp.frames:
        match frame.node:
            case For(var=var) | LaunchThread(var=var) | LetStmt(var=var):
                found.append(var)
            case Block(iter_vars=axes):
                found += [item.var for item in axes]
            case _:
                pass
    return [var for var in found if var in warp.state.variables]


def _variables(body: Stmt) -> set[str]:
    found: set[str] = set()
    for node in preorder(body):
        match node:
            case For(var=var) | LaunchThread(var=var) | LetStmt(var=var):
                found.add(var.name)
            case Block(iter_vars=axes):
                found |= {item.var.name for item in axes}
            case _:
                pass
    return found


def _element(name: str, indices: list[Any], run: BlockRun, warp: WarpRun) -> Array:
    """Return the elements of a memory in each lane; those of registers have the indices of a thread's own."""
    root = next(item for item in roots_of(run) if item.name == name)
    count = warp.state.lanes.count
    rows = [lanes_first(item, count).astype(np.int64) for item in indices]
    shape = root.shape if root.memory is not None else root.shape[1:]
    if len(rows) != len(shape):
        raise _NotInScopeError
    inside = np.all([(row >= 0) & (row < size) for row, size in zip(rows, shape, strict=True)], axis=0)
    safe = tuple(np.where(inside, row, 0) for row in rows)
    kind = numpy_type(root.dtype)
    if root.memory is not None:
        found = root.memory.raw.view(kind).reshape(shape)[safe]
    else:
        registers = None if root.node is None else warp.state.allocated.get(root.node)
        if not isinstance(registers, Registers):
            raise _NotInScopeError
        flat = np.ravel_multi_index(safe, shape)
        found = lanes_first(data_of(registers.load(flat, warp.state.lanes)), count)
    nothing = np.nan if "float" in root.dtype else 0
    return np.where(np.broadcast_to(inside, (count,)), found, nothing)


def makes_nan(run: BlockRun) -> bool:
    """Tell whether the next statement stores a NaN."""
    warp = run.running
    if warp is None or warp.next is None or not isinstance(warp.next[0], BufferStore):
        return False
    found = about_to_store(run, warp)
    if found is None or not np.issubdtype(np.asarray(found).dtype, np.inexact):
        return False
    lanes = lanes_first(np.isnan(found), warp.state.lanes.count)
    return bool((lanes.reshape(len(lanes), -1).any(axis=1) & warp.state.lanes.full(warp.next[1])).any())
