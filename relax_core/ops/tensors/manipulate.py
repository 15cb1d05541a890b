"""Operators that move elements without computing: reshape, transpose, concatenate, broadcast."""

import math
from itertools import pairwise

import numpy as np

from relax_core.ir.expr import Call, Dims, ShapeType, TensorType, Type, Var
from relax_core.ir.integer.prove import constant_value, prove_different, prove_equal, simplify
from relax_core.ir.notation.show import show_prim
from relax_core.ir.prim import PrimExpr, Select, binary, const
from relax_core.ir.tir import Buffer
from relax_core.ops.arithmetic.elementwise import legalize_map
from relax_core.ops.kernels.lowering import fields_of
from relax_core.ops.kernels.te import FuncBuilder, Known, known, load
from relax_core.ops.operands import (
    ONE,
    broadcast,
    common_dtype,
    int_at,
    ints_at,
    is_absent,
    normal_axes,
    normal_axis,
    product,
    shape_at,
    tensor_at,
    tensors_at,
)
from relax_core.ops.schema import AXES, SHAPE, X
from relax_core.ops.show import show_dims
from relax_core.ops.spec import Legalize, Legalized, OpSpec, OpTypeError, Param, Value, listed

_SEE = "tvm/src/relax/op/tensor/manipulate.cc"


def of_shape(call: Call, index: int, shape: ShapeType, dtype: str | None) -> TensorType:
    """Return the tensor type whose shape is the argument at `index`, as well as that is known."""
    if shape.values is not None:
        return TensorType(shape.values, dtype)
    arg = call.args[index]
    return TensorType(arg if isinstance(arg, Var) else None, dtype, shape.ndim)


def _infer_reshape(call: Call, arg_types: tuple[Type, ...]) -> Type:
    """Infer the type of `reshape`; one size may be -1, which is what is left, and 0 copies the size at that place."""
    tensor, shape = tensor_at(call, arg_types), shape_at(call, arg_types, 1)
    if shape.values is None:
        return of_shape(call, 1, shape, tensor.dtype)
    if tensor.dims is None:
        has_rest = any(constant_value(dim) in (-1, 0) for dim in shape.values)
        return TensorType(None if has_rest else shape.values, tensor.dtype, len(shape.values))
    dims = _fill_rest(tensor.dims, shape.values)
    if prove_different(product(tensor.dims), product(dims)):
        raise OpTypeError(
            "TY015",
            (
                "reshape expects the same number of elements, got ",
                tensor,
                f" and {show_dims(shape.values)}: {show_prim(product(tensor.dims))} is not {show_prim(product(dims))}",
            ),
            "write -1 for the size that follows from the others",
        )
    return TensorType(dims, tensor.dtype)


def _fill_rest(old: Dims, new: Dims) -> Dims:
    """Return the sizes `new` with 0 and -1 replaced by what they stand for.

    A 0 copies a size, unless there are no elements and only sizes of 0 fit, as of `(n, 0)` to `(n * 0,)`. Where a run
    may do either, as of `(n, m)` to `(0,)`, one 0 is what is left, which is right for both.
    """
    zeros = [k for k, dim in enumerate(new) if constant_value(dim) == 0 and k < len(old)]
    copied = tuple(old[k] if k in zeros else dim for k, dim in enumerate(new))
    places = [k for k, dim in enumerate(copied) if constant_value(dim) == -1]
    if len(places) > 1:
        raise OpTypeError("TY015", f"reshape allows one -1, got {show_dims(new)}", "give all sizes but one")
    if places:
        return _with_size(copied, places[0], _left(old, copied, places[0], show_dims(new)))
    is_empty = constant_value(product(old)) == 0 and constant_value(product(new)) == 0
    if is_empty and constant_value(product(copied)) != 0:
        return new
    if len(zeros) == 1 and constant_value(product(old)) is None and not prove_equal(product(copied), product(old)):
        others = constant_value(product(_with_size(new, zeros[0], ONE)))
        if others is not None and others > 0:
            return _with_size(new, zeros[0], simplify(binary("//", product(old), const(others))))
    return copied


