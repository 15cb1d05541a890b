"""Mappings of indices, as the text of a `lambda`: `lambda i, j: (i // 4, j, i % 4)`; layout_transform."""

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np

from relax_core.ir.expr import Call, Dims, TensorType, Type
from relax_core.ir.integer.prove import constant_value, prove_equal
from relax_core.ir.prim import IntImm, PrimExpr, const
from relax_core.ir.tir import Buffer
from relax_core.ops.attributes import word_at
from relax_core.ops.kernels.lowering import Lowering, lowered
from relax_core.ops.kernels.scalar import add, cast, floordiv, floormod, greatest, least, lit, mul, size, sub
from relax_core.ops.kernels.te import load
from relax_core.ops.operands import is_absent, scalar_at, tensor_at
from relax_core.ops.schema import X
from relax_core.ops.spec import OpSpec, OpTypeError, Param, Value

Array: TypeAlias = "np.ndarray[Any, Any]"
Range: TypeAlias = tuple[PrimExpr, PrimExpr]

_OPERATORS: Mapping[type[ast.operator], Callable[[Any, Any], Any]] = MappingProxyType(
    {ast.Add: add, ast.Sub: sub, ast.Mult: mul, ast.FloorDiv: floordiv, ast.Mod: floormod}
)
_NUMPY: Mapping[type[ast.operator], Callable[[Any, Any], Any]] = MappingProxyType(
    {
        ast.Add: np.add,
        ast.Sub: np.subtract,
        ast.Mult: np.multiply,
        ast.FloorDiv: np.floor_divide,
        ast.Mod: np.mod,
    }
)


@dataclass(frozen=True, slots=True)
class IndexMap:
    """A mapping of indices: its parameters and its results as Python expressions."""

    text: str
    names: tuple[str, ...]
    results: tuple[ast.expr, ...]

    def apply(self, indices: tuple[PrimExpr, ...]) -> tuple[PrimExpr, ...]:
        """Return what the indices are mapped to."""
        at = dict(zip(self.names, indices, strict=True))
        return tuple(_value(item, at, _OPERATORS, lambda number: const(number)) for item in self.results)

    def apply_arrays(self, indices: tuple[Array, ...]) -> tuple[Array, ...]:
        """Return what whole arrays of indices are mapped to."""
        at = dict(zip(self.names, indices, strict=True))
        made = [_value(item, at, _NUMPY, lambda number: number) for item in self.results]
        return tuple(np.broadcast_to(item, indices[0].shape) for item in made)

    def shape(self, dims: Dims) -> Dims:
        """Return the sizes of a tensor after the mapping: one more than the greatest index."""
        ranges = {name: (const(0), size(sub(dim, 1))) for name, dim in zip(self.names, dims, strict=True)}
        return tuple(size(add(_range(item, ranges)[1], 1)) for item in self.results)


def _value(
    node: ast.expr, at: Mapping[str, Any], operators: Mapping[type[ast.operator], Any], number: Callable[[int], Any]
) -> Any:
    match node:
        case ast.Name(id=name):
            return at[name]
        case ast.Constant(value=int(value)):
            return number(value)
        case ast.BinOp(left=left, op=op, right=right):
            a, b = (_value(item, at, operators, number) for item in (left, right))
            return operators[type(op)](a, b)
        case _:
            raise AssertionError("the mapping was read by parse_index_map")


def _range(node: ast.expr, ranges: Mapping[str, Range]) -> Range:
    """Return the least and the greatest value of an expression of indices."""
    match node:
        case ast.Name(id=name):
            return ranges[name]
        case ast.Constant(value=int(value)):
            return const(value), const(value)
        case ast.BinOp(left=left, op=op, right=right):
            (a, b), (c, d) = _range(left, ranges), _range(right, ranges)
            match op:
                case ast.Add():
                    return size(add(a, c)), size(add(b, d))
                case ast.Sub():
                    return size(sub(a, d)), size(sub(b, c))
                case ast.Mult():
                    corners = [size(mul(x, y)) for x in (a, b) for y in (c, d)]
                    if constant_value(c) is not None and prove_equal(c, d):
                        return (corners[0], corners[2]) if (constant_value(c) or 0) >= 0 else (corners[2], corners[0])
                    return size(_fold(least, corners)), size(_fold(greatest, corners))
                case ast.FloorDiv():
                    return size(floordiv(a, d)), size(floordiv(b, c))
                case _:
                    return const(0), size(sub(d, 1))
        case _:
            raise AssertionError("the mapping was read by parse_index_map")


