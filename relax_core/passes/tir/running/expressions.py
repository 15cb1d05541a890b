"""Scalar expressions of prim funcs as functions of Python, of numbers or of arrays of one number for each lane."""

from collections.abc import Callable, Mapping
from typing import Any, Final, NoReturn, TypeAlias

import numpy as np

from relax_core.ir.integer.evaluate import NoValueError
from relax_core.ir.notation.show import show_prim
from relax_core.ir.prim import (
    Binary,
    Cast,
    FloatImm,
    IntImm,
    Intrinsic,
    LetExpr,
    PrimExpr,
    PrimVar,
    Select,
    Unary,
    dtype_of,
)
from relax_core.ir.tir import Buffer, BufferLoad
from relax_core.ops.kernels.numbers import (
    BINARY,
    FUNCTIONS,
    UNARY,
    Array,
    Plain,
    cast,
    is_array,
    numpy_type,
    of_dtype,
    select,
)

Values: TypeAlias = dict[PrimVar, Plain]
Compute: TypeAlias = Callable[[Values], Plain]
_DIVISIONS: Final = ("/", "//", "%", "truncdiv", "truncmod")
_SHIFTS: Final = ("<<", ">>")
_NARROW: Final = ("bfloat16", "float8_", "float6_", "float4_")
"""Dtypes, by their first letters, in which NumPy does not compute as a prim func does."""


def unsupported(what: str) -> NoReturn:
    """Stop: a prim func does what is not evaluated here.

    Raises:
        NoValueError: always.
    """
    raise NoValueError(f"{what} is not evaluated by a pass")


class Computations:
    """Makes functions of expressions; `arrays` has the elements of each buffer that is there."""

    def __init__(self, arrays: Mapping[Buffer, Array]) -> None:
        self._arrays = arrays
        self._rules: Mapping[type[PrimExpr], Callable[[Any], Compute]] = {
            PrimVar: self._variable, IntImm: self._integer, FloatImm: self._float, Binary: self._binary,
            Unary: self._unary, Cast: self._cast, Select: self._select, LetExpr: self._let,
            Intrinsic: self._intrinsic, BufferLoad: self._load,
        }  # fmt: skip

    def of(self, expr: PrimExpr) -> Compute:
        """Return the function that computes `expr` from the values of variables."""
        rule = self._rules.get(type(expr))
        if rule is None or "x" in dtype_of(expr) or dtype_of(expr).startswith(_NARROW):
            unsupported(f"`{show_prim(expr)}`")
        return rule(expr)

    def indices(self, exprs: tuple[PrimExpr, ...], shape: tuple[int, ...]) -> Callable[[Values], tuple[Plain, ...]]:
        """Return the function that computes the place of an element of a buffer of this shape, which is one of it."""
        parts = tuple(map(self.of, exprs))

        def place(values: Values) -> tuple[Plain, ...]:
            found = tuple(part(values) for part in parts)
            for index, size in zip(found, shape, strict=True):
                is_inside = bool(np.all((index >= 0) & (index < size))) if is_array(index) else 0 <= index < size
                if not is_inside:
                    raise IndexError(f"an index is out of range: {index} of {size}")
            return found

        return place

    def array_of(self, buffer: Buffer) -> Array:
        """Return the elements of a buffer: of a parameter, or of a block around."""
        if buffer not in self._arrays:
            unsupported(f"the buffer {buffer.name}")
        return self._arrays[buffer]

    def _variable(self, expr: PrimVar) -> Compute:
        return lambda values: values[expr]

    def _integer(self, expr: IntImm) -> Compute:
        value = bool(expr.value) if expr.dtype == "bool" else expr.value
        return lambda _: value

    def _float(self, expr: FloatImm) -> Compute:
        value = numpy_type(expr.dtype).type(expr.value)
        return lambda _: value

    def _binary(self, expr: Binary) -> Compute:
        a, b, function, dtype = self.of(expr.a), self.of(expr.b), BINARY[expr.op], expr.dtype
        if expr.op in _DIVISIONS or expr.op in _SHIFTS:
            function = _checked(expr, function)
        return lambda values: of_dtype(function(a(values), b(values)), dtype)

    def _unary(self, expr: Unary) -> Compute:
        op = "not" if expr.op == "~" and expr.dtype == "bool" else expr.op
        a, function, dtype = self.of(expr.a), UNARY[op], expr.dtype
        return lambda values: of_dtype(function(a(values)), dtype)

    def _cast(self, expr: Cast) -> Compute:
        value, dtype = self.of(expr.value), expr.dtype
        return lambda values: cast(value(values), dtype)

    def _select(self, expr: Select) -> Compute:
        condition, yes, no = map(self.of, (expr.condition, expr.true_value, expr.false_value))

        def choose(values: Values) -> Plain:
            is_chosen = condition(values)
            if is_array(is_chosen) and not is_chosen.all() and is_chosen.any():
                return select(is_chosen, yes(values), no(values))
            return yes(values) if np.all(is_chosen) else no(values)

        return choose

    def _let(self, expr: LetExpr) -> Compute:
        var, value, body = expr.var, self.of(expr.value), self.of(expr.body)

        def compute(values: Values) -> Plain:
            values[var] = value(values)
            return body(values)

        return compute

    def _intrinsic(self, expr: Intrinsic) -> Compute:
        function = FUNCTIONS.get(expr.name)
        if function is None:
            unsupported(f"`{show_prim(expr)}`")
        args, dtype = tuple(map(self.of, expr.args)), expr.dtype
        return lambda values: of_dtype(function(*(arg(values) for arg in args)), dtype)

    def _load(self, expr: BufferLoad) -> Compute:
        array = self.array_of(expr.buffer)
        place = self.indices(expr.indices, array.shape)
        return lambda values: array[place(values)]


def _checked(expr: Binary, function: Callable[[Plain, Plain], Plain]) -> Callable[[Plain, Plain], Plain]:
    """Return a division or a shift of integers that raises where a kernel stops; floats divide by anything."""
    kind = numpy_type(dtype_of(expr.a))
    if kind.kind not in "iu":
        return function
    text, bits = show_prim(expr), 8 * kind.itemsize

    def compute(a: Plain, b: Plain) -> Plain:
        if expr.op in _DIVISIONS and np.any(b == 0):
            raise ZeroDivisionError(f"`{text}` divides by zero")
        if expr.op in _SHIFTS and np.any((b < 0) | (b >= bits)):
            raise ArithmeticError(f"`{text}` shifts by more bits than there are")
        return function(a, b)

    return compute
