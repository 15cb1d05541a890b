"""A small tensor-expression builder: makes prim funcs in the form of TVM's legalizations."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, TypeAlias

from relax_core.ir.attrs import NO_ATTRS, Attrs
from relax_core.ir.expr import Constant, Expr, TensorType, Type, Var
from relax_core.ir.integer.prove import constant_value
from relax_core.ir.node import preorder
from relax_core.ir.notation.show import show_prim
from relax_core.ir.prim import Binary, BinaryKind, PrimExpr, PrimVar, binary, const, dtype_of
from relax_core.ir.rewriting.substitute import replace_symbols
from relax_core.ir.tir import (
    Block,
    Buffer,
    BufferLoad,
    BufferParam,
    BufferRegion,
    BufferStore,
    For,
    IfThenElse,
    IterKind,
    IterVar,
    PrimFunc,
    Stmt,
    seq,
)
from relax_core.ops.dtypes import limits
from relax_core.ops.kernels.scalar import lit
from relax_core.ops.spec import Legalized

Combine = Literal["sum", "prod", "max", "min"]
Loop: TypeAlias = tuple[str, PrimExpr, IterKind]
Operand: TypeAlias = Callable[..., PrimExpr]
"""An operand of a computation: takes indices, gives the element."""


@dataclass(frozen=True, slots=True)
class Known:
    """A tensor type whose dimensions and dtype are known, so that a buffer can be made for it."""

    dims: tuple[PrimExpr, ...]
    dtype: str
    type: TensorType


def known(type_: Type) -> Known | None:
    """Return `type_` with its parts if it is a tensor of known dimensions and dtype."""
    match type_:
        case TensorType(shape=tuple() as dims, dtype=str() as dtype):
            return Known(dims, dtype, type_)
        case _:
            return None


def load(buffer: Buffer, indices: Sequence[PrimExpr]) -> PrimExpr:
    """Return the element of `buffer` at `indices`."""
    return BufferLoad(buffer, tuple(indices))


def lowest(dtype: str) -> PrimExpr:
    """Return the least finite value of `dtype`."""
    return lit(limits(dtype)[0], dtype)


def highest(dtype: str) -> PrimExpr:
    """Return the greatest finite value of `dtype`."""
    return lit(limits(dtype)[1], dtype)


def identity(combine: Combine, dtype: str) -> PrimExpr:
    """Return the value that a reduction starts from."""
    match combine:
        case "sum":
            return lit(0, dtype)
        case "prod":
            return lit(1, dtype)
        case "max":
            return lowest(dtype)
        case "min":
            return highest(dtype)


_COMBINERS: Mapping[Combine, BinaryKind] = MappingProxyType({"sum": "+", "prod": "*", "max": "max", "min": "min"})


class FuncBuilder:
    """Builds one prim func out of computations on buffers, each of them a block in a loop nest.

    Symbols of the caller become symbols of the prim func: those that are a whole dimension of a parameter's buffer
    are bound from its shape, the others are scalar parameters behind the results.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self._symbols: dict[PrimVar, PrimVar] = {}
        self._names: set[str] = set()
        self._inputs: list[Buffer] = []
        self._args: list[Expr] = []
        self._stages: list[Stmt] = []
        self._made: list[Buffer] = []
        self._block_names: set[str] = set()
        self._of_extent_1: set[PrimExpr] = set()

    def own(self, expr: PrimExpr) -> PrimExpr:
        """Return `expr` with the caller's symbols replaced by those of the prim func."""
        for part in preorder(expr):
            if isinstance(part, PrimVar) and part not in self._symbols:
                self._symbols[part] = PrimVar(self._fresh(part.name), part.dtype)
        return replace_symbols(expr, self._symbols) if self._symbols else expr

    def shape(self, dims: Sequence[PrimExpr]) -> tuple[PrimExpr, ...]:
        """Return dimensions of the caller in terms of the prim func."""
        return tuple(self.own(dim) for dim in dims)

    def input(self, arg: Expr, type_: Known, hint: str) -> Buffer:
        """Add a parameter for the tensor `arg`."""
        shape = self.shape(type_.dims)
        name = arg.name if isinstance(arg, Var) else hint
        buffer = Buffer(self._fresh(name), shape, type_.dtype)
        self._inputs.append(buffer)
        self._args.append(arg)
        return buffer

    def operand(self, arg: Expr, type_: Known, hint: str) -> Operand:
        """Add a tensor as an operand that broadcasts: it takes the indices of the result.

        A constant of rank 0 becomes a literal.
        """
        if isinstance(arg, Constant) and arg.data.ndim == 0:
            value = lit(arg.data.item(), str(arg.data.dtype))
            return lambda *indices: value
        buffer = self.input(arg, type_, hint)
        return lambda *indices: load(buffer, self._broadcast_indices(buffer, indices))

    def compute(
        self,
        shape: Sequence[PrimExpr],
        element: Callable[..., PrimExpr],
        name: str = "compute",
        *,
        axis: str = "i",
        attrs: Attrs = NO_ATTRS,
    ) -> Buffer:
        """Add `result[i0, ...] = element(i0, ...)`; `shape` is in terms of the prim func."""
        iters = self._iters(_spatial(axis, shape))
        value = element(*(item.var for item in iters))
        buffer = self._buffer(name, shape, dtype_of(value))
        indices = tuple(item.var for item in iters)
        self._add_stage(iters, BufferStore(buffer, indices, value), name, attrs=attrs)
        return buffer

    def reduce(
        self,
        shape: Sequence[PrimExpr],
        over: Sequence[tuple[str, PrimExpr]],
        element: Callable[[tuple[PrimExpr, ...], tuple[PrimExpr, ...]], PrimExpr],
        combine: Combine | tuple[Combine, PrimExpr],
        name: str,
        *,
        axis: str = "ax",
    ) -> Buffer:
        """Add `result[spatial] = combine over reduced of element(spatial, reduced)`; `over` names the reduced axes.

        The result starts from the value that stands beside `combine`, from its identity if there is none.
        """
        iters = self._iters([*_spatial(axis, shape), *((hint, extent, "reduce") for hint, extent in over)])
        spatial: tuple[PrimExpr, ...] = tuple(item.var for item in iters[: len(shape)])
        reduced: tuple[PrimExpr, ...] = tuple(item.var for item in iters[len(shape) :])
        value = element(spatial, reduced)
        dtype = dtype_of(value)
        buffer = self._buffer(name, shape, dtype)
        kind, start = combine if isinstance(combine, tuple) else (combine, identity(combine, dtype))
        # A sum of truth values is true as soon as one of them is.
        operation = "or" if kind == "sum" and dtype == "bool" else _COMBINERS[kind]
        combined = Binary(operation, load(buffer, spatial), value, dtype)
        init = BufferStore(buffer, spatial, start)
        self._add_stage(iters, BufferStore(buffer, spatial, combined), name, init=init)
        return buffer

    def scan(
        self,
        shape: Sequence[PrimExpr],
        element: Callable[[Buffer, tuple[PrimExpr, ...]], PrimExpr],
        dtype: str,
        name: str,
    ) -> Buffer:
        """Add `result[i0, ...] = element(result, (i0, ...))` in row-major order: it may read earlier elements."""
        iters = self._iters(_loops("ax", shape, "opaque"))
        buffer = self._buffer(name, shape, dtype)
        indices = tuple(item.var for item in iters)
        self._add_stage(iters, BufferStore(buffer, indices, element(buffer, indices)), name)
        return buffer

    def scatter(
        self,
        buffer: Buffer,
        extents: Sequence[PrimExpr],
        element: Callable[..., tuple[Sequence[PrimExpr], PrimExpr]],
        name: str,
        *,
        guard: Callable[..., PrimExpr] | None = None,
    ) -> Buffer:
        """Add `buffer[where] = value` for `(where, value) = element(i0, ...)` and return `buffer`.

        The iterations run in row-major order; those for which `guard(i0, ...)` is false store nothing.
        """
        iters = self._iters(_loops("k", extents, "opaque"))
        variables = tuple(item.var for item in iters)
        where, value = element(*variables)
        condition = None if guard is None else guard(*variables)
        self._add_stage(iters, BufferStore(buffer, tuple(where), value), name, guard=condition)
        return buffer

    def finish(self, out: Buffer | Sequence[Buffer], out_type: Known | Sequence[Known]) -> Legalized:
        """Return the prim func with the result `out`, or several of them, and how to call it."""
        results = (out,) if isinstance(out, Buffer) else tuple(out)
        types = (out_type,) if isinstance(out_type, Known) else tuple(out_type)
        scratch = tuple(buffer for buffer in self._made if buffer not in results)
        body = seq(self._stages)
        if scratch:
            body = Block("root", (), body, alloc_buffers=scratch)
        buffers = _params((*self._inputs, *results))
        bound = {dim for item in buffers for dim in item.buffer.shape if isinstance(dim, PrimVar)}
        extra = [(old, new) for old, new in self._symbols.items() if new not in bound]
        params = (*(item.handle for item in buffers), *(new for _, new in extra))
        func = PrimFunc(params, buffers, body, (("tirx.noalias", True),), is_private=True)
        out_types = tuple(item.type for item in types)
        return Legalized(self.name, func, tuple(self._args), out_types, tuple(old for old, _ in extra))

    def _fresh(self, hint: str) -> str:
        name, count = hint, 0
        while name in self._names:
            count += 1
            name = f"{hint}_{count}"
        self._names.add(name)
        return name

    def _buffer(self, name: str, shape: Sequence[PrimExpr], dtype: str) -> Buffer:
        buffer = Buffer(self._fresh(name), tuple(shape), dtype)
        self._made.append(buffer)
        return buffer

    def _iters(self, loops: Sequence[Loop]) -> tuple[IterVar, ...]:
        made: list[IterVar] = []
        for hint, extent, kind in loops:
            name = hint if hint not in self._names else f"{hint}_1"
            made.append(IterVar(PrimVar(f"v_{hint}", "int64"), extent, PrimVar(name, "int64"), kind))
        self._of_extent_1.update(item.var for item in made if constant_value(item.extent) == 1)
        return tuple(made)

    def _broadcast_indices(self, buffer: Buffer, indices: Sequence[PrimExpr]) -> tuple[PrimExpr, ...]:
        """Pick the last indices; an axis of size 1 that is repeated is read at 0.

        One that is not keeps its index, as in TVM: with a batch of 1, an elementwise kernel is still one to FuseOps.
        """
        last = indices[len(indices) - len(buffer.shape) :]
        pairs = zip(buffer.shape, last, strict=True)
        return tuple(
            const(0) if constant_value(dim) == 1 and index not in self._of_extent_1 else index for dim, index in pairs
        )

    def _add_stage(
        self,
        iters: tuple[IterVar, ...],
        store: BufferStore,
        name: str,
        *,
        init: Stmt | None = None,
        attrs: Attrs = NO_ATTRS,
        guard: PrimExpr | None = None,
    ) -> None:
        block_name, count = name, 0
        while block_name in self._block_names:
            count += 1
            block_name = f"{name}_{count}"
        self._block_names.add(block_name)
        # A block without axes has one of extent 1, as TVM writes it.
        axes = iters or (IterVar(PrimVar("vi", "int64"), const(1), const(0), "spatial"),)
        writes = (_point(store.buffer, store.indices),)
        body: Stmt = store if guard is None else IfThenElse(guard, store)
        reads = _reads(store, guard)
        stmt: Stmt = Block(block_name, axes, body, init=init, reads=reads, writes=writes, annotations=attrs)
        for item in reversed(iters):
            assert isinstance(item.binding, PrimVar), "each axis has a loop of its own"
            stmt = For(item.binding, const(0), item.extent, stmt)
        self._stages.append(stmt)


