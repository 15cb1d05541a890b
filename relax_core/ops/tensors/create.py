"""Operators that make tensors and shapes."""

import math
from dataclasses import replace
from typing import Literal

import numpy as np

from relax_core.ir.expr import Call, ShapeType, TensorType, Type
from relax_core.ir.integer.prove import constant_value, simplify
from relax_core.ir.prim import Cast, FloatImm, IntImm, PrimExpr, binary, const, dtype_of
from relax_core.ops.kernels.te import FuncBuilder, Known, Operand, known
from relax_core.ops.operands import dtype_at, is_absent, scalar_at, shape_at, tensor_at
from relax_core.ops.schema import DTYPE, OPTIONAL_DTYPE, SHAPE, X
from relax_core.ops.spec import Evaluate, Legalize, Legalized, OpSpec, OpTypeError, Param, Value, realized
from relax_core.ops.tensors.manipulate import of_shape

_SEE = "tvm/src/relax/op/tensor/create.cc"
_SEE_SHAPE = "tvm/src/relax/op/op.cc"


def infer_filled(call: Call, arg_types: tuple[Type, ...]) -> Type:
    """Infer the given shape and dtype."""
    return of_shape(call, 0, shape_at(call, arg_types, 0), dtype_at(call, 1))


def _infer_like(call: Call, arg_types: tuple[Type, ...]) -> Type:
    """Infer the shape of the operand; the dtype is its own unless it is given."""
    tensor = tensor_at(call, arg_types)
    return replace(tensor, dtype=dtype_at(call, 1) or tensor.dtype)


def _fill(call: Call, arg_types: tuple[Type, ...]) -> TensorType:
    fill = tensor_at(call, arg_types, 1)
    if fill.ndim not in (None, 0):
        raise OpTypeError("TY013", ("the fill value must be a tensor of rank 0, got ", fill))
    return fill


def _infer_full(call: Call, arg_types: tuple[Type, ...]) -> Type:
    """Infer the given shape; the dtype is that of the value, of rank 0, unless it is given."""
    dtype = dtype_at(call, 2) or _fill(call, arg_types).dtype
    return of_shape(call, 0, shape_at(call, arg_types, 0), dtype)


def _infer_full_like(call: Call, arg_types: tuple[Type, ...]) -> Type:
    """Infer the shape of the operand; the value has rank 0, and the dtype is that of the operand unless it is given."""
    tensor = tensor_at(call, arg_types)
    _fill(call, arg_types)
    return replace(tensor, dtype=dtype_at(call, 2) or tensor.dtype)


def _fill_with(builder: FuncBuilder, value: Operand, result: Known) -> Legalized:
    def element(*indices: PrimExpr) -> PrimExpr:
        return _converted(value(*indices), result.dtype)

    return builder.finish(builder.compute(builder.shape(result.dims), element, "T_full", axis="ax"), result)


def _converted(value: PrimExpr, dtype: str) -> PrimExpr:
    match value:
        case _ if dtype_of(value) == dtype:
            return value
        case IntImm(value=number) | FloatImm(value=number):
            return const(float(number) if "float" in dtype else int(number), dtype)
        case _:
            return Cast(value, dtype)


def _legalize_constant(name: Literal["zeros", "ones"]) -> Legalize:
    def legalize(call: Call, arg_types: tuple[Type, ...], out_type: Type) -> Legalized | None:
        result = known(out_type)
        if result is None:
            return None
        value = const(0 if name == "zeros" else 1, "int64")
        return _fill_with(FuncBuilder(name), lambda *indices: value, result)

    return legalize


def _legalize_full(call: Call, arg_types: tuple[Type, ...], out_type: Type) -> Legalized | None:
    result, fill = known(out_type), known(arg_types[1])
    if result is None or fill is None:
        return None
    builder = FuncBuilder("full")
    return _fill_with(builder, builder.operand(call.args[1], fill, "fill_value"), result)


def _evaluate_constant(value: int) -> Evaluate:
    def evaluate(args: tuple[Value, ...]) -> Value:
        return np.full(tuple(args[0]), value, dtype=np.dtype(args[1]))

    return evaluate


