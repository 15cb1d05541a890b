"""Inputs for every operator that computes, as plain values, and calls made from them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from relax_core.ir.expr import (
    OBJECT,
    Call,
    DataTypeImm,
    Expr,
    Null,
    Op,
    PrimType,
    PrimValue,
    ShapeExpr,
    ShapeType,
    TensorType,
    Tuple,
    TupleType,
    Type,
    Var,
    constant,
)
from relax_core.ir.prim import PrimExpr, PrimVar, StringImm, const, dtype_of
from relax_core.ops import OPS
from relax_core.ops.spec import OpSpec, Param, Value
from tests.narrow import is_array, is_tuple

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Case:
    """Values for the parameters of an operator in the order of its schema."""

    op: str
    args: tuple[Value, ...]
    words: str

    @property
    def spec(self) -> OpSpec:
        return OPS[f"relax.{self.op}"]

    def __str__(self) -> str:
        return f"{self.op} {self.words}".strip()


def floats(*shape: int, dtype: str = "float32", low: float = 0.1, high: float = 2.0) -> Array:
    count = int(np.prod(shape))
    spread = (np.arange(count) * 7919 % 101) / 100.0
    return np.asarray(low + (high - low) * spread).reshape(shape).astype(dtype)


def signed(*shape: int, dtype: str = "float32") -> Array:
    return floats(*shape, dtype=dtype, low=-2.0, high=2.5)


def ints(*shape: int, dtype: str = "int32") -> Array:
    count = int(np.prod(shape))
    values = (np.arange(count) * 37 % 19) - 9
    return np.where(values == 0, 4, values).reshape(shape).astype(dtype)


def bools(*shape: int) -> Array:
    return np.asarray(ints(*shape) > 0)


ARITHMETIC = ("add", "subtract", "multiply", "divide", "floor_divide", "maximum", "minimum", "mod")
COMPARISONS = ("equal", "not_equal", "less", "less_equal", "greater", "greater_equal")
POSITIVE = ("log", "sqrt", "rsqrt")
ANY_SIGN = (
    "exp",
    "sin",
    "cos",
    "tanh",
    "sigmoid",
    "erf",
    "abs",
    "negative",
    "floor",
    "ceil",
    "round",
    "sign",
    "square",
)
ON_INTEGERS = ("abs", "negative", "floor", "ceil", "round", "sign", "square")

ELEMENTWISE = (
    *(Case(op, (signed(2, 3), floats(2, 3)), "of equal shapes") for op in (*ARITHMETIC, *COMPARISONS)),
    *(Case(op, (signed(2, 1, 4), floats(3, 1)), "broadcasts both") for op in (*ARITHMETIC, *COMPARISONS)),
    *(Case(op, (ints(2, 3), ints(3)), "of integers") for op in (*ARITHMETIC, *COMPARISONS)),
    *(Case(op, (signed(), floats(3)), "with rank 0") for op in ARITHMETIC),
    *(Case(op, (signed(2, 3), ints(2, 3)), "of two dtypes") for op in COMPARISONS),
    Case("power", (floats(2, 3), signed(2, 3)), ""),
    Case("power", (ints(2, 3), np.full((3,), 2, "int32")), "of integers"),
    *(Case(op, (bools(2, 3), bools(3)), "") for op in ("logical_and", "logical_or")),
    Case("logical_not", (bools(2, 3),), ""),
    *(Case(op, (floats(2, 3),), "") for op in POSITIVE),
    *(Case(op, (signed(2, 3),), "") for op in ANY_SIGN),
    *(Case(op, (signed(3, dtype="float64"),), "of float64") for op in ANY_SIGN),
    *(Case(op, (ints(2, 3),), "of integers") for op in ON_INTEGERS),
    *(Case("astype", (signed(2, 3), dtype), f"to {dtype}") for dtype in ("float16", "int32", "float32")),
    Case("astype", (ints(3), "float64"), "from integers"),
    Case("clip", (signed(2, 3), -1, 0.5), ""),
    Case("clip", (ints(2, 3), -2, 3), "of integers"),
    Case("where", (bools(2, 3), signed(3), floats(2, 1)), "broadcasts all"),
    *(Case(f"nn.{op}", (signed(2, 3),), "") for op in ("relu", "gelu", "silu")),
    Case("nn.relu", (ints(2, 3),), "of integers"),
    *(
        Case(f"nn.{op}", (signed(2, 3, 4), axis), f"axis {axis}")
        for op in ("softmax", "log_softmax")
        for axis in (-1, 0, 1)
    ),
)
PRODUCTS = (
    Case("matmul", (signed(2, 3), floats(3, 4), None), "of matrices"),
    Case("matmul", (signed(3), floats(3, 4), None), "vector and matrix"),
    Case("matmul", (signed(2, 3), floats(3), None), "matrix and vector"),
    Case("matmul", (signed(3), floats(3), None), "of vectors"),
    Case("matmul", (signed(2, 1, 2, 3), floats(4, 3, 2), None), "broadcasts stacks"),
    Case("matmul", (signed(5, 2, 3), floats(3), None), "stack and vector"),
    Case("matmul", (signed(3), floats(5, 3, 2), None), "vector and stack"),
    Case("matmul", (ints(2, 3), ints(3, 4), None), "of integers"),
    Case("matmul", (signed(2, 3), floats(3, 4), "float64"), "with out_dtype"),
)
MOVES = (
    Case("reshape", (signed(2, 3), (3, 2)), ""),
    Case("reshape", (signed(2, 3, 4), (-1, 4)), "with a rest"),
    Case("reshape", (signed(2, 3, 4), (0, -1)), "copies a size"),
    Case("reshape", (signed(2, 3), (6,)), "to a vector"),
    Case("reshape", (signed(1, 1), ()), "to rank 0"),
    Case("reshape", (signed(), (1, 1)), "from rank 0"),
    Case("flatten", (signed(2, 3, 4),), ""),
    Case("flatten", (signed(),), "of rank 0"),
    Case("permute_dims", (signed(2, 3, 4), None), "reverses"),
    Case("permute_dims", (signed(2, 3, 4), (1, -1, 0)), "by axes"),
    Case("expand_dims", (signed(2, 3), (0,)), "in front"),
    Case("expand_dims", (signed(2, 3), (1, -1)), "twice"),
    Case("squeeze", (signed(1, 3, 1), (0,)), "one axis"),
    Case("squeeze", (signed(1, 3, 1), (-1, 0)), "two axes"),
    Case("squeeze", (signed(1, 3, 1), None), "all"),
    Case("broadcast_to", (signed(3, 1), (2, 3, 4)), ""),
    Case("concat", ([signed(2, 3), floats(2, 4), signed(2, 3)], 1), "axis 1"),
    Case("concat", ([signed(2, 3), floats(4, 3)], 0), "axis 0"),
    Case("concat", ([signed(2, 3), floats(2, 4)], -1), "last axis"),
    Case("concat", ([signed(2), floats(3)], None), "vectors without an axis"),
    Case("take", (signed(4, 3), np.array([2, 0, 3]), 0, "fast"), "rows"),
    Case("take", (signed(4, 3), np.array([[2, 0], [1, 1]]), 1, "fast"), "columns"),
    Case("take", (signed(4), np.array([5, -2, 3]), None, "wrap"), "wraps"),
    Case("take", (signed(4), np.array([5, 1, 3], "int32"), None, "clip"), "clips"),
)
REDUCTIONS = tuple(
    Case(op, (value, axes, keeps), words)
    for op in ("sum", "mean", "max", "min", "prod")
    for value, axes, keeps, words in (
        (signed(2, 3, 4), None, False, "of all"),
        (signed(2, 3, 4), (1,), False, "along one axis"),
        (signed(2, 3, 4), (-1, 0), True, "keeps dims"),
        (ints(2, 3), (1,), False, "of integers"),
        (signed(2, 3), None, True, "of all, keeps dims"),
    )
)
CREATIONS = (
    *(Case(op, ((2, 3), "float32"), "") for op in ("zeros", "ones")),
    Case("zeros", ((), "int64"), "of rank 0"),
    Case("full", ((2, 3), np.array(1.5, "float32"), None), "takes the dtype of the value"),
    Case("full", ((2, 3), np.array(7, "int32"), "float32"), "with a dtype"),
    *(Case(op, (signed(2, 3), None), "") for op in ("zeros_like", "ones_like")),
    Case("ones_like", (signed(2, 3), "int32"), "with a dtype"),
    Case("full_like", (signed(2, 3), np.array(2.5, "float32"), None), ""),
    Case("arange", (0, 7, 2, None), ""),
    Case("arange", (5, None, 1, None), "with an end only"),
    Case("arange", (5, -2, -3, "int32"), "downwards"),
    Case("arange", (0.5, 3.0, 0.75, "float32"), "of floats"),
)
SHAPES = (
    Case("shape_of", (signed(2, 3),), ""),
    Case("shape_to_tensor", ((2, 3),), ""),
    Case("tensor_to_shape", (np.array([2, 3]),), ""),
)
LEGALIZED = (*ELEMENTWISE, *PRODUCTS, *MOVES, *REDUCTIONS, *CREATIONS)
CASES = (*LEGALIZED, *SHAPES)

SYMBOLS: Mapping[int, PrimVar] = {2: PrimVar("n"), 3: PrimVar("m"), 4: PrimVar("k"), 5: PrimVar("b")}
SIZES = {symbol: size for size, symbol in SYMBOLS.items()}


class Builder:
    """Makes a call of a case; with `is_symbolic` each size from 2 to 5 is a symbol of its own."""

    def __init__(self, case: Case, *, is_symbolic: bool = False, is_variable_fill: bool = False) -> None:
        self.is_symbolic = is_symbolic
        self.is_variable_fill = is_variable_fill
        self.variables: dict[Var, Array] = {}
        pairs = [self.arg(param, value) for param, value in zip(case.spec.params, case.args, strict=True)]
        self.call = Call(Op(case.spec.name), tuple(expr for expr, _ in pairs))
        self.types: tuple[Type, ...] = tuple(type_ for _, type_ in pairs)

    def dims(self, shape: tuple[int, ...]) -> tuple[PrimExpr, ...]:
        return tuple(SYMBOLS.get(size, const(size)) if self.is_symbolic else const(size) for size in shape)

    def arg(self, param: Param, value: Value) -> tuple[Expr, Type]:
        match param.kind, value:
            case _, None:
                return Null(), OBJECT
            case "dtype", _:
                return DataTypeImm(value), OBJECT
            case "ints", int():
                return PrimValue(const(value)), PrimType("int64", const(value))
            case "tuple", _:
                pairs = [self.tensor(item) for item in value]
                return Tuple(tuple(expr for expr, _ in pairs)), TupleType(tuple(type_ for _, type_ in pairs))
            case _, _ if is_array(value):
                return constant_or_variable(self, param, value)
            case "shape" | "expr", _ if is_tuple(value):
                shape = self.dims(value)
                return ShapeExpr(shape), ShapeType(shape)
            case "axes" | "ints", _:
                fields = tuple(PrimValue(const(item)) for item in value)
                return Tuple(fields), TupleType(tuple(PrimType(dtype_of(item.value), item.value) for item in fields))
            case _, str():
                text = StringImm(value)
                return PrimValue(text), PrimType("string", text)
            case _:
                scalar = const(value, param.dtype)
                return PrimValue(scalar), PrimType(dtype_of(scalar), scalar)

    def tensor(self, value: Array) -> tuple[Expr, Type]:
        type_ = TensorType(self.dims(value.shape), str(value.dtype))
        var = Var(f"x{len(self.variables)}", type_)
        self.variables[var] = value
        return var, type_


def constant_or_variable(builder: Builder, param: Param, value: Array) -> tuple[Expr, Type]:
    if param.name == "fill_value" and not builder.is_variable_fill:
        return constant(value), TensorType((), str(value.dtype))
    return builder.tensor(value)
