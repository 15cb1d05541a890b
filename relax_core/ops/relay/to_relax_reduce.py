"""Reductions, and operators that make tensors, in Relax; also those whose sizes are values, `dyn.*`."""

from collections.abc import Callable
from math import prod
from types import MappingProxyType

from relax_core.ir.expr import Expr
from relax_core.ops.relay.spec import RelayCall
from relax_core.ops.relay.to_relax_index import hot, top
from relax_core.ops.relay.to_relax_make import (
    Rule,
    Rules,
    cast,
    dtype_of,
    extent,
    is_sized,
    literal,
    number,
    rank,
    relax,
    scalar,
    size,
    untranslated,
    vector,
)


def _axes(call: RelayCall) -> tuple[int, ...] | None:
    """Return the axes that are reduced; `None` for all."""
    count = rank(call)
    given = call.attrs.get("axis")
    axes = tuple(axis % count for axis in call.ints("axis")) if given is not None and count else ()
    if call.flag("exclude"):
        return tuple(k for k in range(count) if k not in axes)
    return None if given is None or (given == () and not call.flag("exclude")) else axes


def _reduced(call: RelayCall, name: str, value: Expr) -> Expr:
    axes = _axes(call)
    return value if axes == () else relax(name, value, axes, call.flag("keepdims"))


def _reduce(name: str) -> Rule:
    def rule(call: RelayCall) -> Expr:
        return _reduced(call, name, call.exprs[0])

    return rule


def _truth(name: str) -> Rule:
    """All and any are the least and the greatest of 0 and 1."""

    def rule(call: RelayCall) -> Expr:
        return cast(_reduced(call, name, cast(call.exprs[0], "int32")), "bool")

    return rule


def _mean(call: RelayCall) -> Expr:
    dtype = dtype_of(call)
    if not dtype.startswith(("int", "uint")):
        return _reduced(call, "mean", call.exprs[0])
    total = _reduced(call, "sum", call.exprs[0])
    return relax("divide", total, _reduced_count(call, dtype))


def _reduced_count(call: RelayCall, dtype: str) -> Expr:
    """Return how many elements make one of the result."""
    axes = _axes(call)
    axes = tuple(range(rank(call))) if axes is None else axes
    if is_sized(call):
        return scalar(prod(size(call, axis) for axis in axes), dtype)
    sizes = (vector((1,)), *(extent(call, axis) for axis in axes))
    return cast(relax("prod", relax("concat", sizes, 0)), dtype)


def _variance(call: RelayCall) -> Expr:
    data, *mean = call.exprs
    if mean:
        found = _reduced(call, "mean", relax("square", relax("subtract", data, mean[0])))
    else:
        found = _reduced(call, "variance", data)
    if not call.flag("unbiased"):
        return found
    dtype = dtype_of(call)
    count = _reduced_count(call, dtype)
    others = relax("maximum", relax("subtract", count, scalar(1, dtype)), scalar(1, dtype))
    return relax("multiply", found, relax("divide", count, others))


def _argument(name: str) -> Rule:
    def rule(call: RelayCall) -> Expr:
        axes = _axes(call)
        if axes is not None and len(axes) != 1:
            raise untranslated(call, "Relax finds the place along one axis, or in all")
        if call.flag("select_last_index"):
            raise untranslated(call, "Relax gives the first place")
        return cast(relax(name, call.exprs[0], None if axes is None else axes[0], call.flag("keepdims")), "int32")

    return rule


def _scan(name: str) -> Rule:
    def rule(call: RelayCall) -> Expr:
        axis = None if call.attrs.get("axis") is None else call.int_("axis")
        dtype = call.dtype() or dtype_of(call)
        if dtype == "bool":
            dtype = "int32"
        return relax(name, call.exprs[0], axis, dtype, call.flag("exclusive"))

    return rule


def _ndarray_size(call: RelayCall) -> Expr:
    return cast(relax("size", call.exprs[0]), call.dtype() or "int32")


def _shape_of(call: RelayCall) -> Expr:
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


