"""The arguments of a kernel: checked against the parameters' buffers, and packed for machine code."""

import ctypes
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import copysign, frexp, isfinite, ldexp
from types import MappingProxyType
from typing import Any, NoReturn, cast

import numpy as np
import numpy.typing as npt

from relax_core.analysis.tir_memory import written_buffers
from relax_core.diagnostics import Diagnostic, RunError, plural
from relax_core.ir.integer.bounds import DIMENSION, Bounds
from relax_core.ir.integer.evaluate import NoValueError, evaluate
from relax_core.ir.node import Node
from relax_core.ir.notation.show import show_prim
from relax_core.ir.prim import IntImm, PrimExpr, PrimVar
from relax_core.ir.tir import Buffer, PrimFunc
from relax_core.jit.lowering.checks import Locate, unknown_dtype
from relax_core.jit.lowering.known.symbols import shape_symbols
from relax_core.jit.lowering.scalars.types import SCALAR_TYPES

Array = npt.NDArray[Any]
KNOWN_SHAPES = 256
WORD_MASK = (1 << 64) - 1
# Binary digits of a bfloat16, and the exponent of its least number.
BFLOAT16_DIGITS, BFLOAT16_LEAST = 8, -133
_FLOAT_FORMATS = MappingProxyType({16: "<e", 32: "<f", 64: "<d"})


@dataclass(frozen=True, slots=True)
class BoundArguments:
    """Checked arguments: one word per parameter, and the values of the symbols."""

    words: list[int]
    sizes: tuple[int, ...]
    are_distinct: bool


@dataclass(frozen=True, slots=True)
class _Origin:
    """Where the value of a symbol came from."""

    value: int
    place: str


