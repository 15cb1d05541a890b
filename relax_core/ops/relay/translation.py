"""Making expressions of Relax from a call of a Relay operator: arguments by the schema of the operator."""

from typing import Any, TypeAlias
from typing import cast as cast_type

import numpy as np

from relax_core.ir.expr import (
    Call,
    Constant,
    DataTypeImm,
    Dims,
    Expr,
    Null,
    Op,
    PrimValue,
    ShapeExpr,
    Tuple,
    TupleGetItem,
    constant,
)
from relax_core.ir.integer.prove import constant_value
from relax_core.ir.prim import AnyDim, IntImm, PrimExpr, StringImm, const
from relax_core.ops import OPS
from relax_core.ops.relay.spec import RelayCall, Rule
from relax_core.ops.spec import OpTypeError, Param, default_expr

Given: TypeAlias = Any
"""An expression, or a Python value that the schema turns into one: a number, a string, `None`, a tuple of them."""


def relax(name: str, *args: Given, **named: Given) -> Call:
    """Make a call of the operator `relax.<name>`: arguments in order, further ones by name, defaults for the rest."""
    spec = OPS[f"relax.{name}"]
    made: list[Expr] = [_argument(param, value) for param, value in zip(spec.params, args, strict=False)]
    for param in spec.params[len(args) :]:
        default = default_expr(param)
        if param.name in named:
            made.append(_argument(param, named[param.name]))
        elif default is not None:
            made.append(default)
    return Call(Op(spec.name), tuple(made))


def _argument(param: Param, value: Given) -> Expr:
    match value:
        case Expr():
            return value
        case None:
            return Null()
        case str() if param.kind == "dtype":
            return DataTypeImm(value)
        case tuple():
            return _list(param, cast_type("tuple[Given, ...]", value))
        case _ if param.kind == "axes":
            return Tuple((_prim(value, param),))
        case _:
            return _prim(value, param)


def _list(param: Param, items: tuple[Given, ...]) -> Expr:
    match param.kind:
        case "shape":
            return ShapeExpr(tuple(item if isinstance(item, PrimExpr) else IntImm(int(item)) for item in items))
        case "tuple":
            return Tuple(items)
        case _:
            return Tuple(tuple(_prim(item, param) for item in items))


def _prim(value: Given, param: Param) -> PrimValue:
    match value:
        case str():
            return PrimValue(StringImm(value))
        case PrimExpr():
            return PrimValue(value)
        case _ if param.dtype is not None and param.dtype.startswith("float"):
            return PrimValue(const(float(value), param.dtype))
        case bool():
            return PrimValue(const(value))
        case _:
            return PrimValue(const(value, param.dtype))


def alike(name: str) -> Rule:
    """Return the rule of an operator that Relax has too: arguments are passed on, and attributes of the same names."""

    def rule(call: RelayCall) -> Expr:
        return relax(name, *call.exprs, **attributes(call, name))

    return rule


def attributes(call: RelayCall, name: str) -> dict[str, Given]:
    """Return the attributes of a call that the operator `relax.<name>` has as well."""
    found = {param.name: _attribute(call, param) for param in OPS[f"relax.{name}"].params if param.name in call.attrs}
    if found.get("out_layout") == "":
        found["out_layout"] = call.text("data_layout") or call.text("layout")
    return found


def _attribute(call: RelayCall, param: Param) -> Given:
    match param.kind, param.dtype:
        case "dtype", _:
            return call.dtype(param.name) or None
        case "prim", "bool":
            return call.flag(param.name)
        case "prim", "int64":
            return call.int_(param.name)
        case "prim", "float64":
            return call.number(param.name)
        case "prim", "string":
            return call.text(param.name)
        case _:
            return call.ints(param.name)


def either(static: Rule, dynamic: Rule, *literals: int) -> Rule:
    """Return the rule that takes `dynamic` where one of the arguments numbered is no literal."""

    def rule(call: RelayCall) -> Expr:
        is_known = all(call.constant(index) is not None for index in literals)
        return static(call) if is_known else dynamic(call)

    return rule


class UntranslatedError(OpTypeError):
    """Relax cannot express a call, whose type may be sound all the same."""


def untranslated(call: RelayCall, why: str) -> UntranslatedError:
    """Return the error for a call that Relax cannot express."""
    error = call.refuse(f"cannot be expressed in Relax: {why}")
    return UntranslatedError(error.code, error.message, error.hint)


def dims(call: RelayCall, index: int = 0) -> Dims:
    """Return the sizes of an argument, which the translation needs one by one."""
    found = call.dims(index)
    if found is None or any(isinstance(item, AnyDim) for item in found):
        raise untranslated(call, f"the sizes of argument {index + 1} must be known")
    return found


