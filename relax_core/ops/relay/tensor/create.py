"""Relay's operators that make tensors from shapes and values."""

import math
from collections.abc import Callable
from types import MappingProxyType

from relax_core.ir.expr import Expr, TensorType, Type
from relax_core.ir.prim import AnyDim
from relax_core.ops.relay.dims import dims_of
from relax_core.ops.relay.entry import op
from relax_core.ops.relay.spec import RelayCall
from relax_core.ops.relay.tensor.elementwise import identity
from relax_core.ops.relay.tensor.manipulate import new_dims
from relax_core.ops.relay.translation import (
    Rule,
    cast,
    dtype_of,
    number,
    relax,
    scalar,
)
from relax_core.ops.spec import REQUIRED


def _filled_type(call: RelayCall) -> Type:
    return TensorType(new_dims(call, "shape"), call.dtype())


def _full_type(call: RelayCall) -> Type:
    fill = call.tensor()
    if fill.dims:
        raise call.refuse(f"expects a fill value of rank 0, got rank {len(fill.dims)}")
    return TensorType(new_dims(call, "shape"), call.dtype() or fill.dtype)


def _arange_type(call: RelayCall) -> Type:
    """Relation: `(ceil((stop - start) / step),)` if the three arguments are literals."""
    values = [call.constant(k) for k in range(3)]
    dtype = call.dtype() or call.tensor().dtype
    start, stop, step = (item[0] if item else None for item in values)
    if start is None or stop is None or step is None:
        return TensorType((AnyDim(),), dtype)
    if step == 0:
        raise call.refuse("needs a step that is not 0")
    return TensorType(dims_of(max(0, math.ceil((stop - start) / step))), dtype)


def shape_of(call: RelayCall) -> Expr:
    return cast(relax("shape_to_tensor", relax("shape_of", call.exprs[0])), call.dtype() or "int32")


def _shape_attr(call: RelayCall) -> tuple[int, ...]:
    return call.ints("shape")


def shape_argument(index: int) -> Callable[[RelayCall], object]:
    """Return how the shape in an argument is read: as numbers if it is written out, else when the program runs."""

    def shape(call: RelayCall) -> object:
        known = call.constant(index)
        if known is not None:
            return tuple(int(item) for item in known)
        return relax("tensor_to_shape", cast(call.exprs[index], "int64"))

    return shape


def filled(name: str, shape: Callable[[RelayCall], object]) -> Rule:
    def rule(call: RelayCall) -> Expr:
        return relax(name, shape(call), call.dtype() or "float32")

    return rule


def full(shape: Callable[[RelayCall], object]) -> Rule:
    def rule(call: RelayCall) -> Expr:
        return relax("full", shape(call), call.exprs[0], call.dtype() or dtype_of(call))

    return rule


def _arange(call: RelayCall) -> Expr:
    dtype = call.dtype() or dtype_of(call)
    if any(call.constant(k) is None for k in range(3)):
        return _computed_range(call, dtype)
    numbers = [number(call, k) for k in range(3)]
    values = [float(item) if dtype.startswith("float") else int(item) for item in numbers]
    return relax("arange", *values, dtype)


def _computed_range(call: RelayCall, dtype: str) -> Expr:
    """`start + step * (0, 1, ...)`, as many as fit before the end."""
    start, stop, step = (cast(item, dtype) for item in call.exprs)
    extent = relax("subtract", stop, start)
    if dtype.startswith("float"):
        count = relax("ceil", relax("divide", extent, step))
    else:
        count = relax("negative", relax("floor_divide", relax("negative", extent), step))
    sizes = relax("reshape", relax("maximum", cast(count, "int64"), scalar(0, "int64")), (1,))
    ones = relax("ones", relax("tensor_to_shape", sizes), dtype)
    positions = relax("cumsum", ones, 0, dtype, True)
    return relax("add", start, relax("multiply", positions, step))


_FILLED = MappingProxyType({"shape": REQUIRED, "dtype": REQUIRED})

SPECS = (
    op("zeros", "", filled("zeros", _shape_attr), _FILLED, relax="zeros", relation=_filled_type),
    op("ones", "", filled("ones", _shape_attr), _FILLED, relax="ones", relation=_filled_type),
    op("zeros_like", "data", "zeros_like", relation=identity),
    op("ones_like", "data", "ones_like", relation=identity),
    op("full", "fill_value", full(_shape_attr), {"shape": REQUIRED, "dtype": ""}, relax="full", relation=_full_type),
    op("full_like", "data fill_value", "full_like"),
    op("arange", "start stop step", _arange, {"start": None, "stop": None, "step": None, "dtype": ""}, relax="arange",
       relation=_arange_type),
    op("shape_of", "data", shape_of, {"dtype": "int32"}, relax="shape_of"),
)  # fmt: skip
