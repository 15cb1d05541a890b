"""Reading the arguments of an operator call: tensors, axes, scalars, shapes, dtypes; and broadcasting."""

import math
from collections.abc import Iterable
from dataclasses import replace

from relax_core.ir.expr import (
    Call,
    DataTypeImm,
    Dims,
    Null,
    ObjectType,
    PrimType,
    ShapeType,
    TensorType,
    TupleType,
    Type,
)
from relax_core.ir.integer.prove import constant_value, prove_equal
from relax_core.ir.prim import FloatImm, IntImm, PrimExpr, StringImm, binary, bits_of, const
from relax_core.ops.show import show_dims
from relax_core.ops.spec import ArgumentAt, Around, OpTypeError, listed

ONE = IntImm(1)
_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth")


def call_name(call: Call) -> str:
    """Return the operator's name without "relax."."""
    return str(getattr(call.op, "name", "call")).removeprefix("relax.")


def as_tensor(call: Call, type_: Type, what: str) -> TensorType:
    """Return `type_` if it is a tensor.

    Raises:
        OpTypeError: TY003 for a scalar, whose other spelling is shown; TY001 for anything else.
    """
    match type_:
        case TensorType():
            return type_
        case PrimType(dtype=dtype):
            raise OpTypeError(
                "TY003",
                (f"{call_name(call)} expects a tensor as {what}, got the scalar ", type_),
                f'write R.const(value, "{dtype}") for a tensor of rank 0; R.prim_value(value) is a scalar on the host; '
                "BoxPrims converts",
            )
        case ObjectType():
            raise OpTypeError(
                "TY001",
                (f"{call_name(call)} expects a tensor as {what}, got ", type_),
                "give the type with R.match_cast(value, R.Tensor(...)), or with ty_args= where the value comes from",
            )
        case _:
            raise OpTypeError("TY001", (f"{call_name(call)} expects a tensor as {what}, got ", type_))


def tensor_at(call: Call, arg_types: tuple[Type, ...], index: int = 0) -> TensorType:
    """Return the type of the argument at `index`, which must be a tensor."""
    ordinal = _ORDINALS[index]
    return as_tensor(call, arg_types[index], "its argument" if len(arg_types) == 1 else f"its {ordinal} argument")


def tensors_at(call: Call, arg_types: tuple[Type, ...], index: int = 0) -> tuple[TensorType, ...]:
    """Return the types of the fields of the argument at `index`, a tuple of tensors."""
    match arg_types[index]:
        case TupleType(fields=fields):
            return tuple(as_tensor(call, item, f"field {k} of its tuple") for k, item in enumerate(fields))
        case other:
            raise OpTypeError("TY001", (f"{call_name(call)} expects a tuple of tensors, got ", other))


def shape_at(call: Call, arg_types: tuple[Type, ...], index: int) -> ShapeType:
    """Return the type of the argument at `index`, which must be a shape."""
    match arg_types[index]:
        case ShapeType() as shape:
            return shape
        case other:
            raise OpTypeError(
                "TY001", (f"{call_name(call)} expects a shape, got ", other), "write R.shape([...]) or a tuple"
            )


def dtype_at(call: Call, index: int) -> str | None:
    """Return the dtype that is the argument at `index`; `None` for an absent one."""
    match call.args[index]:
        case DataTypeImm(value=value):
            return value
        case Null():
            return None
        case _:
            raise OpTypeError("TY018", f'{call_name(call)} needs a dtype that is written out, such as "float32"')


def is_absent(call: Call, index: int) -> bool:
    """Tell whether the optional argument at `index` is not there."""
    return index >= len(call.args) or isinstance(call.args[index], Null)


