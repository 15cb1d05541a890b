"""Read `te.compute(shape, lambda i, j: ...)` as a prim func, and the call of it."""

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from relax_core.frontend.tvmscript.context import Context, source_of
from relax_core.frontend.tvmscript.scalar.scalars import ScalarReader
from relax_core.frontend.tvmscript.te.words import REDUCTIONS, te_call
from relax_core.ir.expr import TensorType, Var
from relax_core.ir.node import Node
from relax_core.ir.prim import PrimExpr
from relax_core.ir.tir import Buffer, BufferLoad
from relax_core.ops.kernels.scalar import add, as_index
from relax_core.ops.kernels.te import FuncBuilder, Known, known, load
from relax_core.ops.spec import Legalized

INDEX = "int64"
MAX_PARTS = 4096
"""The most parts of what a name stands for. `n = n * n` written twenty times has a million, without a long text."""


@dataclass(frozen=True, slots=True)
class Tensor:
    """A tensor: the variable that holds it, and its type, all of which is known."""

    var: Var
    type: Known


@dataclass(frozen=True, slots=True)
class ReduceAxis:
    """An axis that `te.reduce_axis` makes."""

    name: str
    start: PrimExpr
    extent: PrimExpr


TeValue: TypeAlias = "Tensor | ReduceAxis | PrimExpr | tuple[TeValue, ...] | ast.Lambda | ast.FunctionDef"


def has_too_many_parts(value: TeValue) -> bool:
    """Tell whether a value has more than `MAX_PARTS`, each counted as often as it occurs."""
    count = 0
    stack: list[TeValue | Node] = [value]
    while stack and count <= MAX_PARTS:
        count += 1
        item = stack.pop()
        if isinstance(item, tuple):
            stack += item
        elif isinstance(item, Node):
            stack += item.PARTS(item)
    return count > MAX_PARTS


def element_of(context: Context, function: "ast.Lambda | ast.FunctionDef") -> ast.expr:
    """Return the expression of an element: a lambda's body, or what a function of one statement returns."""
    if isinstance(function, ast.Lambda):
        return function.body
    match [item for item in function.body if not _is_text(item)]:
        case [ast.Return(value=ast.expr() as value)]:
            return value
        case [first, *_]:
            hint = "a function of an element returns one expression"
            raise context.unsupported(first, f"`{source_of(first)}` in the element of `te.compute`", hint)
        case _:
            raise context.unsupported(function, f"`{function.name}`, which returns nothing,")