def size(call: RelayCall, axis: int, index: int = 0) -> int:
    """Return one size of an argument, which must be a number."""
    sizes = dims(call, index)
    if not -len(sizes) <= axis < len(sizes):
        raise untranslated(call, f"argument {index + 1} has rank {len(sizes)}, so there is no axis {axis}")
    found = constant_value(sizes[axis])
    if found is None:
        raise untranslated(call, f"size {axis} of argument {index + 1} must be a number")
    return found


def size_if_known(call: RelayCall, axis: int) -> int | None:
    """Return one size of the first argument, whose rank is known; `None` if it is no number."""
    return constant_value(dims(call)[axis])


def is_sized(call: RelayCall, index: int = 0) -> bool:
    """Tell whether all sizes of an argument are numbers."""
    found = call.dims(index)
    return found is not None and all(constant_value(item) is not None for item in found)


def shape_tensor(call: RelayCall, index: int = 0) -> Expr:
    """Return the sizes of an argument as a vector that is computed when the program runs."""
    return relax("shape_to_tensor", relax("shape_of", call.exprs[index]))


def extent(call: RelayCall, axis: int, index: int = 0) -> Expr:
    """Return one size of an argument as a vector of one, a constant if it is known."""
    found = constant_value(dims(call, index)[axis])
    if found is not None:
        return vector((found,))
    return relax("strided_slice", shape_tensor(call, index), (0,), (axis,), (axis + 1,))


def to_shape(sizes: Expr) -> Expr:
    """Return a vector of 64-bit integers as a shape."""
    return relax("tensor_to_shape", sizes)


def counted(count: Expr) -> Expr:
    """Return the integers from 0 on, as many as a vector of one says: sums of the ones before each."""
    ones = relax("ones", to_shape(count), "int64")
    return relax("cumsum", ones, 0, "int64", True)


def rank(call: RelayCall, index: int = 0) -> int:
    """Return the number of dimensions of an argument."""
    found = call.tensor(index).ndim
    if found is None:
        raise untranslated(call, f"the rank of argument {index + 1} must be known")
    return found


def axis_of(call: RelayCall) -> int:
    """Return the attribute `axis`, counted from the front of the first argument's shape."""
    axis = call.int_("axis")
    return axis + rank(call) if axis < 0 else axis


def dtype_of(call: RelayCall, index: int = 0) -> str:
    """Return the dtype of an argument."""
    found = call.tensor(index).dtype
    if found is None:
        raise untranslated(call, f"the dtype of argument {index + 1} must be known")
    return found


def literal(call: RelayCall, index: int) -> tuple[int | float, ...]:
    """Return the elements of an argument that must be written out in the program."""
    found = call.constant(index)
    if found is None:
        raise untranslated(call, f"argument {index + 1} must be a constant")
    return found


def number(call: RelayCall, index: int) -> int | float:
    """Return the first element of an argument that must be written out in the program."""
    for item in literal(call, index):
        return item
    raise untranslated(call, f"argument {index + 1} is empty")


def scalar(value: float, dtype: str) -> Constant:
    """Make a rank-0 tensor."""
    return constant(np.asarray(value, dtype=dtype))


def vector(values: list[int] | tuple[int, ...], dtype: str = "int64") -> Constant:
    """Make a rank-1 tensor."""
    return constant(np.asarray(values, dtype=dtype))


def cast(value: Expr, dtype: str) -> Call:
    """Convert a tensor."""
    return relax("astype", value, dtype)


def fields(call: RelayCall, index: int = 0) -> tuple[Expr, ...]:
    """Return the tensors in an argument that is a tuple; their types say how many there are."""
    value = call.exprs[index]
    if isinstance(value, Tuple):
        return value.fields
    return tuple(TupleGetItem(value, k) for k in range(len(call.tensors(index))))


def moved(value: Expr, count: int, source: int, target: int) -> Expr:
    """Return a tensor of rank `count` with axis `source` put at `target`."""
    order = [k for k in range(count) if k != source]
    order.insert(target, source)
    return value if order == list(range(count)) else relax("permute_dims", value, tuple(order))


def inserted(value: Expr, axes: tuple[int, ...]) -> Expr:
    """Return a tensor with axes of size one put at `axes`."""
    return relax("expand_dims", value, axes) if axes else value


def along(call: RelayCall, value: Expr, axis: int) -> Expr:
    """Return a vector shaped so that it broadcasts along `axis` of the first argument."""
    return inserted(value, tuple(range(1, rank(call) - axis)))