def scalar_at(call: Call, arg_types: tuple[Type, ...], index: int) -> PrimExpr | None:
    """Return the scalar expression that the argument at `index` is; `None` if it is known at run time only."""
    match arg_types[index]:
        case PrimType(value=value):
            return value
        case TensorType() as tensor:
            raise OpTypeError(
                "TY003",
                (f"{call_name(call)} expects a scalar on the host, got ", tensor),
                "write R.prim_value(value) for a scalar; R.const(value) is a tensor of rank 0; UnboxScalars converts",
            )
        case other:
            raise OpTypeError("TY001", (f"{call_name(call)} expects a scalar on the host, got ", other))


def int_at(call: Call, arg_types: tuple[Type, ...], index: int) -> int:
    """Return the integer that the argument at `index` is; it must be a literal."""
    return _int(call, scalar_at(call, arg_types, index))


def literal_at(call: Call, arg_types: tuple[Type, ...], index: int) -> int | float | str:
    """Return the literal that the argument at `index` is."""
    match scalar_at(call, arg_types, index):
        case IntImm(value=value) | FloatImm(value=value) | StringImm(value=value):
            return value
        case _:
            raise OpTypeError("TY018", (f"{call_name(call)} needs a literal as ", ArgumentAt(index)))


def _int(call: Call, value: PrimExpr | None) -> int:
    found = None if value is None or isinstance(value, FloatImm | StringImm) else constant_value(value)
    if found is None:
        raise OpTypeError("TY018", f"{call_name(call)} needs an axis that is an integer literal")
    return found


def ints_at(call: Call, arg_types: tuple[Type, ...], index: int) -> tuple[int, ...] | None:
    """Return the list of ints that the argument at `index` is; one int is a list of one; `None` if it is absent."""
    if is_absent(call, index):
        return None
    match arg_types[index]:
        case TupleType(fields=fields):
            return tuple(_int(call, item.value if isinstance(item, PrimType) else None) for item in fields)
        case ShapeType(values=tuple() as values):
            return tuple(_int(call, value) for value in values)
        case _:
            return (int_at(call, arg_types, index),)


def normal_axis(call: Call, axis: int, rank: int) -> int:
    """Return `axis` in `[0, rank)`; a negative one counts from the end.

    Raises:
        OpTypeError: TY014 if it is outside `[-rank, rank)`.
    """
    if not -rank <= axis < rank:
        raise OpTypeError(
            "TY014",
            f"axis {axis} of {call_name(call)} is out of range for rank {rank}",
            f"axes go from {-rank} to {rank - 1}" if rank else "a tensor of rank 0 has no axes",
        )
    return axis % rank


def normal_axes(call: Call, axes: tuple[int, ...], rank: int) -> tuple[int, ...]:
    """Return `axes` normalised, in the given order; TY017 if one is there twice."""
    normal = tuple(normal_axis(call, axis, rank) for axis in axes)
    if len(set(normal)) != len(normal):
        raise OpTypeError("TY017", f"{call_name(call)} names an axis twice: {list(axes)}", "name each axis once")
    return normal


def common_dtype(call: Call, tensors: tuple[TensorType, ...]) -> str | None:
    """Return the one dtype of `tensors`; `None` if one is unknown; TY011 if two differ."""
    known = [item.dtype for item in tensors if item.dtype is not None]
    if len(set(known)) > 1:
        raise OpTypeError(
            "TY011",
            (f"{call_name(call)} expects equal dtypes, got ", *listed(tensors, " and ")),
            _conversion(tensors, dict.fromkeys(known)),
        )
    return known[0] if len(known) == len(tensors) and known else None


def _conversion(tensors: tuple[TensorType, ...], dtypes: Iterable[str]) -> str:
    """Say how tensors get one dtype: of two the one that holds more, a float before an integer."""
    narrow, *_, wide = sorted(dtypes, key=_width)
    words = f'convert one with R.astype(value, "{wide}")'
    others = [item for item in tensors if item.dtype not in (None, wide)]
    is_certain = len(others) == 1 and _width(narrow) < _width(wide) and narrow != "bool"
    return Around(words, others[0], "astype", f', "{wide}"') if is_certain else words


def _width(dtype: str) -> tuple[bool, int]:
    return "float" in dtype, bits_of(dtype)