def _fold(function: Callable[[PrimExpr, PrimExpr], PrimExpr], items: list[PrimExpr]) -> PrimExpr:
    result = items[0]
    for item in items[1:]:
        result = function(result, item)
    return result


def parse_index_map(text: str) -> IndexMap:
    """Read a mapping; TY018 if it is not a lambda of sums, products, quotients and remainders of its parameters.

    Behind it may stand what `T.index_map` takes besides, which says nothing of where an element goes.
    """
    problem = OpTypeError(
        "TY018", f"layout_transform cannot read the mapping `{text}`", "write lambda i, j: (i // 4, j, i % 4)"
    )
    try:
        given = ast.parse(f"index_map({text})", mode="eval").body
    except SyntaxError:
        raise problem from None
    tree = given.args[0] if isinstance(given, ast.Call) and len(given.args) == 1 else None
    if not isinstance(tree, ast.Lambda):
        raise problem
    names = tuple(item.arg for item in tree.args.args)
    body = tuple(tree.body.elts) if isinstance(tree.body, ast.Tuple | ast.List) else (tree.body,)
    if not all(_is_readable(node, names) for item in body for node in ast.walk(item)):
        raise problem
    return IndexMap(text, names, body)


def _is_readable(node: ast.AST, names: tuple[str, ...]) -> bool:
    match node:
        case ast.Name(id=name):
            return name in names
        case ast.Constant(value=value):
            return type(value) is int
        case ast.BinOp(op=op):
            return type(op) in _OPERATORS
        case _:
            return isinstance(node, ast.operator | ast.expr_context)


def _map(call: Call, arg_types: tuple[Type, ...], data: TensorType) -> IndexMap:
    found = parse_index_map(word_at(call, arg_types, 1))
    if data.ndim is not None and len(found.names) != data.ndim:
        raise OpTypeError(
            "TY013", (f"layout_transform maps {len(found.names)} indices, got ", data, f": `{found.text}`")
        )
    return found


def _infer(call: Call, arg_types: tuple[Type, ...]) -> Type:
    """Infer per result of the mapping its greatest value plus 1; what nothing is mapped to is padding.

    TVM leaves the padding open where no `pad_value` is given; here it is 0. It lowers `lambda i: ((i + 1) % 16,)` as
    if the axis were padded, and loses the element that comes to the front; here every element moves.
    """
    data = tensor_at(call, arg_types)
    found = _map(call, arg_types, data)
    if not is_absent(call, 2):
        scalar_at(call, arg_types, 2)
    if data.dims is None:
        return TensorType(None, data.dtype, len(found.results))
    return TensorType(found.shape(data.dims), data.dtype)


def _build(lowering: Lowering) -> Buffer:
    data = lowering.input(0)
    assert isinstance(lowering.arg_types[0], TensorType)
    found = _map(lowering.call, lowering.arg_types, lowering.arg_types[0])
    fill = lit(0, data.dtype) if is_absent(lowering.call, 2) else _converted(lowering.scalar(2), data.dtype)
    result = lowering.compute(lowering.shape(), lambda *_: fill, "T_pad")
    return lowering.builder.scatter(result, data.shape, lambda *i: (found.apply(i), load(data, i)), "T_layout_trans")


def _converted(value: PrimExpr, dtype: str) -> PrimExpr:
    return lit(value.value, dtype) if isinstance(value, IntImm) else cast(value, dtype)


def places_of(shape: tuple[int, ...]) -> tuple[Array, ...]:
    """Return for each axis the index of every element."""
    found: Any = np.indices(shape)
    return tuple(found)


def _evaluate(args: tuple[Value, ...]) -> Value:
    data = np.asarray(args[0])
    found = parse_index_map(args[1])
    dims = found.shape(tuple(const(extent) for extent in data.shape))
    shape = tuple(constant_value(dim) or 0 for dim in dims)
    result = np.full(shape, 0 if args[2] is None else args[2], data.dtype)
    result[found.apply_arrays(places_of(data.shape))] = data
    return result


SPECS = (
    OpSpec("relax.layout_transform",
           (X, Param("index_map", "index_map"), Param("pad_value", "prim", default=None),
            Param("axis_separators", "axes", default=None), Param("input_axis_separators", "axes", default=None)),
           _infer, "Move each element to where a mapping of indices says.", evaluate=_evaluate,
           legalize=lowered("te_layout_transform", _build), pattern_kind="injective",
           see="tvm/src/relax/op/tensor/manipulate.cc"),
)  # fmt: skip