class Signature:
    """What a prim func takes: `params` with their buffers, the positions `written`, and the arrays' `dtypes`."""

    def __init__(self, function: PrimFunc, name: str, locate: Locate) -> None:
        self.function = function
        self.name = name
        self.symbols = shape_symbols(function)
        self._locate = locate
        self._scalar_symbols = frozenset(self.symbols) & frozenset(function.params)
        # Shapes that were compared, and scalars that are dimensions, with the symbols' values.
        self._sizes_of: dict[tuple[tuple[int, ...] | int, ...], tuple[int, ...]] = {}
        written = written_buffers(function)
        buffers = [function.buffer_of(param) for param in function.params]
        for buffer in buffers:
            if buffer is not None and buffer.dtype not in SCALAR_TYPES:
                raise unknown_dtype(buffer.dtype, buffer, locate)
        self.params = tuple(zip(function.params, buffers, strict=True))
        self.written = frozenset(position for position, buffer in enumerate(buffers) if buffer in written)
        self.has_strides = any(buffer is not None and buffer.strides for buffer in buffers)
        self.dtypes = tuple(np.dtype(buffer.dtype) if buffer is not None else None for buffer in buffers)

    def bind(self, args: Sequence[object]) -> BoundArguments:
        """Check `args` and pack them.

        Raises:
            RunError: JT003 to JT008 for an argument that does not fit, JT018 for one that is not writeable.
        """
        if len(args) != len(self.params):
            message = f"`{self.name}` takes {plural(len(self.params), 'argument')}, got {len(args)}"
            self._fail("JT003", message, self.function, f"Its parameters are {self._names()}.")
        words: list[int] = []
        ranges: list[tuple[int, int]] = []
        shapes: list[tuple[int, ...] | int] = []
        for position, ((param, buffer), arg) in enumerate(zip(self.params, args, strict=True)):
            if buffer is None:
                words.append(self._scalar(param, arg))
                ranges.append((0, 0))
                if param in self._scalar_symbols:
                    shapes.append(int(cast("int", arg)))
            else:
                array = self._array(position, buffer, arg)
                address = address_of(array)
                words.append(address)
                ranges.append((address, address + (_extent_bytes(array) if buffer.strides else array.nbytes)))
                shapes.append(array.shape)
                if buffer.strides:
                    shapes.append(array.strides)
        key = tuple(shapes)
        sizes = self._sizes_of.get(key)
        if sizes is None:
            if len(self._sizes_of) >= KNOWN_SHAPES:
                self._sizes_of.clear()
            sizes = self._sizes_of[key] = self._bind_symbols(args)
        return BoundArguments(words, sizes, self._are_distinct(ranges))

    def _array(self, position: int, buffer: Buffer, arg: object) -> Array:
        if not isinstance(arg, np.ndarray):
            found = type(arg).__name__
            self._fail("JT003", f"`{buffer.name}` of `{self.name}` expects an array, got {found}", buffer)
        array = cast("Array", arg)
        if array.dtype != self.dtypes[position]:
            message = f"`{buffer.name}` expects dtype {buffer.dtype}, got {array.dtype}"
            self._fail("JT004", message, buffer, f"Convert it with .astype({buffer.dtype!r}).")
        if array.ndim != len(buffer.shape):
            message = f"`{buffer.name}` expects {len(buffer.shape)} dimensions, got shape {array.shape}"
            self._fail("JT005", message, buffer)
        flags = array.flags
        if buffer.strides and flags.aligned and not flags.c_contiguous:
            self._check_strided(buffer, array)
        elif not (flags.c_contiguous and flags.aligned):
            message = f"`{buffer.name}` expects a C-contiguous, aligned array"
            self._fail("JT008", message, buffer, "Pass numpy.ascontiguousarray(...) of it.")
        if position in self.written and not flags.writeable:
            message = f"`{buffer.name}` is written by `{self.name}`, but the array is read-only"
            self._fail("JT018", message, buffer, "Pass a copy.")
        return array

    def _check_strided(self, buffer: Buffer, array: Array) -> None:
        """Check an array with strides of its own, which a buffer with declared strides takes."""
        if any(stride < 0 or stride % array.itemsize for stride in array.strides):
            message = f"`{buffer.name}` expects strides of whole elements, forwards, got {array.strides} bytes"
            self._fail("JT008", message, buffer, "Pass numpy.ascontiguousarray(...) of it.")

    def _bind_symbols(self, args: Sequence[object]) -> tuple[int, ...]:
        """Return the values of the symbols, after all shapes were compared with each other."""
        origins: dict[PrimVar, _Origin] = {}
        for (param, buffer), arg in zip(self.params, args, strict=True):
            if buffer is not None:
                self._bind_dims(buffer, cast("Array", arg), origins)
            elif param in self._scalar_symbols:
                place = f"the argument `{param.name}`"
                self._bind_symbol(param, int(cast("int", arg)), place, origins, param)
        self._check_shapes(args, origins)
        return tuple(origins[symbol].value for symbol in self.symbols)

    def _bind_dims(self, buffer: Buffer, array: Array, origins: dict[PrimVar, _Origin]) -> None:
        """Bind the symbols that stand alone as a dimension, a stride or an offset."""
        expected = [*zip(buffer.shape, array.shape, strict=True)]
        if buffer.strides:
            strides = element_strides(array)
            if len(strides) != len(buffer.strides):
                self._fail(
                    "JT005", f"`{buffer.name}` has {len(buffer.strides)} strides for {len(strides)} dimensions", buffer
                )
            expected += zip(buffer.strides, strides, strict=True)
        if buffer.elem_offset is not None:
            expected.append((buffer.elem_offset, 0))
        for position, (dim, value) in enumerate(expected):
            if isinstance(dim, PrimVar):
                self._bind_symbol(dim, value, self._place(buffer, position, array.shape), origins, buffer)

    def _place(self, buffer: Buffer, position: int, shape: tuple[int, ...]) -> str:
        if position < len(shape):
            return f"dimension {position} of `{buffer.name}`, whose argument has shape {shape}"
        return f"a stride or the offset of `{buffer.name}`, whose argument has shape {shape}"

    def _bind_symbol(
        self, symbol: PrimVar, value: int, place: str, origins: dict[PrimVar, _Origin], node: Node
    ) -> None:
        scalar = SCALAR_TYPES.get(symbol.dtype)
        if scalar is not None and not (scalar.low <= value <= min(scalar.high, DIMENSION.high)):
            message = f"`{symbol.name}` is {value} from {place}, which does not fit {symbol.dtype}"
            self._fail("JT007", message, node, 'Declare it as T.var("int64").')
        known = origins.setdefault(symbol, _Origin(value, place))
        if known.value != value:
            message = f"`{symbol.name}` is {known.value} from {known.place}, but {value} from {place}"
            self._fail("JT006", message, node, f"Both stand for the symbol `{symbol.name}` and must be equal.")

    def _scalar(self, param: PrimVar, arg: object) -> int:
        if param.dtype == "handle":
            # Nothing is known of its memory, so that the body cannot touch it.
            return 0
        scalar = SCALAR_TYPES.get(param.dtype)
        if scalar is None:
            raise unknown_dtype(param.dtype, param, self._locate)
        if scalar.kind == "float":
            found = type(arg).__name__
            if not isinstance(arg, int | float | np.number) or isinstance(arg, np.complexfloating):
                self._fail("JT003", f"`{param.name}` expects a real number, got {found}", param)
            try:
                number = float(cast("float", arg))
                packed = struct.pack(_FLOAT_FORMATS[scalar.bits], _narrowed(number) if scalar.is_narrowed else number)
            except OverflowError:
                self._fail("JT004", f"`{param.name}` = {arg} does not fit {param.dtype}", param)
            return int.from_bytes(packed, "little")
        if not isinstance(arg, int | np.integer | np.bool_):
            self._fail("JT003", f"`{param.name}` expects an integer, got {type(arg).__name__}", param)
        value = int(cast("int", arg))
        if not scalar.low <= value <= scalar.high:
            self._fail("JT004", f"`{param.name}` = {value} does not fit {param.dtype}", param)
        return value & WORD_MASK

    def _check_shapes(self, args: Sequence[object], origins: Mapping[PrimVar, _Origin]) -> None:
        """Compare the dimensions that are expressions with the arguments' shapes."""
        missing = [symbol for symbol in self.symbols if symbol not in origins]
        if missing:
            names = ", ".join(f"`{symbol.name}`" for symbol in missing)
            message = f"No argument of `{self.name}` determines {names}"
            hint = "A symbol must stand alone in the shape of some parameter, or be a scalar parameter."
            self._fail("JT009", message, missing[0], hint)
        values = {symbol: origin.value for symbol, origin in origins.items()}
        bounds = Bounds(values)

        def constant(dim: PrimExpr) -> int:
            if isinstance(dim, IntImm):
                return dim.value
            # Bounds knows polynomials; the rest, such as a minimum, is evaluated.
            found = bounds.constant(dim)
            if found is not None:
                return found
            try:
                return int(evaluate(dim, values))
            except NoValueError:
                message = f"`{show_prim(dim)}` has no value for these arguments"
                self._fail("JT005", message, dim, "It divides by zero, or is no arithmetic of integers.")

        for (_, buffer), arg in zip(self.params, args, strict=True):
            if buffer is not None:
                shape = cast("Array", arg).shape
                for position, (dim, value) in enumerate(zip(buffer.shape, shape, strict=True)):
                    self._check_dim(buffer, position, dim, (value, constant(dim)))
                for dim, value in zip(buffer.strides, element_strides(cast("Array", arg)), strict=False):
                    self._check_stride(buffer, dim, value, constant(dim))
                if buffer.elem_offset is not None and constant(buffer.elem_offset) != 0:
                    message = f"`{buffer.name}` starts at element {constant(buffer.elem_offset)} of its memory"
                    self._fail("JT008", message, buffer, "Arguments start at their first element.")

    def _check_dim(self, buffer: Buffer, position: int, dim: PrimExpr, values: tuple[int, int | None]) -> None:
        found, expected = values
        if found != expected:
            name = show_prim(dim)
            shown = name if name == str(expected) else f"`{name}` = {expected}"
            message = f"Dimension {position} of `{buffer.name}` expects {shown}, got {found}"
            self._fail("JT005", message, buffer)

    def _check_stride(self, buffer: Buffer, dim: PrimExpr, found: int, expected: int | None) -> None:
        if found != expected:
            message = (
                f"A stride of `{buffer.name}` is `{show_prim(dim)}` = {expected}, but the array has {found} elements"
            )
            self._fail("JT008", message, buffer, "Pass an array with these strides, or leave them out.")

    def _are_distinct(self, ranges: Sequence[tuple[int, int]]) -> bool:
        """Tell whether no array that is written overlaps another."""
        return not any(
            ranges[position][0] < end and start < ranges[position][1]
            for position in self.written
            for other, (start, end) in enumerate(ranges)
            if other != position
        )

    def _names(self) -> str:
        names = [buffer.name if buffer is not None else param.name for param, buffer in self.params]
        return ", ".join(f"`{name}`" for name in names) or "none"

    def _fail(self, code: str, message: str, node: Node, hint: str = "") -> NoReturn:
        raise RunError((Diagnostic(code, message, self._locate(node), hint),))