def _filled(name: str, shape: Callable[[RelayCall], object]) -> Rule:
    def rule(call: RelayCall) -> Expr:
        return relax(name, shape(call), call.dtype() or "float32")

    return rule


def _full(shape: Callable[[RelayCall], object]) -> Rule:
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


def _dyn_reshape(call: RelayCall) -> Expr:
    return relax("reshape", call.exprs[0], _dyn_shape(call, 1))


def _dyn_shape(call: RelayCall, index: int) -> object:
    known = call.constant(index)
    if known is None:
        return shape_argument(index)(call)
    sizes = [int(item) for item in known]
    if 0 in sizes and not call.flag("allowzero"):
        sizes = [size(call, k) if item == 0 else item for k, item in enumerate(sizes)]
    if -1 in sizes:
        total = 1
        for axis in range(rank(call)):
            total *= size(call, axis)
        others = 1
        for item in sizes:
            others *= item if item != -1 else 1
        sizes = [total // max(others, 1) if item == -1 else item for item in sizes]
    return tuple(sizes)


def _dyn_broadcast(call: RelayCall) -> Expr:
    return relax("broadcast_to", call.exprs[0], shape_argument(1)(call))


def _dyn_tile(call: RelayCall) -> Expr:
    return relax("tile", call.exprs[0], tuple(int(item) for item in literal(call, 1)))


def _dyn_one_hot(call: RelayCall) -> Expr:
    return hot(call, vector(tuple(range(int(number(call, 3))))))


def _dyn_topk(call: RelayCall) -> Expr:
    return top(call, int(number(call, 1)))


def _dyn_slice(call: RelayCall) -> Expr:
    if call.text("slice_mode") == "size" or call.has("axes"):
        raise untranslated(call, "Relax slices all axes, up to an end")
    return relax("dynamic_strided_slice", *(cast(item, "int64") if k else item for k, item in enumerate(call.exprs)))


def _dyn_expand_dims(call: RelayCall) -> Expr:
    axis = int(number(call, 1))
    start = axis + rank(call) + 1 if axis < 0 else axis
    return relax("expand_dims", call.exprs[0], tuple(range(start, start + call.int_("num_newaxis"))))


def _dyn_squeeze(call: RelayCall) -> Expr:
    return relax("squeeze", call.exprs[0], tuple(int(item) for item in literal(call, 1)))


def _dyn_pad(call: RelayCall) -> Expr:
    widths = tuple(int(item) for item in literal(call, 1))
    return relax("nn.pad", call.exprs[0], widths, call.text("pad_mode"), float(number(call, 2)))


RULES: Rules = MappingProxyType(
    {
        **{name: _reduce(name) for name in ("sum", "max", "min", "prod")},
        "mean": _mean,
        "all": _truth("min"),
        "any": _truth("max"),
        "variance": _variance,
        "argmax": _argument("argmax"),
        "argmin": _argument("argmin"),
        "cumsum": _scan("cumsum"),
        "cumprod": _scan("cumprod"),
        "ndarray_size": _ndarray_size,
        "shape_of": _shape_of,
        "vm.shape_of": _shape_of,
        "zeros": _filled("zeros", _shape_attr),
        "ones": _filled("ones", _shape_attr),
        "full": _full(_shape_attr),
        "arange": _arange,
        "dyn.zeros": _filled("zeros", shape_argument(0)),
        "dyn.ones": _filled("ones", shape_argument(0)),
        "dyn.full": _full(shape_argument(1)),
        "dyn.reshape": _dyn_reshape,
        "vm.reshape_tensor": _dyn_reshape,
        "dyn.broadcast_to": _dyn_broadcast,
        "dyn.tile": _dyn_tile,
        "dyn.one_hot": _dyn_one_hot,
        "dyn.topk": _dyn_topk,
        "dyn.strided_slice": _dyn_slice,
        "dyn.expand_dims": _dyn_expand_dims,
        "dyn.squeeze": _dyn_squeeze,
        "dyn.nn.pad": _dyn_pad,
    }
)