def _with_size(dims: Dims, axis: int, size: PrimExpr) -> Dims:
    return (*dims[:axis], size, *dims[axis + 1 :])


def _left(old: Dims, new: Dims, place: int, shown: str) -> PrimExpr:
    """Return the size at `place` that leaves the number of elements as it is.

    Sizes that stay at their axes do not count, so that a division is by 0 only where the size has no meaning.
    """
    kept = {k for k, (a, b) in enumerate(zip(old, new, strict=False)) if k != place and prove_equal(a, b)}
    total = product(tuple(dim for k, dim in enumerate(old) if k not in kept))
    rest = product(tuple(dim for k, dim in enumerate(new) if k not in kept and k != place))
    size, known_rest = constant_value(total), constant_value(rest)
    if size is not None and known_rest is not None and (known_rest == 0 or size % known_rest):
        count, others = show_prim(product(old)), show_prim(product(_with_size(new, place, ONE)))
        message = f"reshape cannot divide {count} elements by {others} for the -1 in {shown}"
        raise OpTypeError("TY015", message)
    return const(1) if prove_equal(total, rest) else simplify(binary("//", total, rest))


def _evaluate_reshape(args: tuple[Value, ...]) -> Value:
    data = np.asarray(args[0])
    dims = _fill_rest(tuple(map(const, data.shape)), tuple(const(int(size)) for size in args[1]))
    return np.reshape(data, tuple(constant_value(dim) or 0 for dim in dims))


def _infer_flatten(call: Call, arg_types: tuple[Type, ...]) -> Type:
    """Infer one axis, the product of all sizes."""
    tensor = tensor_at(call, arg_types)
    return TensorType(None if tensor.dims is None else (product(tensor.dims),), tensor.dtype, 1)


def _legalize_reshape(call: Call, arg_types: tuple[Type, ...], out_type: Type) -> Legalized | None:
    data, result = known(arg_types[0]), known(out_type)
    if data is None or result is None:
        return None
    builder = FuncBuilder("reshape")
    source = builder.input(call.args[0], data, "x")
    shape = builder.shape(result.dims)

    def element(*indices: PrimExpr) -> PrimExpr:
        flat: PrimExpr = const(0)
        for k, (index, dim) in enumerate(zip(indices, shape, strict=True)):
            flat = index if k == 0 else binary("+", binary("*", flat, dim), index)
        return load(source, split_index(flat, source.shape))

    return builder.finish(builder.compute(shape, element, "T_reshape", axis="ax"), result)


def split_index(flat: PrimExpr, shape: Dims) -> Dims:
    """Return the indices of the element number `flat` of a row-major tensor."""
    indices: list[PrimExpr] = []
    for k, dim in enumerate(shape):
        stride = product(shape[k + 1 :])
        quotient = flat if constant_value(stride) == 1 else binary("//", flat, stride)
        indices.append(const(0) if constant_value(dim) == 1 else binary("%", quotient, dim))
    return tuple(indices)


def _axes_of(call: Call, arg_types: tuple[Type, ...], rank: int) -> tuple[int, ...]:
    """Return the permutation of `permute_dims`; TY017 if it is none."""
    axes = ints_at(call, arg_types, 1)
    if axes is None:
        return tuple(reversed(range(rank)))
    if len(axes) != rank:
        raise OpTypeError("TY017", f"permute_dims expects {rank} axes, got {list(axes)}", "name each axis once")
    return normal_axes(call, axes, rank)


def _infer_permute_dims(call: Call, arg_types: tuple[Type, ...]) -> Type:
    """Infer the sizes in the order of the axes; without axes, reversed."""
    tensor = tensor_at(call, arg_types)
    if tensor.ndim is None:
        axes = ints_at(call, arg_types, 1)
        return TensorType(None, tensor.dtype, None if axes is None else len(axes))
    order = _axes_of(call, arg_types, tensor.ndim)
    if tensor.dims is None:
        return TensorType(None, tensor.dtype, tensor.ndim)
    return TensorType(tuple(tensor.dims[axis] for axis in order), tensor.dtype)


