"""Identity matrices, triangles of matrices, and windows of signal processing."""

import math
from dataclasses import replace

import numpy as np

from relax_core.ir.expr import Call, TensorType, Type
from relax_core.ir.prim import PrimExpr, const
from relax_core.ir.tir import Buffer
from relax_core.ops.attributes import flag_at, float_at
from relax_core.ops.kernels.lowering import Lowering, lowered
from relax_core.ops.kernels.scalar import add, call, cast, choose, div, eq, le, lit, mul, sub
from relax_core.ops.kernels.te import load
from relax_core.ops.operands import call_name, dtype_at, is_absent, scalar_at, tensor_at
from relax_core.ops.schema import OPTIONAL_DTYPE, X
from relax_core.ops.spec import Evaluate, OpSpec, OpTypeError, Param, Value

_SEE = "tvm/src/relax/op/tensor/create.cc"
_DIAGONAL = Param("k", "prim", "int64", default=0)


def _infer_eye(call_: Call, arg_types: tuple[Type, ...]) -> Type:
    """Infer `(n, m)`; without `m` a square."""
    rows = scalar_at(call_, arg_types, 0)
    columns = rows if is_absent(call_, 1) else scalar_at(call_, arg_types, 1)
    scalar_at(call_, arg_types, 2)
    dtype = dtype_at(call_, 3)
    return TensorType(None if rows is None or columns is None else (rows, columns), dtype, 2)


def _matrix(call_: Call, arg_types: tuple[Type, ...]) -> TensorType:
    """Infer the type of the operand, a matrix or a stack of them."""
    data = tensor_at(call_, arg_types)
    scalar_at(call_, arg_types, 1)
    if data.ndim is not None and data.ndim < 2:
        raise OpTypeError("TY013", (f"{call_name(call_)} expects a matrix or a stack of them, got ", data))
    return data


def _infer_eye_like(call_: Call, arg_types: tuple[Type, ...]) -> Type:
    """Infer the shape of the operand, a matrix; the dtype is its own unless it is given."""
    data = tensor_at(call_, arg_types)
    scalar_at(call_, arg_types, 1)
    if data.ndim not in (None, 2):
        raise OpTypeError("TY013", ("eye_like expects a matrix, got ", data))
    return replace(data, dtype=dtype_at(call_, 2) or data.dtype)


def _build_eye(index: int):
    def build(lowering: Lowering) -> Buffer:
        diagonal, dtype = lowering.scalar(index), lowering.result.dtype

        def element(*at: PrimExpr) -> PrimExpr:
            return choose(eq(add(at[0], diagonal), at[1]), lit(1, dtype), lit(0, dtype))

        return lowering.compute(lowering.shape(), element, "T_eye")

    return build


def _evaluate_eye(args: tuple[Value, ...]) -> Value:
    rows = int(args[0])
    return np.eye(rows, rows if args[1] is None else int(args[1]), int(args[2]), dtype=args[3])


def _evaluate_eye_like(args: tuple[Value, ...]) -> Value:
    data = np.asarray(args[0])
    return np.eye(data.shape[0], data.shape[1], int(args[1]), dtype=np.dtype(args[2] or data.dtype))


def _build_triangle(*, is_upper: bool):
    def build(lowering: Lowering) -> Buffer:
        data, diagonal = lowering.input(0), lowering.scalar(1)

        def element(*at: PrimExpr) -> PrimExpr:
            edge = add(at[-2], diagonal)
            is_kept = le(edge, at[-1]) if is_upper else le(at[-1], edge)
            return choose(is_kept, load(data, at), 0)

        return lowering.compute(data.shape, element, "trilu")

    return build


def _evaluate_triangle(*, is_upper: bool) -> Evaluate:
    def evaluate(args: tuple[Value, ...]) -> Value:
        function = np.triu if is_upper else np.tril
        return function(np.asarray(args[0]), int(args[1]))

    return evaluate


def _infer_window(call_: Call, arg_types: tuple[Type, ...]) -> Type:
    """Infer a vector of the given length and dtype, which must be of floats."""
    length = scalar_at(call_, arg_types, 0)
    for k in (2, 3):
        scalar_at(call_, arg_types, k)
    flag_at(call_, arg_types, 1)
    dtype = dtype_at(call_, 4)
    if dtype is not None and "float" not in dtype:
        raise OpTypeError("TY033", f"hamming_window expects a floating-point dtype, got {dtype}")
    return TensorType(None if length is None else (length,), dtype, 1)


def _build_window(lowering: Lowering) -> Buffer:
    """`alpha - beta * cos(2 pi n / period)`; the period is the length, or one less unless it is periodic."""
    length, dtype = lowering.scalar(0), lowering.result.dtype
    alpha, beta = (float_at(lowering.call, lowering.arg_types, k) for k in (2, 3))
    is_periodic = flag_at(lowering.call, lowering.arg_types, 1)
    period = cast(length if is_periodic else sub(length, 1), dtype)

    def element(*at: PrimExpr) -> PrimExpr:
        angle = div(mul(cast(at[0], dtype), 2 * math.pi), period)
        return sub(const(alpha, dtype), mul(call("cos", angle), beta))

    return lowering.compute(lowering.shape(), element, "T_hamming_window")


def _evaluate_window(args: tuple[Value, ...]) -> Value:
    length = int(args[0])
    period = length if args[1] else length - 1
    return (args[2] - args[3] * np.cos(2 * np.pi * np.arange(length) / period)).astype(args[4])


def _triangle(name: str, *, is_upper: bool, summary: str) -> OpSpec:
    return OpSpec(f"relax.{name}", (X, _DIAGONAL), _matrix, summary, evaluate=_evaluate_triangle(is_upper=is_upper),
                  legalize=lowered(name, _build_triangle(is_upper=is_upper)), pattern_kind="injective",
                  see=_SEE)  # fmt: skip


SPECS = (
    OpSpec("relax.eye",
           (Param("n", "prim", "int64"), Param("m", "prim", "int64", default=None), _DIAGONAL,
            Param("dtype", "dtype", default="float32")),
           _infer_eye, "Ones on a diagonal.", evaluate=_evaluate_eye, legalize=lowered("eye", _build_eye(2)),
           pattern_kind="elementwise", see=_SEE),
    OpSpec("relax.eye_like", (X, _DIAGONAL, OPTIONAL_DTYPE), _infer_eye_like,
           "Ones on a diagonal, in the shape of a matrix.", evaluate=_evaluate_eye_like,
           legalize=lowered("eye_like", _build_eye(1)), pattern_kind="elementwise", see=_SEE),
    _triangle("tril", is_upper=False, summary="The triangle below a diagonal; zeros above."),
    _triangle("triu", is_upper=True, summary="The triangle above a diagonal; zeros below."),
    OpSpec("relax.hamming_window",
           (Param("window_size", "prim", "int64"), Param("periodic", "prim", "bool"),
            Param("alpha", "prim", "float64"), Param("beta", "prim", "float64"), Param("dtype", "dtype")),
           _infer_window, "A window of raised cosine.", evaluate=_evaluate_window,
           legalize=lowered("hamming_window", _build_window), pattern_kind="elementwise", see=_SEE),
)  # fmt: skip