def broadcast(call: Call, a: Dims, b: Dims) -> Dims | None:
    """Return the dimensions that `a` and `b` broadcast to, aligned at the end; `None` if that is not known.

    Raises:
        OpTypeError: TY010 if two sizes are provably different and none of them is 1.
    """
    rank = max(len(a), len(b))
    padded_a, padded_b = (ONE,) * (rank - len(a)) + a, (ONE,) * (rank - len(b)) + b
    result: list[PrimExpr] = []
    is_known = True
    for left, right in zip(padded_a, padded_b, strict=True):
        if constant_value(left) == 1:
            result.append(right)
        elif constant_value(right) == 1 or prove_equal(left, right):
            result.append(left)
        elif constant_value(left) is not None and constant_value(right) is not None:
            raise OpTypeError(
                "TY010",
                f"{call_name(call)} cannot broadcast {show_dims(a)} and {show_dims(b)}: "
                f"{constant_value(left)} is not {constant_value(right)}",
                "sizes must be equal or 1, counted from the last axis",
            )
        else:
            is_known = False
    return tuple(result) if is_known else None


def broadcast_types(call: Call, tensors: tuple[TensorType, ...], dtype: str | None) -> TensorType:
    """Return the type of an elementwise result on `tensors`; an unknown shape degrades to a rank or to nothing."""
    first = tensors[0]
    if all(item.shape is first.shape and item.shape is not None for item in tensors):
        return replace(first, dtype=dtype)
    dims: Dims | None = ()
    for item in tensors:
        dims = None if dims is None or item.dims is None else broadcast(call, dims, item.dims)
    if dims is not None:
        return TensorType(dims, dtype)
    ranks = [item.ndim for item in tensors]
    return TensorType(None, dtype, None if None in ranks else max(rank for rank in ranks if rank is not None))


def two_operands(call: Call, arg_types: tuple[Type, ...]) -> tuple[TensorType, TensorType]:
    """Return the types of the two operands of an elementwise operator.

    Raises:
        OpTypeError: TY044 if they live on different virtual devices.
    """
    found = (tensor_at(call, arg_types, 0), tensor_at(call, arg_types, 1))
    places = [item.vdevice for item in found]
    if all(places) and len({_full_device(item or "") for item in places}) > 1:
        raise OpTypeError(
            "TY044",
            f"{call_name(call)} expects operands on one device, got {places[0]} and {places[1]}",
            "copy one with R.to_vdevice(value, dst_vdevice=...)",
        )
    return found


def _full_device(words: str) -> tuple[str, str, str]:
    """Split "cuda:1:global"; what is left out is the first device and the global memory."""
    kind, index, scope, *_ = (*words.split(":"), "", "")
    return kind, index or "0", scope or "global"


def require_float(call: Call, tensor: TensorType) -> None:
    """Raise TY033 unless the dtype is a float or unknown."""
    if tensor.dtype is not None and "float" not in tensor.dtype:
        raise OpTypeError(
            "TY033",
            (f"{call_name(call)} expects a floating-point tensor, got ", tensor),
            Around('convert it with R.astype(value, "float32")', tensor, "astype", ', "float32"'),
        )


def product(dims: tuple[PrimExpr, ...]) -> PrimExpr:
    """Return the number of elements of a shape: symbols in the order of the axes, then the constant factor."""
    sizes = [value for dim in dims if (value := constant_value(dim)) is not None]
    factor = math.prod(sizes)
    total: PrimExpr | None = None
    for dim in dims:
        if constant_value(dim) is None:
            total = dim if total is None else binary("*", total, dim)
    if total is None or factor == 0:
        return const(factor)
    return total if factor == 1 else binary("*", total, const(factor))


def replaced(dims: Dims, axis: int, *new: PrimExpr) -> Dims:
    """Return `dims` with the size at `axis` replaced by `new`, which may be several or none."""
    return (*dims[:axis], *new, *dims[axis + 1 :])