def _legalize_permute_dims(call: Call, arg_types: tuple[Type, ...], out_type: Type) -> Legalized | None:
    data, result = known(arg_types[0]), known(out_type)
    if data is None or result is None:
        return None
    order = _axes_of(call, arg_types, len(data.dims))
    builder = FuncBuilder("transpose")
    source = builder.input(call.args[0], data, "x")
    out = builder.compute(
        tuple(source.shape[axis] for axis in order),
        lambda *indices: load(source, tuple(indices[order.index(axis)] for axis in range(len(order)))),
        "T_transpose",
        axis="ax",
    )
    return builder.finish(out, result)


def _inserted(call: Call, arg_types: tuple[Type, ...], rank: int) -> tuple[int, ...]:
    axes = ints_at(call, arg_types, 1) or ()
    return normal_axes(call, axes, rank + len(axes))


def _infer_expand_dims(call: Call, arg_types: tuple[Type, ...]) -> Type:
    """Infer a size of 1 at each given axis of the result."""
    tensor = tensor_at(call, arg_types)
    if tensor.ndim is None:
        return TensorType(None, tensor.dtype)
    inserted = _inserted(call, arg_types, tensor.ndim)
    rank = tensor.ndim + len(inserted)
    if tensor.dims is None:
        return TensorType(None, tensor.dtype, rank)
    rest = iter(tensor.dims)
    return TensorType(tuple(ONE if k in inserted else next(rest) for k in range(rank)), tensor.dtype)


def _removed(call: Call, arg_types: tuple[Type, ...], dims: Dims) -> tuple[int, ...] | None:
    """Return the axes that `squeeze` removes, which are of size 1; `None` if it depends on the value of a symbol."""
    axes = ints_at(call, arg_types, 1)
    if axes is None:
        sizes = [constant_value(dim) for dim in dims]
        return None if None in sizes else tuple(k for k, size in enumerate(sizes) if size == 1)
    return tuple(axis for axis in normal_axes(call, axes, len(dims)) if not prove_different(dims[axis], ONE))


def _infer_squeeze(call: Call, arg_types: tuple[Type, ...]) -> Type:
    """Infer the sizes without the given axes, or without all that are 1."""
    tensor = tensor_at(call, arg_types)
    if tensor.dims is None:
        axes = ints_at(call, arg_types, 1)
        is_known = axes is not None and tensor.ndim is not None
        return TensorType(None, tensor.dtype, tensor.ndim - len(axes) if is_known and tensor.ndim and axes else None)
    removed = _removed(call, arg_types, tensor.dims)
    if removed is None:
        return TensorType(None, tensor.dtype)
    result = TensorType(tuple(dim for k, dim in enumerate(tensor.dims) if k not in removed), tensor.dtype)
    for axis in normal_axes(call, ints_at(call, arg_types, 1) or (), len(tensor.dims)):
        if axis not in removed:
            size, dims = show_prim(tensor.dims[axis]), show_dims(tensor.dims)
            message = f"squeeze removes axes of size 1, got size {size} at axis {axis} of {dims}"
            raise OpTypeError("TY034", message, "the axis stays", result)
    return result


