"""Operators that look at a tensor in memory, see it otherwise, or mark it for a pass."""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np

from relax_core.ir.expr import Call, DataTypeImm, PrimType, TensorType, Tuple, Type, Var
from relax_core.ir.integer.prove import constant_value
from relax_core.ir.prim import Cast, PrimExpr, const, dtype_of
from relax_core.ops.arithmetic.elementwise import infer_same, legalize_map
from relax_core.ops.attributes import out_dtype_at, same_sizes
from relax_core.ops.operands import is_absent, product, scalar_at, shape_at, tensor_at
from relax_core.ops.schema import DATA, X
from relax_core.ops.spec import Legalized, OpSpec, OpTypeError, Param, Value, realized
from relax_core.ops.tensors.manipulate import of_shape

Array: TypeAlias = "np.ndarray[Any, Any]"

_SEE = "tvm/src/relax/op/tensor/inspect.cc"
_SEE_VIEW = "tvm/src/relax/op/memory/view.cc"
_TENSOR, _AXIS = Param("tensor", "tensor"), Param("axis", "prim", "int64")
_CODES = (("bfloat", 4), ("float", 2), ("uint", 1), ("int", 0), ("bool", 6))


def _bits(dtype: str) -> int:
    return 8 if dtype == "bool" else int("".join(item for item in dtype if item.isdigit()))


def _code(dtype: str) -> int:
    return next(code for name, code in _CODES if dtype.startswith(name))


def _stride(dims: tuple[PrimExpr, ...], axis: int) -> PrimExpr:
    return product(dims[axis + 1 :])


def _infer_property(dtype: str, find: Callable[[TensorType, int | None], PrimExpr | None]):
    """Return the inference of a host scalar that `find` may tell from the type and the axis."""

    def infer(call: Call, arg_types: tuple[Type, ...]) -> Type:
        """Infer a host scalar, with its value where the type of the tensor tells it."""
        tensor = tensor_at(call, arg_types)
        axis = None
        if len(arg_types) > 1:
            value = scalar_at(call, arg_types, 1)
            axis = None if value is None else constant_value(value)
            if axis is not None and (axis < 0 or (tensor.ndim is not None and axis >= tensor.ndim)):
                raise OpTypeError("TY014", (f"axis {axis} is out of range for ", tensor), "axes count from 0")
        found = find(tensor, axis)
        if found is None:
            return PrimType(dtype)
        fixed = constant_value(found)
        same = found if dtype_of(found) == dtype else Cast(found, dtype)
        return PrimType(dtype, same if fixed is None else const(fixed, dtype))

    return infer


def _dim(tensor: TensorType, axis: int | None) -> PrimExpr | None:
    return None if axis is None or tensor.dims is None else tensor.dims[axis]


def _stride_of(tensor: TensorType, axis: int | None) -> PrimExpr | None:
    return None if axis is None or tensor.dims is None else _stride(tensor.dims, axis)


def _is_default(call: Call, index: int) -> bool:
    """TVM prints an absent argument of a view as the empty tuple."""
    return is_absent(call, index) or isinstance(call.args[index], Tuple)


def _view_dtype(call: Call, data: TensorType) -> str | None:
    match call.args[2]:
        case DataTypeImm(value=value):
            return value
        case Var():
            return None
        case _:
            return data.dtype


def _infer_view(call: Call, arg_types: tuple[Type, ...]) -> Type:
    """Infer the given shape and dtype, each that of the data if absent; what is seen must lie in the data.

    Raises:
        OpTypeError: TY015 if the view provably has more bytes than the data.
    """
    data = tensor_at(call, arg_types)
    dtype = _view_dtype(call, data)
    if _is_default(call, 1):
        seen = TensorType(data.shape, dtype, data.ndim)
    else:
        seen = of_shape(call, 1, shape_at(call, arg_types, 1), dtype)
    offset = const(0) if _is_default(call, 3) else scalar_at(call, arg_types, 3)
    sizes = [constant_value(product(item.dims)) if item.dims is not None else None for item in (data, seen)]
    start = None if offset is None else constant_value(offset)
    if sizes[0] is not None and sizes[1] is not None and start is not None and data.dtype and dtype:
        has, needs = sizes[0] * _bits(data.dtype), sizes[1] * _bits(dtype) + start * 8
        if needs > has or start < 0:
            raise OpTypeError(
                "TY015",
                ("memory.view of ", seen, f" needs {needs // 8} bytes of the {has // 8} of ", data),
            )
    elif _is_default(call, 2) and _is_default(call, 3) and data.dims is not None and seen.dims is not None:
        same_sizes(call, [(product(data.dims), product(seen.dims))], (data, seen))
    return seen


def _evaluate_view(args: tuple[Value, ...]) -> Value:
    data = np.ascontiguousarray(args[0])
    shape = data.shape if args[1] is None else tuple(args[1])
    dtype = np.dtype(args[2] or data.dtype)
    start = int(args[3] or 0)
    flat = data.reshape(-1).view(np.uint8)[start : start + math.prod(shape) * dtype.itemsize]
    return flat.copy().view(dtype).reshape(shape)


