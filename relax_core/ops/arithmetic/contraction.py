"""Sums of products by letters (einsum), outer products, the linear layer, and sums down to a shape."""

from string import ascii_uppercase
from typing import Any, TypeAlias

import numpy as np

from relax_core.ir.expr import Call, Dims, TensorType, Type
from relax_core.ir.integer.prove import constant_value, prove_equal
from relax_core.ir.prim import PrimExpr, const
from relax_core.ir.tir import Buffer
from relax_core.ops.attributes import out_dtype_at, require_rank, same_sizes, word_at
from relax_core.ops.kernels.lowering import Lowering, lowered
from relax_core.ops.kernels.scalar import add, cast, mul
from relax_core.ops.kernels.te import load
from relax_core.ops.operands import (
    broadcast,
    call_name,
    common_dtype,
    is_absent,
    shape_at,
    tensor_at,
    tensors_at,
)
from relax_core.ops.schema import BINARY, DATA, SHAPE
from relax_core.ops.show import show_dims
from relax_core.ops.spec import OpSpec, OpTypeError, Param, Value
from relax_core.ops.tensors.manipulate import of_shape

Array: TypeAlias = "np.ndarray[Any, Any]"

_SEE = "tvm/src/relax/op/tensor/linear_algebra.cc"


def _letters(call: Call, arg_types: tuple[Type, ...]) -> tuple[list[str], str]:
    """Return the axes of each operand and of the result; without `->` those that occur once, in order.

    Axes under an ellipsis are letters too: capital ones that the text has not, the same from the last axis on.
    """
    text = _without_ellipsis(word_at(call, arg_types, 1).replace(" ", ""), tensors_at(call, arg_types))
    inputs, arrow, out = text.partition("->")
    terms = inputs.split(",")
    if not arrow:
        out = "".join(sorted(letter for letter in set(inputs) - {","} if inputs.count(letter) == 1))
    if not all(term.isalpha() or not term for term in (*terms, out)) or not set(out) <= set(inputs):
        raise OpTypeError("TY018", f'einsum cannot read the subscripts "{text}"', 'write letters: "ij,jk->ik"')
    return terms, out


def _without_ellipsis(text: str, tensors: tuple[TensorType, ...]) -> str:
    """Write letters for each ellipsis, as many as the tensor has further axes; the result has the most of them."""
    if "..." not in text:
        return text
    inputs, arrow, out = text.partition("->")
    spare = [letter for letter in ascii_uppercase if letter not in text]
    terms: list[str] = []
    longest = ""
    for term, item in zip(inputs.split(","), tensors, strict=False):
        count = max((item.ndim or 0) - len(term.replace("...", "")), 0)
        hidden = "".join(spare[len(spare) - count :])
        longest = max(longest, hidden, key=len)
        terms.append(term.replace("...", hidden, 1))
    letters = "".join(terms)
    once = "".join(sorted(item for item in set(letters) if letters.count(item) == 1 and item not in longest))
    result = out.replace("...", longest, 1) if arrow else longest + once
    return f"{','.join(terms)}->{result}"


def _infer_einsum(call: Call, arg_types: tuple[Type, ...]) -> Type:
    """Infer the sizes of the result's letters; a letter has one size everywhere."""
    tensors = tensors_at(call, arg_types)
    terms, out = _letters(call, arg_types)
    dtype = common_dtype(call, tensors)
    if len(terms) != len(tensors):
        raise OpTypeError("TY018", f"einsum has {len(terms)} terms of subscripts for {len(tensors)} tensors")
    extents: dict[str, PrimExpr] = {}
    for term, item in zip(terms, tensors, strict=True):
        require_rank(call, item, len(term), "an operand")
        for letter, dim in zip(term, item.dims or (), strict=False):
            if letter not in extents or constant_value(extents[letter]) == 1:
                extents[letter] = dim
            elif constant_value(dim) != 1:
                same_sizes(call, [(extents[letter], dim)], tensors)
    if not all(letter in extents for letter in out):
        return TensorType(None, dtype, len(out))
    return TensorType(tuple(extents[letter] for letter in out), dtype)