def _evaluate_constant_like(value: int) -> Evaluate:
    def evaluate(args: tuple[Value, ...]) -> Value:
        data = np.asarray(args[0])
        return np.full(data.shape, value, dtype=args[1] or data.dtype)

    return evaluate


def _evaluate_full(args: tuple[Value, ...]) -> Value:
    fill = np.asarray(args[1])
    return np.full(tuple(args[0]), fill.astype(args[2] or fill.dtype))


def _evaluate_full_like(args: tuple[Value, ...]) -> Value:
    data = np.asarray(args[0])
    return np.full(data.shape, np.asarray(args[1]).astype(args[2] or data.dtype))


def _range(call: Call, arg_types: tuple[Type, ...]) -> tuple[PrimExpr, PrimExpr, PrimExpr] | None:
    """Return start, end and step of `arange`; with one bound it is the end. `None` if one is not known."""
    bounds = [None if is_absent(call, k) else scalar_at(call, arg_types, k) for k in range(3)]
    start, end, step = bounds
    if is_absent(call, 1):
        start, end = const(0), start
    return None if start is None or end is None or step is None else (start, end, step)


def _range_dtype(call: Call, arg_types: tuple[Type, ...]) -> str:
    given = dtype_at(call, 3)
    if given is not None:
        return given
    values = [scalar_at(call, arg_types, k) for k in range(3) if not is_absent(call, k)]
    return "float32" if any(item is not None and "float" in dtype_of(item) for item in values) else "int64"


def _infer_arange(call: Call, arg_types: tuple[Type, ...]) -> Type:
    """Infer `(ceil((end - start) / step),)`; the dtype is int64 or float32 unless it is given."""
    dtype, bounds = _range_dtype(call, arg_types), _range(call, arg_types)
    if bounds is None:
        return TensorType(None, dtype, 1)
    start, end, step = bounds
    if any(isinstance(item, FloatImm) for item in bounds):
        numbers = [float(item.value) for item in bounds if isinstance(item, FloatImm | IntImm)]
        if len(numbers) < 3:
            return TensorType(None, dtype, 1)
        _check_step(numbers[2])
        return TensorType((const(max(0, math.ceil((numbers[1] - numbers[0]) / numbers[2]))),), dtype)
    stride = constant_value(step)
    if stride is None:
        return TensorType(None, dtype, 1)
    _check_step(stride)
    length = simplify(binary("-", end, start) if stride > 0 else binary("-", start, end))
    count = simplify(binary("//", binary("+", length, const(abs(stride) - 1)), const(abs(stride))))
    fixed = constant_value(count)
    return TensorType((count if fixed is None else const(max(0, fixed)),), dtype)


def _check_step(step: float) -> None:
    if step == 0:
        raise OpTypeError("TY018", "arange needs a step that is not 0")


def _legalize_arange(call: Call, arg_types: tuple[Type, ...], out_type: Type) -> Legalized | None:
    result, bounds = known(out_type), _range(call, arg_types)
    if result is None or bounds is None:
        return None
    builder = FuncBuilder("arange")
    start, step = (_converted(builder.own(item), result.dtype) for item in (bounds[0], bounds[2]))

    def element(*indices: PrimExpr) -> PrimExpr:
        index = _converted(indices[0], result.dtype)
        scaled = index if _number(step) == 1 else binary("*", index, step)
        return scaled if _number(start) == 0 else binary("+", start, scaled)

    return builder.finish(builder.compute(builder.shape(result.dims), element, "T_arange", axis="ax"), result)


def _number(value: PrimExpr) -> float | None:
    """Return the number that a literal is."""
    return value.value if isinstance(value, IntImm | FloatImm) else None


def _evaluate_arange(args: tuple[Value, ...]) -> Value:
    start, end, step, dtype = args
    if end is None:
        start, end = 0, start
    default = "float32" if any(isinstance(item, float) for item in (start, end, step)) else "int64"
    count = max(0, math.ceil((end - start) / step))
    return np.asarray(start + step * np.arange(count)).astype(dtype or default)


def _infer_shape_of(call: Call, arg_types: tuple[Type, ...]) -> Type:
    """Infer the shape itself, as a value."""
    tensor = tensor_at(call, arg_types)
    return ShapeType(tensor.dims, tensor.ndim)