def _legalize_axes(name: str) -> Legalize:
    """Return the legalization of `expand_dims` and `squeeze`, which read the element at the remaining axes."""

    def legalize(call: Call, arg_types: tuple[Type, ...], out_type: Type) -> Legalized | None:
        data, result = known(arg_types[0]), known(out_type)
        if data is None or result is None:
            return None
        builder = FuncBuilder(name)
        source = builder.input(call.args[0], data, "x")
        rank = len(data.dims)

        def element(*indices: PrimExpr) -> PrimExpr:
            if name == "expand_dims":
                inserted = _inserted(call, arg_types, rank)
                return load(source, tuple(index for k, index in enumerate(indices) if k not in inserted))
            removed = _removed(call, arg_types, data.dims) or ()
            rest = iter(indices)
            return load(source, tuple(const(0) if k in removed else next(rest) for k in range(rank)))

        block, axis = (name, "i") if name == "expand_dims" else (f"T_{name}", "ax")
        return builder.finish(builder.compute(builder.shape(result.dims), element, block, axis=axis), result)

    return legalize


def _infer_broadcast_to(call: Call, arg_types: tuple[Type, ...]) -> Type:
    """Infer the given shape, to which that of the data must broadcast."""
    tensor, shape = tensor_at(call, arg_types), shape_at(call, arg_types, 1)
    if tensor.ndim is not None and shape.ndim is not None and tensor.ndim > shape.ndim:
        raise OpTypeError("TY010", ("broadcast_to cannot lower the rank of ", tensor, f" to {shape.ndim}"))
    if tensor.dims is not None and shape.values is not None:
        broadcast(call, tensor.dims, shape.values)
        aligned = zip(tensor.dims, shape.values[len(shape.values) - len(tensor.dims) :], strict=True)
        if any(constant_value(new) == 1 and constant_value(old) not in (1, None) for old, new in aligned):
            raise OpTypeError("TY010", ("broadcast_to cannot shrink ", tensor, f" to {show_dims(shape.values)}"))
    return of_shape(call, 1, shape, tensor.dtype)


def _infer_concat(call: Call, arg_types: tuple[Type, ...]) -> Type:
    """Infer the sum of the sizes at the axis; dtypes, ranks and the other sizes must be equal.

    Without an axis, all tensors must be vectors.
    """
    tensors = tensors_at(call, arg_types)
    if not tensors:
        raise OpTypeError("TY016", "concat expects at least one tensor")
    dtype = common_dtype(call, tensors)
    ranks = {item.ndim for item in tensors if item.ndim is not None}
    if len(ranks) > 1:
        raise OpTypeError("TY016", ("concat expects equal ranks, got ", *listed(tensors)))
    if is_absent(call, 1) and ranks - {1}:
        raise OpTypeError("TY016", ("concat without an axis joins vectors, got ", *listed(tensors)))
    if not ranks:
        return TensorType(None, dtype, 1 if is_absent(call, 1) else None)
    rank = ranks.pop()
    axis = _concat_axis(call, arg_types, rank)
    dims = [item.dims for item in tensors if item.dims is not None]
    for other in dims[1:]:
        _check_concat(tensors, dims[0], other, axis)
    if len(dims) < len(tensors):
        return TensorType(None, dtype, rank)
    total: PrimExpr = const(0)
    for item in dims:
        total = binary("+", total, item[axis])
    return TensorType((*dims[0][:axis], simplify(total), *dims[0][axis + 1 :]), dtype)


def _concat_axis(call: Call, arg_types: tuple[Type, ...], rank: int) -> int:
    return 0 if is_absent(call, 1) else normal_axis(call, int_at(call, arg_types, 1), rank)


def _check_concat(tensors: tuple[TensorType, ...], first: Dims, other: Dims, axis: int) -> None:
    for k, (a, b) in enumerate(zip(first, other, strict=True)):
        if k != axis and prove_different(a, b):
            sizes = f"{show_prim(a)} and {show_prim(b)}"
            wanted = f"concat along axis {axis} expects equal sizes at axis {k}, got {sizes}: "
            raise OpTypeError("TY016", (wanted, *listed(tensors)))