def _build_einsum(lowering: Lowering) -> Buffer:
    tensors = lowering.fields(0)
    terms, out = _letters(lowering.call, lowering.arg_types)
    extents: dict[str, PrimExpr] = {}
    for term, item in zip(terms, tensors, strict=True):
        for letter, dim in zip(term, item.shape, strict=True):
            if letter not in extents or constant_value(extents[letter]) == 1:
                extents[letter] = dim
    summed = [letter for letter in extents if letter not in out]

    def element(spatial: tuple[PrimExpr, ...], reduced: tuple[PrimExpr, ...]) -> PrimExpr:
        at = dict(zip(out, spatial, strict=True)) | dict(zip(summed, reduced, strict=True))

        def one(term: str, item: Buffer) -> PrimExpr:
            pairs = zip(term, item.shape, strict=True)
            return load(item, tuple(const(0) if constant_value(dim) == 1 else at[letter] for letter, dim in pairs))

        return mul(*(one(term, item) for term, item in zip(terms, tensors, strict=True)))

    if not summed:
        return lowering.compute(lowering.shape(), lambda *i: element(i, ()), "T_einsum")
    over = [(letter, extents[letter]) for letter in summed]
    return lowering.builder.reduce(lowering.shape(), over, element, "sum", "T_einsum")


def _evaluate_einsum(args: tuple[Value, ...]) -> Value:
    tensors = [np.asarray(item) for item in args[0]]
    return np.asarray(np.einsum(args[1], *tensors)).astype(tensors[0].dtype)


def _infer_outer(call: Call, arg_types: tuple[Type, ...]) -> Type:
    """Infer `(n,) x (m,) -> (n, m)`; dtypes must be equal."""
    a, b = tensor_at(call, arg_types, 0), tensor_at(call, arg_types, 1)
    for item in (a, b):
        require_rank(call, item, 1, "vectors")
    dims = None if a.dims is None or b.dims is None else (a.dims[0], b.dims[0])
    return TensorType(dims, common_dtype(call, (a, b)), 2)


def _build_outer(lowering: Lowering) -> Buffer:
    a, b = lowering.input(0, "x1"), lowering.input(1, "x2")
    return lowering.compute(lowering.shape(), lambda *i: mul(load(a, i[:1]), load(b, i[1:])), "T_outer")


def _evaluate_outer(args: tuple[Value, ...]) -> Value:
    return np.outer(np.asarray(args[0]), np.asarray(args[1]))


def _infer_linear(call: Call, arg_types: tuple[Type, ...]) -> Type:
    """Infer `(*b, k) x (n, k) -> (*b, n)`; a bias broadcasts to that."""
    data, weight = tensor_at(call, arg_types, 0), tensor_at(call, arg_types, 1)
    dtype = out_dtype_at(call, 3) or common_dtype(call, (data, weight))
    require_rank(call, weight, 2, "a weight")
    if data.ndim == 0:
        raise OpTypeError("TY013", ("linear expects data of rank 1 or more, got ", data))
    bias = None if is_absent(call, 2) else tensor_at(call, arg_types, 2)
    if data.dims is None or weight.dims is None:
        return TensorType(None, dtype, data.ndim)
    same_sizes(call, [(data.dims[-1], weight.dims[1])], (data, weight))
    dims: Dims | None = (*data.dims[:-1], weight.dims[0])
    if bias is not None:
        dims = None if bias.dims is None else broadcast(call, dims, bias.dims)
    return TensorType(dims, dtype, data.ndim)


def _build_linear(lowering: Lowering) -> Buffer:
    data, weight = lowering.input(0, "data"), lowering.input(1, "weight")
    bias = None if is_absent(lowering.call, 2) else lowering.operand(2, "bias")
    dtype = lowering.result.dtype

    def element(spatial: tuple[PrimExpr, ...], reduced: tuple[PrimExpr, ...]) -> PrimExpr:
        left, right = load(data, (*spatial[:-1], *reduced)), load(weight, (spatial[-1], *reduced))
        return mul(cast(left, dtype), cast(right, dtype))

    over = [("k", data.shape[-1])]
    result = lowering.builder.reduce(lowering.shape(), over, element, "sum", "matmul", axis="i")
    if bias is None:
        return result
    return lowering.compute(result.shape, lambda *i: add(load(result, i), cast(bias(*i), dtype)), "T_add")


def _evaluate_linear(args: tuple[Value, ...]) -> Value:
    data, weight = np.asarray(args[0]), np.asarray(args[1])
    dtype = args[3] if args[3] not in (None, "", "void") else data.dtype
    result = data.astype(dtype) @ weight.astype(dtype).T
    return result if args[2] is None else (result + np.asarray(args[2])).astype(dtype)