def _spatial(axis: str, shape: Sequence[PrimExpr]) -> list[Loop]:
    return _loops(axis, shape, "spatial")


def _loops(axis: str, shape: Sequence[PrimExpr], kind: IterKind) -> list[Loop]:
    return [(f"{axis}{k}", extent, kind) for k, extent in enumerate(shape)]


def _point(buffer: Buffer, indices: Sequence[PrimExpr]) -> BufferRegion:
    return BufferRegion(buffer, tuple(indices), tuple(const(1) for _ in indices))


def _reads(store: BufferStore, guard: PrimExpr | None) -> tuple[BufferRegion, ...]:
    """Regions that a store reads besides its own buffer, once each; indices and the guard read as well."""
    found: dict[tuple[Buffer, str], BufferRegion] = {}
    for root in (store.value, *store.indices, *(() if guard is None else (guard,))):
        for part in preorder(root):
            if isinstance(part, BufferLoad) and part.buffer is not store.buffer:
                key = part.buffer, " ".join(show_prim(index) for index in part.indices)
                found.setdefault(key, _point(part.buffer, part.indices))
    return tuple(found.values())


def _params(buffers: tuple[Buffer, ...]) -> tuple[BufferParam, ...]:
    """Return the signature: buffers stand in it if all shapes are static, else handles that the body matches."""
    dims = [dim for buffer in buffers for dim in buffer.shape]
    is_static = not any(isinstance(part, PrimVar) for dim in dims for part in preorder(dim))
    return tuple(
        BufferParam(PrimVar(buffer.name if is_static else f"var_{buffer.name}", "handle"), buffer, is_inline=is_static)
        for buffer in buffers
    )


def clamp(value: PrimExpr, low: PrimExpr, high: PrimExpr) -> PrimExpr:
    """Return `value` held between `low` and `high`."""
    return binary("max", binary("min", value, high), low)