def _is_text(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


@dataclass(slots=True)
class Compute:
    """Makes the prim func of one `te.compute`. `values` are what names stand for; `axes` are those of the prim func."""

    context: Context
    name: str
    values: Mapping[str, TeValue]
    builder: FuncBuilder = field(init=False)
    buffers: dict[Var, Buffer] = field(default_factory=dict[Var, Buffer])
    axes: dict[str, TeValue] = field(default_factory=dict[str, "TeValue"])

    def __post_init__(self) -> None:
        self.builder = FuncBuilder(self.name)

    def made(self, node: ast.expr, dims: tuple[PrimExpr, ...], parameters: ast.arguments, body: ast.expr) -> Legalized:
        """Return the prim func that computes `body` for all indices below `dims`, and how to call it.

        Raises:
            Failed: PA004 or PA009, the element has something that is not read.
        """
        shape = self.builder.shape(dims)
        if (how := te_call(body)) in REDUCTIONS and isinstance(body, ast.Call):
            element, axes = self._reduction(body)
            reader = self._reader()
            over = [(item.name, self.builder.own(item.extent)) for item in axes.values()]
            starts = [self.builder.own(item.start) for item in axes.values()]

            def reduced(spatial: tuple[PrimExpr, ...], inner: tuple[PrimExpr, ...]) -> PrimExpr:
                places = {name: add(at, start) for name, at, start in zip(axes, inner, starts, strict=True)}
                self._enter({**self._indices(parameters, spatial), **places})
                return reader.read(element)

            buffer = self.builder.reduce(shape, over, reduced, how, "compute", axis="i")  # pyright: ignore[reportArgumentType]  # one of the three
        else:

            def element_at(*indices: PrimExpr) -> PrimExpr:
                self._enter(self._indices(parameters, indices))
                return self._reader().read(body)

            buffer = self.builder.compute(shape, element_at)
        self._require_dtype(node, buffer.dtype)
        result = known(TensorType(dims, buffer.dtype))
        assert result is not None, "its shape and dtype are known"
        return self.builder.finish(buffer, result)

    def _enter(self, axes: Mapping[str, TeValue]) -> None:
        """Let names stand for the axes of the prim func."""
        self.axes.update(axes)
        self.values = {**self.values, **axes}

    def _indices(self, parameters: ast.arguments, indices: Sequence[PrimExpr]) -> dict[str, TeValue]:
        names = [item.arg for item in [*parameters.posonlyargs, *parameters.args]]
        rest = tuple(indices[len(names) :])
        if len(names) > len(indices) or (rest and parameters.vararg is None) or parameters.kwonlyargs:
            words = f"an element with {len(names)} indices for {len(indices)} axes"
            raise self.context.fail("PA006", (parameters.args or [ast.arg("i")])[0], words)
        found: dict[str, TeValue] = dict(zip(names, indices, strict=False))
        return found if parameters.vararg is None else {**found, parameters.vararg.arg: rest}

    def _require_dtype(self, node: ast.expr, dtype: str) -> None:
        """Refuse results of indices: theirs is the dtype of the sizes, which in Python have none."""
        is_loaded = any(item.dtype == dtype for item in self.buffers.values())
        if dtype == INDEX and not is_loaded:
            hint = 'say which: lambda i: i.astype("int32")'
            words = f"`{source_of(node)}`, whose elements have the dtype of an index,"
            raise self.context.unsupported(node, words, hint)

    def _reduction(self, node: ast.Call) -> tuple[ast.expr, dict[str, ReduceAxis]]:
        """Return the expression of a reduction, and its axes by name."""
        given = {item.arg: item.value for item in node.keywords}
        positional = dict(zip(("expr", "axis"), node.args, strict=False))
        match {**positional, **given}:
            case {"expr": ast.expr() as element, "axis": ast.expr() as axis, **more} if not more:
                pass
            case _:
                raise self.context.unsupported(node, f"`{source_of(node)}` with other arguments than axis=")
        items = axis.elts if isinstance(axis, ast.List | ast.Tuple) else [axis]
        axes: dict[str, ReduceAxis] = {}
        for item in items:
            found = self.values.get(item.id) if isinstance(item, ast.Name) else None
            if not isinstance(item, ast.Name) or not isinstance(found, ReduceAxis):
                hint = 'k = te.reduce_axis((0, n), name="k") makes one'
                raise self.context.fail("PA009", item, f"`{source_of(item)}` is no axis to reduce", hint)
            axes[item.id] = found
        return element, axes

    def _reader(self) -> ScalarReader:
        return ScalarReader(self.context, self._named, self._at, INDEX, self._other)

    def _named(self, node: ast.Name) -> PrimExpr:
        found = self.values.get(node.id)
        if found is None:
            raise self.context.fail_undefined(node, "")
        if not isinstance(found, PrimExpr):
            raise self.context.fail("PA009", node, f"`{node.id}` is no scalar")
        return found if node.id in self.axes else self.builder.own(found)

    def _other(self, node: ast.expr) -> PrimExpr | None:
        """Read `a(i, j)`, another way to write `a[i, j]`."""
        match node:
            case ast.Call(func=ast.Name(id=name) as func, args=args, keywords=[]) if isinstance(
                self.values.get(name), Tensor
            ):
                return self._load(node, func, args)
            case _ if te_call(node) in REDUCTIONS:
                hint = "TVM takes a reduction as the whole element; compute it first"
                raise self.context.unsupported(node, f"`{source_of(node)}` inside of an expression", hint)
            case _:
                return None

    def _at(self, node: ast.Subscript) -> PrimExpr:
        indices: list[ast.expr] = []
        base: ast.expr = node
        while isinstance(base, ast.Subscript):
            items = base.slice.elts if isinstance(base.slice, ast.Tuple) else [base.slice]
            indices, base = [*items, *indices], base.value
        match base, indices:
            case ast.Attribute(value=ast.Name(id=name), attr="shape"), [ast.Constant(value=int(axis))] if isinstance(
                tensor := self.values.get(name), Tensor
            ) and -len(tensor.type.dims) <= axis < len(tensor.type.dims):
                return self.builder.own(tensor.type.dims[axis])
            case ast.Name(id=name), [ast.Constant(value=int(place))] if (
                isinstance(items := self.values.get(name), tuple)
                and -len(items) <= place < len(items)
                and isinstance(item := items[place], PrimExpr)
            ):
                return item
            case ast.Name() as func, _:
                return self._load(node, func, indices)
            case _:
                raise self.context.fail("PA009", node, f"expected an element of a tensor, got `{source_of(node)}`")

    def _load(self, node: ast.expr, base: ast.Name, indices: Sequence[ast.expr]) -> PrimExpr:
        tensor = self.values.get(base.id)
        if tensor is None:
            raise self.context.fail_undefined(base, "")
        if not isinstance(tensor, Tensor):
            raise self.context.fail("PA009", node, f"`{base.id}` is no tensor")
        places = [place for item in indices for place in self._place(item)]
        if len(places) != len(tensor.type.dims):
            words = f"`{source_of(node)}`: the tensor has {len(tensor.type.dims)} axes"
            raise self.context.fail("PA006", node, words)
        if tensor.var not in self.buffers:
            self.buffers[tensor.var] = self.builder.input(tensor.var, tensor.type, base.id)
        made = load(self.buffers[tensor.var], places)
        assert isinstance(made, BufferLoad)
        return replace(made, span=self.context.span(node))

    def _place(self, node: ast.expr) -> list[PrimExpr]:
        inner = node.value if isinstance(node, ast.Starred) else node
        several = self.values.get(inner.id) if isinstance(inner, ast.Name) else None
        if isinstance(several, tuple):
            return [item for item in several if isinstance(item, PrimExpr)]
        return [as_index(self._reader().read(node))]
