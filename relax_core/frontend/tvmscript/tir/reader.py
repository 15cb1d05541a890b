"""The state of reading one prim func: names, loops, and access to buffers."""

import ast
from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from typing import Self

from relax_core.diagnostics import plural
from relax_core.frontend.tvmscript.context import Context, Failed, Place, source_of
from relax_core.frontend.tvmscript.names import DTYPES, qualified, suggestion
from relax_core.frontend.tvmscript.scalar.operands import is_pointer_or_text
from relax_core.frontend.tvmscript.scalar.scalar_calls import is_dtype
from relax_core.frontend.tvmscript.scalar.scalars import ScalarReader
from relax_core.frontend.tvmscript.scope import Entity, Poisoned, Scope, Several
from relax_core.frontend.tvmscript.tir.dialect import PrimFuncTraits
from relax_core.ir.prim import (
    MAX_LANES,
    Binary,
    IntImm,
    Intrinsic,
    PrimExpr,
    PrimList,
    PrimVar,
    StringImm,
    const,
    dtype_of,
    lanes_of,
    vector_of,
)
from relax_core.ir.tir import Buffer, BufferLoad, BufferRegion

ZERO = IntImm(0, "int32")


@dataclass(slots=True)
class TirReader(ABC):
    """Reads the expressions of a prim func in one scope.

    `ranges` are the starts and extents of the loops around this place; `allocated` takes the buffers of the block;
    `macros` are the names of those that are being read.
    """

    context: Context
    scope: Scope = field(default_factory=Scope)
    dtypes: dict[str, str] = field(default_factory=dict[str, str])
    ranges: dict[PrimVar, tuple[PrimExpr, PrimExpr]] = field(default_factory=dict[PrimVar, tuple[PrimExpr, PrimExpr]])
    allocated: list[Buffer] = field(default_factory=list[Buffer])
    facts: PrimFuncTraits = field(default_factory=PrimFuncTraits)
    defines: bool = False
    macros: tuple[str, ...] = ()

    def inner(self) -> Self:
        """Return a reader of a list of statements inside this one."""
        return replace(self, scope=self.scope.inner())

    @property
    def scalars(self) -> ScalarReader:
        """The reader of scalar expressions in this scope; a bare integer is int32."""
        return ScalarReader(self.context, self._name, self.load, "int32", self.other)

    def read(self, node: ast.expr) -> PrimExpr:
        """Read a scalar expression."""
        return self.scalars.read(node)

    def number(self, node: ast.expr) -> PrimExpr:
        """Read a scalar expression that is no string and no variable of a pointer."""
        made = self.read(node)
        if is_pointer_or_text(made):
            raise self.context.fail("PA009", node, f"expected a number, got `{source_of(node)}`")
        return made

    def argument(self, node: ast.expr) -> PrimExpr:
        """Read an argument of an intrinsic: a scalar, a buffer, a list."""
        return self.scalars.argument(node)

    def name_of(self, node: ast.expr) -> str:
        """Return the name of what is called, without its module: "grid", "axis.remap"; empty if it is not of T."""
        func = node.func if isinstance(node, ast.Call) else node.value if isinstance(node, ast.Subscript) else node
        name = qualified(func, self.context.aliases) or ""
        if name == "range":
            return name
        short = name.removeprefix("tir.") if name.startswith("tir.") else ""
        return DTYPES.get(short, short)

    def define(self, name: str, dtype: str, place: Place) -> PrimVar:
        """Define a variable."""
        var = PrimVar(name, dtype, span=self.context.span(place))
        self.scope.define(name, var)
        return var

    def _name(self, node: ast.Name) -> PrimExpr:
        match self.scope.find(node.id):
            case PrimExpr() as found:
                return found
            case Poisoned():
                raise Failed(node.id)
            case Several(items=items):
                message = f"`{node.id}` stands for {len(items)} things"
                raise self.context.fail("PA006", node, message, f"write {node.id}[0]")
            case Buffer() as buffer if buffer in self.facts.scalars:
                return BufferLoad(buffer, (ZERO,), span=self.context.span(node))
            case Buffer():
                message = f"`{node.id}` is a buffer"
                raise self.context.fail("RS004", node, message, f"read an element of it: {node.id}[...]")
            case None if self.defines or node.id in self.context.type_vars or node.id in self.dtypes:
                dtype = self.dtypes.get(node.id) or self.context.type_vars.get(node.id, "int64")
                return self.define(node.id, dtype, node)
            case _:
                raise self.undefined(node)

    @abstractmethod
    def other(self, node: ast.expr) -> PrimExpr | None:
        """Read an expression that is no plain scalar; `None` for one that is."""

    def undefined(self, node: ast.Name) -> Failed:
        """Report that a name is not defined, with the one that may be meant."""
        return self.context.fail_undefined(node, suggestion(node.id, self.scope.visible()))

    def known_buffer(self, node: ast.expr) -> Buffer | None:
        """Return the buffer that `node` names, if it does."""
        found = self.scope.find(node.id) if isinstance(node, ast.Name) else self.item(node)
        return found if isinstance(found, Buffer) else None

    def several(self, node: ast.Name) -> Several | None:
        """Return the things that a name stands for, if they are several."""
        found = self.scope.find(node.id)
        return found if isinstance(found, Several) else None

    def item(self, node: ast.expr) -> Entity | None:
        """Return what `i[0]` stands for if `i` is a name of several things, and `x.source`: the buffer of a scalar."""
        match node:
            case ast.Attribute(value=ast.Name(id=name), attr="source"):
                found = self.scope.find(name)
                return found if isinstance(found, Buffer) and found in self.facts.scalars else None
            case ast.Subscript(value=ast.Name() as name, slice=index) if several := self.several(name):
                made = self.read(index)
                place = made.value if isinstance(made, IntImm) else len(several.items)
                if not -len(several.items) <= place < len(several.items):
                    raise self.context.fail("PA006", node, f"`{name.id}` stands for {len(several.items)} things")
                return several.items[place]
            case _:
                return None

    def buffer(self, node: ast.expr) -> Buffer:
        """Return the buffer that a name stands for."""
        if not isinstance(node, ast.Name):
            found = self.item(node)
            if isinstance(found, Buffer):
                return found
            raise self.context.fail("RS004", node, f"expected a buffer, got `{source_of(node)}`")
        match self.scope.find(node.id):
            case Buffer() as found:
                return found
            case Poisoned():
                raise Failed(node.id)
            case None:
                raise self.undefined(node)
            case _:
                raise self.context.fail("RS004", node, f"`{node.id}` is no buffer")

    def load(self, node: ast.Subscript) -> PrimExpr:
        """Read `A[i, j]`, `A[0:4]` as a vector, or `A.shape[0]`."""
        found = self.item(node)
        if isinstance(found, PrimExpr):
            return found
        if isinstance(found, Buffer) and found in self.facts.scalars:
            return BufferLoad(found, (ZERO,), span=self.context.span(node))
        if isinstance(node.value, ast.Attribute | ast.Call):
            found = self.other(node)
            if found is not None:
                return found
        buffer, indices = self.element(node)
        return BufferLoad(buffer, indices, span=self.context.span(node))

    def element(self, node: ast.Subscript) -> tuple[Buffer, tuple[PrimExpr, ...]]:
        """Read the buffer and the indices of `A[i, j]`; a slice is a vector of indices."""
        buffer = self.buffer(node.value)
        items = index_items(node)
        if len(items) != len(buffer.shape):
            message = f"`{buffer.name}` has {plural(len(buffer.shape), 'dimension')}, the index has {len(items)}"
            raise self.context.fail("PA006", node, message)
        return buffer, tuple(self._index(item) for item in items)

    def _index(self, node: ast.expr) -> PrimExpr:
        if not isinstance(node, ast.Slice):
            return self.number(node)
        stride = const(1, "int32") if node.step is None else self.read(node.step)
        if node.lower is None or node.upper is None:
            raise self.context.fail("PA009", node, "a slice has a start and an end")
        start, extent = self.extent(node, node.lower, node.upper)
        match stride, extent:
            case IntImm(value=step), IntImm(value=length) if step > 0 and length > 0:
                lanes = (length + step - 1) // step
            case _:
                message = f"the length of the slice `{source_of(node)}` is not known"
                hint = "a vector has a fixed number of lanes; write a loop: for i in range(n)"
                raise self.context.fail("PA009", node, message, hint)
        if lanes > MAX_LANES:
            message = f"a vector of {lanes:,} lanes; the most are {MAX_LANES:,}"
            raise self.context.fail("PA058", node, message, "write a loop: for i in range(n)")
        if lanes == 1:
            return start
        dtype = dtype_of(start)
        args = (start, const(step, dtype), const(lanes, "int32"))
        return Intrinsic("Ramp", args, vector_of(dtype, lanes * lanes_of(dtype)), span=self.context.span(node))

    def region(self, node: ast.expr) -> BufferRegion:
        """Read `A[i, 0:4]`."""
        if not isinstance(node, ast.Subscript):
            buffer = self.buffer(node)
            starts = tuple(const(0, dtype_of(size)) for size in buffer.shape)
            return BufferRegion(buffer, starts, buffer.shape, span=self.context.span(node))
        buffer = self.buffer(node.value)
        items = index_items(node)
        if len(items) != len(buffer.shape):
            message = f"`{buffer.name}` has {plural(len(buffer.shape), 'dimension')}, got {plural(len(items), 'range')}"
            raise self.context.fail("PA006", node, message)
        ranges = [self._range(item, size) for item, size in zip(items, buffer.shape, strict=True)]
        starts, extents = tuple(start for start, _ in ranges), tuple(extent for _, extent in ranges)
        return BufferRegion(buffer, starts, extents, span=self.context.span(node))

    def _range(self, node: ast.expr, size: PrimExpr) -> tuple[PrimExpr, PrimExpr]:
        match node:
            case ast.Slice(lower=ast.expr() as lower, upper=ast.expr() as upper, step=None):
                return self.extent(node, lower, upper)
            case ast.Slice(lower=None, upper=ast.expr() as upper, step=None):
                extent = self.read(upper)
                return const(0, dtype_of(extent)), extent
            case ast.Slice(lower=None, upper=None, step=None):
                return const(0, dtype_of(size)), size
            case ast.Slice():
                raise self.context.fail("PA009", node, "a slice of a region has a start and an end")
            case _:
                start = self.read(node)
                return start, const(1, dtype_of(start))

    def extent(self, place: ast.expr, start: ast.expr, stop: ast.expr) -> tuple[PrimExpr, PrimExpr]:
        """Read a start and a stop; return the start and how many values lie between them."""
        if isinstance(stop, ast.BinOp) and isinstance(stop.op, ast.Add) and ast.dump(stop.left) == ast.dump(start):
            return self.scalars.unified(start, stop.right)
        first, last = self.scalars.unified(start, stop)
        match first, last:
            case IntImm(), IntImm():
                return first, const(last.value - first.value, first.dtype)
            case IntImm(value=0), _:
                return first, last
            case _:
                return first, Binary("-", last, first, dtype_of(last), span=self.context.span(place))

    def shape(self, node: ast.expr) -> tuple[PrimExpr, ...]:
        """Read the shape of a buffer; free names in it define dimensions where a buffer is matched."""
        if isinstance(node, ast.Attribute) and isinstance(made := self.argument(node), PrimList):
            return made.items
        items = node.elts if isinstance(node, ast.Tuple | ast.List) else [node]
        return tuple(self.dimension(item) for item in items)

    def dimension(self, node: ast.expr) -> PrimExpr:
        """Read one dimension, which may be in quotes; `T.int32()` is a variable without a name that a match defines."""
        match node:
            case ast.Call(args=[], keywords=[]) if is_dtype(dtype := self.name_of(node)):
                return PrimVar("v", dtype, span=self.context.span(node))
            case _:
                pass
        if not isinstance(node, ast.Constant) or not isinstance(node.value, str):
            return self.read(node)
        try:
            inner = ast.parse(node.value.strip() if len(node.value) < 1000 else "(", mode="eval").body
        except (SyntaxError, MemoryError, RecursionError, ValueError):
            raise self.context.fail("PA009", node, "expected an expression in the string") from None
        with self.context.inside(self.context.span(node)):
            return self.read(inner)

    def dtype(self, node: ast.expr) -> str:
        """Read a dtype in quotes, or `T.float32`, or `A.dtype`, or a name of one: `dtype = T.meta_var("int8")`."""
        match node:
            case ast.Name(id=name) if isinstance(found := self.scope.find(name), StringImm) and is_dtype(found.value):
                return found.value
            case ast.Constant(value=str(text)) if is_dtype(text):
                return text
            case ast.Attribute(value=ast.Name() as name, attr="dtype") if (
                buffer := self.known_buffer(name)
            ) is not None:
                return buffer.dtype
            case ast.Attribute() if is_dtype(self.name_of(node)):
                return self.name_of(node)
            case _:
                raise self.context.fail_dtype("PA007", node)


def index_items(node: ast.Subscript) -> list[ast.expr]:
    """Return the indices of a subscript; `A[()]` has none."""
    return list(node.slice.elts) if isinstance(node.slice, ast.Tuple) else [node.slice]