def _infer_any(call: Call, arg_types: tuple[Type, ...]) -> Type:
    """Infer the type of the operand, which may be any."""
    return arg_types[0]


def _infer_wrap(call: Call, arg_types: tuple[Type, ...]) -> Type:
    """Infer the shape of the operand with the given dtype, float32 by default."""
    return replace(tensor_at(call, arg_types), dtype=out_dtype_at(call, 1) or "float32")


def _legalize_wrap(call: Call, arg_types: tuple[Type, ...], out_type: Type) -> Legalized | None:
    dtype = out_dtype_at(call, 1) or "float32"
    return legalize_map("cast", "compute", lambda *x: Cast(x[0], dtype), axis="i")(call, arg_types, out_type)


def _evaluate_wrap(args: tuple[Value, ...]) -> Value:
    return np.asarray(args[0]).astype(args[1] or "float32")


def _copy(args: tuple[Value, ...]) -> Value:
    return np.array(args[0])


def _first(args: tuple[Value, ...]) -> Value:
    return args[0]


def _identity(x: PrimExpr) -> PrimExpr:
    return x


def _spec(
    name: str,
    dtype: str,
    find: Callable[[TensorType, int | None], PrimExpr | None],
    summary: str,
    value: Callable[[Array, int], int],
    *,
    has_axis: bool = False,
) -> OpSpec:
    def evaluate(args: tuple[Value, ...]) -> Value:
        return value(np.asarray(args[0]), int(args[1]) if has_axis else 0)

    return OpSpec(f"relax.inspect.tensor_{name}", (_TENSOR, _AXIS) if has_axis else (_TENSOR,),
                  _infer_property(dtype, find), summary, evaluate=evaluate, see=_SEE)  # fmt: skip


def _number(find: Callable[[str], int]) -> Callable[[TensorType, int | None], PrimExpr | None]:
    return lambda tensor, _: None if tensor.dtype is None else const(find(tensor.dtype))


def _rank(tensor: TensorType, axis: int | None) -> PrimExpr | None:
    return None if tensor.ndim is None else const(tensor.ndim)


def _zero(tensor: TensorType, axis: int | None) -> PrimExpr | None:
    return None


def _one(dtype: str) -> int:
    return 1


_WITHOUT_ELEMENTS = "It reads what the machine knows of a tensor, not its elements."
_PLACES = "It names memory again; a kernel would have to copy it."

SPECS = (
    *realized("evaluation", _WITHOUT_ELEMENTS,
        _spec("dtype_code", "uint8", _number(_code), "The kind of the dtype: 0 int, 1 uint, 2 float, 4 bfloat, 6 bool.",
              lambda data, _: _code(str(data.dtype))),
        _spec("dtype_bits", "uint8", _number(_bits), "The bits of an element.", lambda data, _: _bits(str(data.dtype))),
        _spec("dtype_lanes", "uint16", _number(_one), "The lanes of an element, which is 1.", lambda data, _: 1),
        _spec("ndim", "int32", _rank, "The rank.", lambda data, _: int(data.ndim)),
        _spec("shape_i", "int64", _dim, "The size of an axis.",
              lambda data, axis: int(data.shape[axis]), has_axis=True),
        _spec("stride_i", "int64", _stride_of, "The distance of two elements along an axis, in elements.",
              lambda data, axis: int(data.strides[axis] // data.itemsize), has_axis=True),
        _spec("byte_offset", "uint64", _zero, "Where the elements begin in their storage, in bytes.",
              lambda data, _: 0),
        _spec("elem_offset", "uint64", _zero, "Where the elements begin in their storage, in elements.",
              lambda data, _: 0),
    ),
    *realized("evaluation", _PLACES,
        OpSpec("relax.memory.view",
               (DATA, Param("shape", "shape", default=None), Param("dtype", "dtype", default=None),
                Param("relative_byte_offset", "prim", "int64", default=None)),
               _infer_view, "The same bytes as another shape and dtype.", evaluate=_evaluate_view, see=_SEE_VIEW),
        OpSpec("relax.memory.ensure_zero_offset", (DATA,), infer_same, "The tensor at the begin of a storage.",
               evaluate=_copy, see=_SEE_VIEW),
        OpSpec("relax.builtin.stop_lift_params", (X,), _infer_any, "Say that LiftTransformParams must not lift this.",
               evaluate=_first, see="tvm/src/relax/op/op.cc", aliases=("relax.stop_lift_params",)),
    ),
    OpSpec("relax.wrap_param", (DATA, Param("dtype", "dtype", default="float32")), _infer_wrap,
           "A parameter in the dtype of the computation.", evaluate=_evaluate_wrap, legalize=_legalize_wrap,
           see="tvm/src/relax/op/tensor/datatype.cc"),
    *(
        OpSpec(f"relax.grad.{name}", (Param("input", "tensor"),), infer_same, summary, evaluate=_copy,
               legalize=legalize_map("identity", "T_identity", _identity), see="tvm/src/relax/op/tensor/grad.cc")
        for name, summary in (
            ("no_grad", "The tensor, without a gradient."),
            ("start_checkpoint", "The tensor, where a checkpoint begins."),
            ("end_checkpoint", "The tensor, where a checkpoint ends."),
        )
    ),
)  # fmt: skip