def _infer_tensor_to_shape(call: Call, arg_types: tuple[Type, ...]) -> Type:
    """Infer a shape of as many sizes as the vector of int64 has elements."""
    tensor = tensor_at(call, arg_types)
    if tensor.ndim not in (None, 1) or tensor.dtype not in (None, "int64"):
        raise OpTypeError("TY013", ("tensor_to_shape expects a tensor of rank 1 and dtype int64, got ", tensor))
    return ShapeType(None, constant_value(tensor.dims[0]) if tensor.dims else None)


def _infer_shape_to_tensor(call: Call, arg_types: tuple[Type, ...]) -> Type:
    """Infer a vector of int64, an element for each size."""
    shape = shape_at(call, arg_types, 0)
    if shape.ndim is None:
        return TensorType(None, "int64", 1)
    return TensorType((const(shape.ndim),), "int64")


def _evaluate_shape_of(args: tuple[Value, ...]) -> Value:
    return np.asarray(args[0]).shape


def _evaluate_tensor_to_shape(args: tuple[Value, ...]) -> Value:
    return tuple(int(item) for item in np.asarray(args[0]).ravel())


def _evaluate_shape_to_tensor(args: tuple[Value, ...]) -> Value:
    return np.asarray(tuple(args[0]), dtype=np.int64)


_FILL = Param("fill_value", "tensor")
_EXPR = Param("expr", "expr")
_BOUNDS = (Param("start", "prim"), Param("end", "prim", default=None), Param("step", "prim", default=1))

SPECS = (
    OpSpec("relax.zeros", (SHAPE, DTYPE), infer_filled, "A tensor of zeros.", evaluate=_evaluate_constant(0),
           legalize=_legalize_constant("zeros"), pattern_kind="elementwise", see=_SEE),
    OpSpec("relax.ones", (SHAPE, DTYPE), infer_filled, "A tensor of ones.", evaluate=_evaluate_constant(1),
           legalize=_legalize_constant("ones"), pattern_kind="elementwise", see=_SEE),
    OpSpec("relax.full", (SHAPE, _FILL, OPTIONAL_DTYPE), _infer_full, "A tensor of one value.",
           evaluate=_evaluate_full, legalize=_legalize_full, pattern_kind="elementwise", see=_SEE),
    OpSpec("relax.zeros_like", (X, OPTIONAL_DTYPE), _infer_like, "Zeros in the shape of a tensor.",
           evaluate=_evaluate_constant_like(0), legalize=_legalize_constant("zeros"), pattern_kind="elementwise",
           see=_SEE),
    OpSpec("relax.ones_like", (X, OPTIONAL_DTYPE), _infer_like, "Ones in the shape of a tensor.",
           evaluate=_evaluate_constant_like(1), legalize=_legalize_constant("ones"), pattern_kind="elementwise",
           see=_SEE),
    OpSpec("relax.full_like", (X, _FILL, OPTIONAL_DTYPE), _infer_full_like, "One value in the shape of a tensor.",
           evaluate=_evaluate_full_like, legalize=_legalize_full, pattern_kind="elementwise", see=_SEE),
    OpSpec("relax.arange", (*_BOUNDS, OPTIONAL_DTYPE), _infer_arange, "Numbers from start to end, which is left out.",
           evaluate=_evaluate_arange, legalize=_legalize_arange, pattern_kind="injective", see=_SEE),
    *realized("evaluation", "A shape is a value of the machine; kernels read and write tensors only.",
        OpSpec("relax.shape_of", (_EXPR,), _infer_shape_of, "The shape of a tensor.", evaluate=_evaluate_shape_of,
               see=_SEE_SHAPE),
        OpSpec("relax.tensor_to_shape", (_EXPR,), _infer_tensor_to_shape, "The elements of a vector as a shape.",
               evaluate=_evaluate_tensor_to_shape, see=_SEE_SHAPE),
        OpSpec("relax.shape_to_tensor", (_EXPR,), _infer_shape_to_tensor, "A shape as a vector.",
               evaluate=_evaluate_shape_to_tensor, see=_SEE_SHAPE),
    ),
)  # fmt: skip