def _infer_collapse_to(call: Call, arg_types: tuple[Type, ...]) -> Type:
    """Infer the given shape, which must broadcast to that of the data."""
    data, shape = tensor_at(call, arg_types), shape_at(call, arg_types, 1)
    result = of_shape(call, 1, shape, data.dtype)
    _check_collapse(call, data, result)
    return result


def _infer_collapse_like(call: Call, arg_types: tuple[Type, ...]) -> Type:
    """Infer the shape of the target, which must broadcast to that of the data."""
    data, target = tensor_at(call, arg_types, 0), tensor_at(call, arg_types, 1)
    _check_collapse(call, data, target)
    return TensorType(target.shape, data.dtype, target.ndim)


def _check_collapse(call: Call, data: TensorType, target: TensorType) -> None:
    """Raise TY010 unless the target broadcasts to the data."""
    if data.dims is None or target.dims is None:
        return
    made = broadcast(call, data.dims, target.dims)
    aligned = zip(reversed(data.dims), reversed(target.dims), strict=False)
    grows = any(constant_value(old) == 1 and constant_value(new) not in (1, None) for old, new in aligned)
    if len(target.dims) > len(data.dims) or grows or (made is not None and len(made) > len(data.dims)):
        raise OpTypeError(
            "TY010",
            (f"{call_name(call)} cannot sum ", data, f" to {show_dims(target.dims)}, which is no part of it"),
        )


def _build_collapse(lowering: Lowering) -> Buffer:
    data, shape = lowering.input(0, "data"), lowering.shape()
    offset = len(data.shape) - len(shape)
    summed = [k for k, dim in enumerate(data.shape) if k < offset or not prove_equal(dim, shape[k - offset])]

    def element(spatial: tuple[PrimExpr, ...], reduced: tuple[PrimExpr, ...]) -> PrimExpr:
        inner = iter(reduced)
        return load(data, tuple(next(inner) if k in summed else spatial[k - offset] for k in range(len(data.shape))))

    if not summed:
        return lowering.copy(data)
    over = [(f"k{k}", data.shape[k]) for k in summed]
    return lowering.builder.reduce(shape, over, element, "sum", "T_collapse_sum")


def _collapsed(data: Array, shape: tuple[int, ...]) -> Array:
    offset = data.ndim - len(shape)
    axes = tuple(k for k in range(data.ndim) if k < offset or data.shape[k] != shape[k - offset])
    return np.asarray(data.sum(axis=axes)).astype(data.dtype).reshape(shape)


def _evaluate_collapse_to(args: tuple[Value, ...]) -> Value:
    return _collapsed(np.asarray(args[0]), tuple(args[1]))


def _evaluate_collapse_like(args: tuple[Value, ...]) -> Value:
    return _collapsed(np.asarray(args[0]), np.asarray(args[1]).shape)


SPECS = (
    OpSpec("relax.einsum", (Param("operands", "tuple"), Param("subscripts", "prim", "string")), _infer_einsum,
           "Sum of products over the letters that the result lacks.", evaluate=_evaluate_einsum,
           legalize=lowered("einsum", _build_einsum), pattern_kind="out_fusable", see=_SEE),
    OpSpec("relax.outer", BINARY, _infer_outer, "Products of all pairs of two vectors.", evaluate=_evaluate_outer,
           legalize=lowered("outer", _build_outer), pattern_kind="broadcast", see=_SEE),
    OpSpec("relax.linear",
           (DATA, Param("weight", "tensor"), Param("bias", "tensor", default=None),
            Param("out_dtype", "dtype", default=None)),
           _infer_linear, "Product with a transposed weight, and a bias.", evaluate=_evaluate_linear,
           legalize=lowered("linear", _build_linear), pattern_kind="out_fusable", see=_SEE),
    OpSpec("relax.collapse_sum_to", (DATA, SHAPE), _infer_collapse_to, "Sum down to a shape that broadcasts to it.",
           evaluate=_evaluate_collapse_to, legalize=lowered("collapse_sum", _build_collapse), pattern_kind="reduce",
           see="tvm/src/relax/op/tensor/manipulate.cc"),
    OpSpec("relax.collapse_sum_like", (DATA, Param("collapse_target", "tensor")), _infer_collapse_like,
           "Sum down to the shape of another tensor.", evaluate=_evaluate_collapse_like,
           legalize=lowered("collapse_sum", _build_collapse), pattern_kind="reduce",
           see="tvm/src/relax/op/tensor/manipulate.cc"),
)  # fmt: skip
