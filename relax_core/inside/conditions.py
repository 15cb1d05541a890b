"""Conditions of the debugger as conditions of TIR, at each statement in terms of the variables that it has."""

from collections.abc import Mapping
from math import inf, nan
from types import MappingProxyType
from typing import Final, NoReturn, cast

from relax_core.diagnostics import CompileError, Diagnostic
from relax_core.inside.instrument import TRUE, every, when
from relax_core.inside.sites import Layout, Site
from relax_core.ir.node import postorder
from relax_core.ir.prim import (
    Binary,
    BinaryKind,
    Cast,
    FloatImm,
    IntImm,
    Intrinsic,
    PrimExpr,
    PrimVar,
    Unary,
    binary,
    const,
    dtype_of,
)
from relax_core.ir.tir import Buffer, BufferLoad, BufferStore
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

WRITTEN: Final = "written"
"""The name of what the statement is about to store."""
_REALS: Final[Mapping[str, float]] = MappingProxyType({"nan": nan, "inf": inf})
_TESTS: Final = ("isnan", "isinf")


class _UnknownHereError(Exception):
    """A name stands for nothing at a statement."""

    def __init__(self, name: Name | ItemOf) -> None:
        super().__init__()
        self.name = name


class Translator:
    """Says what a condition is at each statement of a function; where one of its names is unknown it never holds."""

    def __init__(self, layout: Layout, text: str) -> None:
        """Read a condition.

        Raises:
            CompileError: VM030 if it cannot be read, VM031 if it can be told at no statement.
        """
        self._tree = parse_condition(text)
        self._buffers = {buffer.name: buffer for buffer in layout.buffers}
        self._sizes = _sizes(layout)
        self._of: dict[int, PrimExpr] = {}
        missing: Name | ItemOf | None = None
        for site in layout.sites:
            try:
                self._of[site.number] = self._truth(self._tree, site)
            except _UnknownHereError as error:
                missing = missing or error.name
        if not self._of and missing is not None:
            self._refuse(layout, missing)

    def probe(self, site: Site) -> PrimExpr | None:
        """Return the condition at a statement, `None` where it says nothing."""
        return self._of.get(site.number)

    def value(self, site: Site) -> PrimExpr | None:
        """Return what it is at a statement, as an expression; `None` where one of its names says nothing."""
        try:
            return self._value(self._tree, site)
        except _UnknownHereError:
            return None

    def _refuse(self, layout: Layout, missing: Name | ItemOf) -> NoReturn:
        known = dict.fromkeys((*(slot.var.name for slot in layout.slots if not slot.is_hidden), *self._buffers))
        hint = f"there are {', '.join(f'`{name}`' for name in known)}, and `{WRITTEN}`"
        message = f"no statement of `{layout.name}` knows `{missing.span.text}`"
        raise CompileError((Diagnostic("VM031", message, missing.span, hint),))

    def _truth(self, tree: Expression, site: Site) -> PrimExpr:
        found = self._value(tree, site)
        if dtype_of(found) == "bool":
            return found
        return Binary("!=", found, const(0, dtype_of(found)), "bool")

    def _value(self, tree: Expression, site: Site) -> PrimExpr:
        match tree:
            case Number(value=bool() | int() | float() as value):
                return const(value)
            case Name(name=name):
                return self._named(tree, name, site)
            case Prefix(op="not", operand=operand):
                return Unary("not", self._truth(operand, site), "bool")
            case Prefix(operand=operand):
                found = self._value(operand, site)
                return Unary("-", found, dtype_of(found))
            case Infix(op="and", left=left, right=right):
                return when(self._truth(left, site), self._truth(right, site), IntImm(0, "bool"))
            case Infix(op="or", left=left, right=right):
                return when(self._truth(left, site), TRUE, self._truth(right, site))
            case Infix(op=op, left=left, right=right):
                return _arithmetic(op, self._value(left, site), self._value(right, site))
            case Comparison(operands=operands, ops=ops):
                values = [self._value(item, site) for item in operands]
                pairs = zip(ops, values, values[1:], strict=False)
                return every(binary(cast("BinaryKind", op), *_alike(a, b)) for op, a, b in pairs)
            case ItemOf(base=Name(name=name), indices=indices):
                return self._element(tree, name, [self._value(item, site) for item in indices])
            case Apply(function=name, args=(arg,)) if name in (*_TESTS, "abs"):
                found = self._value(arg, site)
                return Intrinsic(name, (found,), "bool" if name in _TESTS else dtype_of(found))
            case _:
                hint = "it compares numbers, variables and elements such as `A[i, j]`; it knows isnan, isinf and abs"
                raise CompileError((Diagnostic("VM031", "this says nothing inside a kernel", tree.span, hint),))

    def _named(self, tree: Name, name: str, site: Site) -> PrimExpr:
        if name == WRITTEN and isinstance(site.node, BufferStore):
            return site.node.value
        for slot in reversed(site.slots):
            if slot.var.name == name and not slot.is_hidden:
                return slot.var
        if name in self._sizes:
            return self._sizes[name]
        if name in _REALS:
            return FloatImm(_REALS[name], "float64")
        buffer = self._buffers.get(name)
        if buffer is not None and all(isinstance(dim, IntImm) and dim.value == 1 for dim in buffer.shape):
            return BufferLoad(buffer, tuple(IntImm(0) for _ in buffer.shape))
        raise _UnknownHereError(tree)

    def _element(self, tree: ItemOf, name: str, indices: list[PrimExpr]) -> PrimExpr:
        buffer = self._buffers.get(name)
        if buffer is None:
            raise _UnknownHereError(tree)
        if len(indices) != len(buffer.shape):
            _ranks(buffer, len(indices), tree.span)
        inside = [
            item
            for dim, index in zip(buffer.shape, indices, strict=True)
            for item in (binary(">=", index, IntImm(0)), binary("<", index, dim))
        ]
        nothing = const(nan if "float" in buffer.dtype else 0, buffer.dtype)
        return when(every(inside), BufferLoad(buffer, tuple(indices)), nothing)


def _ranks(buffer: Buffer, count: int, span: Span) -> NoReturn:
    message = f"`{buffer.name}` has {len(buffer.shape)} dimensions, and {count} indices are given"
    raise CompileError((Diagnostic("VM031", message, span),))


def _arithmetic(op: str, a: PrimExpr, b: PrimExpr) -> PrimExpr:
    if op == "/":
        a, b = (item if "float" in dtype_of(item) else Cast(item, "float64") for item in (a, b))
    return binary(cast("BinaryKind", op), *_alike(a, b))


def _alike(a: PrimExpr, b: PrimExpr) -> tuple[PrimExpr, PrimExpr]:
    """Compare and compute in double precision where a float meets an integer or another float."""
    kinds = ["float" in dtype_of(item) for item in (a, b)]
    if any(kinds) and dtype_of(a) != dtype_of(b):
        return (a if dtype_of(a) == "float64" else Cast(a, "float64")), (
            b if dtype_of(b) == "float64" else Cast(b, "float64")
        )
    return a, b


def _sizes(layout: Layout) -> dict[str, PrimVar]:
    function = layout.function
    found = {param.name: param for param in function.params if param.dtype != "handle"}
    for item in function.buffers:
        parts = (part for dim in item.buffer.shape for part in postorder(dim))
        found.update((part.name, part) for part in parts if isinstance(part, PrimVar))
    return found