def _legalize_concat(call: Call, arg_types: tuple[Type, ...], out_type: Type) -> Legalized | None:
    tensors = tensors_at(call, arg_types)
    result = known(out_type)
    types: list[Known] = [item for item in map(known, tensors) if item is not None]
    if result is None or len(types) < len(tensors):
        return None
    axis = _concat_axis(call, arg_types, len(result.dims))
    builder = FuncBuilder("concatenate")
    sources = [
        builder.input(arg, item, "tensor") for arg, item in zip(fields_of(call.args[0], len(types)), types, strict=True)
    ]
    out = builder.compute(
        builder.shape(result.dims), lambda *indices: _pick(sources, indices, axis), "T_concat", axis="ax"
    )
    return builder.finish(out, result)


def _pick(sources: list[Buffer], indices: tuple[PrimExpr, ...], axis: int) -> PrimExpr:
    """Return the element of a concatenation: the last source that begins at or before the index."""
    offset: PrimExpr = const(0)
    value = load(sources[0], indices)
    for before, source in pairwise(sources):
        offset = simplify(binary("+", offset, before.shape[axis]))
        local = binary("-", indices[axis], offset)
        element = load(source, (*indices[:axis], local, *indices[axis + 1 :]))
        value = Select(binary("<=", const(0), local), element, value, source.dtype)
    return value


def _evaluate_permute_dims(args: tuple[Value, ...]) -> Value:
    return np.transpose(np.asarray(args[0]), args[1])


def _evaluate_expand_dims(args: tuple[Value, ...]) -> Value:
    return np.expand_dims(np.asarray(args[0]), args[1])


def _evaluate_squeeze(args: tuple[Value, ...]) -> Value:
    return np.squeeze(np.asarray(args[0]), args[1])


def _evaluate_broadcast_to(args: tuple[Value, ...]) -> Value:
    return np.array(np.broadcast_to(np.asarray(args[0]), tuple(args[1])))


def _evaluate_concat(args: tuple[Value, ...]) -> Value:
    return np.concatenate(tuple(np.asarray(item) for item in args[0]), axis=int(args[1] or 0))


def _evaluate_flatten(args: tuple[Value, ...]) -> Value:
    data = np.asarray(args[0])
    return data.reshape((math.prod(data.shape),))


def _identity(x: PrimExpr) -> PrimExpr:
    return x


SPECS = (
    OpSpec("relax.reshape", (X, SHAPE), _infer_reshape, "Give the elements another shape.",
           evaluate=_evaluate_reshape, legalize=_legalize_reshape, pattern_kind="injective", see=_SEE),
    OpSpec("relax.flatten", (X,), _infer_flatten, "All elements in one axis.",
           evaluate=_evaluate_flatten, legalize=_legalize_reshape, pattern_kind="injective", see=_SEE),
    OpSpec("relax.permute_dims", (X, Param("axes", "axes", default=None)), _infer_permute_dims,
           "Reorder the axes; without axes, reverse them.", evaluate=_evaluate_permute_dims,
           legalize=_legalize_permute_dims, pattern_kind="injective", see=_SEE),
    OpSpec("relax.expand_dims", (X, Param("axis", "axes")), _infer_expand_dims, "Insert axes of size 1.",
           evaluate=_evaluate_expand_dims, legalize=_legalize_axes("expand_dims"), pattern_kind="broadcast", see=_SEE),
    OpSpec("relax.squeeze", (X, AXES), _infer_squeeze, "Remove axes of size 1.", evaluate=_evaluate_squeeze,
           legalize=_legalize_axes("squeeze"), pattern_kind="injective", see=_SEE),
    OpSpec("relax.broadcast_to", (X, SHAPE), _infer_broadcast_to, "Repeat axes of size 1 up to a shape.",
           evaluate=_evaluate_broadcast_to, legalize=legalize_map("broadcast_to", "T_broadcast_to", _identity),
           pattern_kind="broadcast", see=_SEE),
    OpSpec("relax.concat", (Param("tensors", "tuple"), Param("axis", "prim", "int64", default=0)), _infer_concat,
           "Join tensors along an axis.", evaluate=_evaluate_concat, legalize=_legalize_concat,
           pattern_kind="injective", see=_SEE),
)  # fmt: skip