def _narrowed(value: float) -> float:
    """Return the bfloat16 next to `value`, the even one between two."""
    if not isfinite(value):
        return value
    last = max(frexp(value)[1] - BFLOAT16_DIGITS, BFLOAT16_LEAST)
    return copysign(ldexp(round(ldexp(value, -last)), last), value)


def address_of(array: Array) -> int:
    """Return the address of the first element; `ctypes.data` is four times as slow as the way through a buffer."""
    # bfloat16 is not NumPy's own, and no buffer has a format for it.
    if array.flags.writeable and array.flags.c_contiguous and array.size and array.dtype.isbuiltin == 1:
        return ctypes.addressof(ctypes.c_char.from_buffer(cast("Any", array)))
    return array.ctypes.data


def element_strides(array: Array) -> tuple[int, ...]:
    """Return the strides of an array in elements; those of a contiguous one by its shape."""
    if array.flags.c_contiguous:
        return contiguous_strides(array.shape)
    return tuple(stride // array.itemsize for stride in array.strides)


def _extent_bytes(array: Array) -> int:
    """Return how many bytes lie between the first and the last that belong to `array`."""
    if array.flags.c_contiguous or not array.size:
        return array.nbytes
    last = sum((extent - 1) * stride for extent, stride in zip(array.shape, array.strides, strict=True))
    return last + array.itemsize


def contiguous_strides(shape: Sequence[int]) -> tuple[int, ...]:
    """Return the strides, in elements, of a row-major array."""
    strides: list[int] = []
    stride = 1
    for extent in reversed(shape):
        strides.append(stride)
        stride *= extent
    return tuple(reversed(strides))
