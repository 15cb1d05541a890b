"""Products of matrices."""

import numpy as np

from relax_core.ir.expr import Call, Dims, TensorType, Type
from relax_core.ir.integer.prove import constant_value, prove_different
from relax_core.ir.notation.show import show_prim
from relax_core.ir.prim import PrimExpr, binary, const
from relax_core.ops.attributes import out_dtype_at
from relax_core.ops.kernels.scalar import cast
from relax_core.ops.kernels.te import FuncBuilder, known, load
from relax_core.ops.operands import broadcast, common_dtype, tensor_at
from relax_core.ops.schema import BINARY
from relax_core.ops.spec import Around, Legalized, OpSpec, OpTypeError, Param, Value


def _infer_matmul(call: Call, arg_types: tuple[Type, ...]) -> Type:
    """Infer `(*b, m, k) x (*c, k, n) -> (*broadcast(b, c), m, n)`.

    A vector is a row on the left and a column on the right.

    Raises:
        OpTypeError: TY012 if the two `k` are provably different, TY013 for an operand of rank 0.
    """
    a, b = tensor_at(call, arg_types, 0), tensor_at(call, arg_types, 1)
    declared = out_dtype_at(call, 2)
    dtype = declared if declared is not None else common_dtype(call, (a, b))
    for side in (a, b):
        if side.ndim == 0:
            raise OpTypeError("TY013", ("matmul expects operands of rank 1 or more, got ", side), "use R.multiply")
    if a.dims is None or b.dims is None:
        return TensorType(None, dtype, _result_rank(a.ndim, b.ndim))
    _check_inner(a.dims, b.dims, a, b)
    batch = broadcast(call, a.dims[:-2], b.dims[:-2])
    if batch is None:
        return TensorType(None, dtype, _result_rank(a.ndim, b.ndim))
    rows = a.dims[-2:-1]
    columns = b.dims[-1:] if len(b.dims) > 1 else ()
    return TensorType((*batch, *rows, *columns), dtype)


def _check_inner(a: Dims, b: Dims, left: TensorType, right: TensorType) -> None:
    inner_a, inner_b = a[-1], b[-2 if len(b) > 1 else -1]
    if prove_different(inner_a, inner_b):
        hint = "the last size of the first must be the second last of the second"
        if len(b) == 2 and not prove_different(inner_a, b[1]):
            words = f"insert R.permute_dims on the second operand, whose last size is {show_prim(b[1])}"
            hint = Around(words, right, "permute_dims")
        raise OpTypeError(
            "TY012",
            (
                f"matmul expects equal inner sizes, got {show_prim(inner_a)} and {show_prim(inner_b)}: ",
                left,
                " and ",
                right,
            ),
            hint,
        )


def _result_rank(a: int | None, b: int | None) -> int | None:
    if a is None or b is None:
        return None
    return max(a, b, 2) - (a == 1) - (b == 1)


def _legalize_matmul(call: Call, arg_types: tuple[Type, ...], out_type: Type) -> Legalized | None:
    a_type, b_type, result = known(arg_types[0]), known(arg_types[1]), known(out_type)
    if a_type is None or b_type is None or result is None:
        return None
    builder = FuncBuilder("matmul")
    a, b = builder.input(call.args[0], a_type, "A"), builder.input(call.args[1], b_type, "B")
    rank_a, rank_b = len(a.shape), len(b.shape)

    def element(spatial: tuple[PrimExpr, ...], reduced: tuple[PrimExpr, ...]) -> PrimExpr:
        row = spatial[len(spatial) - 1 - (rank_b > 1) :][:1] if rank_a > 1 else ()
        column = spatial[-1:] if rank_b > 1 else ()
        batch = spatial[: len(spatial) - len(row) - len(column)]
        left = load(a, (*_batch_indices(a.shape, batch), *row, *reduced))
        right = load(b, (*_batch_indices(b.shape, batch), *reduced, *column))
        return binary("*", cast(left, result.dtype), cast(right, result.dtype))

    out = builder.reduce(builder.shape(result.dims), [("k", a.shape[-1])], element, "sum", "matmul", axis="i")
    return builder.finish(out, result)


def _batch_indices(shape: Dims, batch: tuple[PrimExpr, ...]) -> tuple[PrimExpr, ...]:
    """Pick the indices of the axes before the last two; an axis of size 1 is read at 0."""
    axes = shape[:-2]
    last = batch[len(batch) - len(axes) :]
    return tuple(const(0) if constant_value(axis) == 1 else index for axis, index in zip(axes, last, strict=True))


def _evaluate_matmul(args: tuple[Value, ...]) -> Value:
    a, b = np.asarray(args[0]), np.asarray(args[1])
    dtype = args[2] or a.dtype
    return np.asarray(np.matmul(a.astype(dtype), b.astype(dtype)))


SPECS = (
    OpSpec(
        "relax.matmul",
        (*BINARY, Param("out_dtype", "dtype", default=None)),
        _infer_matmul,
        "Product of matrices, or of stacks of matrices.",
        evaluate=_evaluate_matmul,
        legalize=_legalize_matmul,
        pattern_kind="out_fusable",
        see="tvm/src/relax/op/tensor/linear_algebra.cc",
        aliases=("relax.dot", "relax.nn.matmul", "relax.nn.dot"),
    ),
)
