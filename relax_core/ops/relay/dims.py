"""Sizes that may be unknown: arithmetic, comparison, broadcasting, and layouts such as NCHW16c."""

import math
import re
from collections.abc import Callable, Mapping
from types import MappingProxyType

from relax_core.ir.expr import Dims
from relax_core.ir.integer.prove import constant_value, prove_different, prove_equal, simplify
from relax_core.ir.prim import AnyDim, BinaryKind, IntImm, PrimExpr, binary
from relax_core.ops.relay.show import show_dim, show_dims
from relax_core.ops.relay.spec import RelayCall

ONE = IntImm(1)
_EXACT: Mapping[BinaryKind, Callable[[int, int], int]] = MappingProxyType(
    {"+": lambda a, b: a + b, "-": lambda a, b: a - b, "*": lambda a, b: a * b, "//": lambda a, b: a // b}
)
_LAYOUT_PART = re.compile(r"(\d*)([A-Za-z])")


def dims_of(*sizes: int) -> Dims:
    """Return known sizes."""
    return tuple(IntImm(item) for item in sizes)


def known_size(dim: PrimExpr) -> int | None:
    """Return the number that `dim` is, if that is known."""
    match dim:
        case IntImm(value=value):
            return value
        case AnyDim():
            return None
        case _:
            return constant_value(dim)


def calculate(kind: BinaryKind, a: PrimExpr, b: PrimExpr | int) -> PrimExpr:
    """Return `a kind b`, unknown if one of them is."""
    other = IntImm(b) if isinstance(b, int) else b
    if isinstance(a, IntImm) and isinstance(other, IntImm) and a.dtype == other.dtype == "int64" and kind in _EXACT:
        number = _EXACT[kind](a.value, other.value) if kind != "//" or other.value else -1
        # What is below zero is written as a difference.
        if number >= 0:
            return IntImm(number)
    if isinstance(a, AnyDim) or isinstance(other, AnyDim) or (kind == "//" and known_size(other) == 0):
        return AnyDim()
    return simplify(binary(kind, a, other))


def product(dims: Dims) -> PrimExpr:
    """Return the number of elements."""
    known = [known_size(dim) for dim in dims]
    total: PrimExpr = IntImm(math.prod(item for item in known if item is not None))
    for dim, value in zip(dims, known, strict=True):
        if value is None:
            total = calculate("*", total, dim)
    return total


def is_same(a: PrimExpr, b: PrimExpr) -> bool | None:
    """Tell whether two sizes are equal; `None` if that is not known."""
    if isinstance(a, AnyDim) or isinstance(b, AnyDim):
        return None
    if isinstance(a, IntImm) and isinstance(b, IntImm):
        return a.value == b.value
    return True if prove_equal(a, b) else False if prove_different(a, b) else None


def broadcast(call: RelayCall, a: Dims, b: Dims) -> Dims:
    """Return the sizes that `a` and `b` broadcast to; an unknown size takes the other one.

    Raises:
        OpTypeError: RY008 if two sizes differ and none of them is 1.
    """
    rank = max(len(a), len(b))
    result: list[PrimExpr] = []
    for left, right in zip((ONE,) * (rank - len(a)) + a, (ONE,) * (rank - len(b)) + b, strict=True):
        if known_size(left) == 1:
            result.append(right)
        elif known_size(right) == 1:
            result.append(left)
        elif is_same(left, right) is False:
            raise call.refuse(
                f"cannot broadcast {show_dims(a)} and {show_dims(b)}: {show_dim(left)} is not {show_dim(right)}",
                "sizes must be equal or 1, counted from the last axis",
                code="RY008",
            )
        else:
            result.append(right if isinstance(left, AnyDim) else left)
    return tuple(result)


def normal_axis(call: RelayCall, axis: int, rank: int) -> int:
    """Return `axis` in `[0, rank)`; a negative one counts from the end."""
    if not -rank <= axis < rank:
        hint = f"axes go from {-rank} to {rank - 1}" if rank else "a tensor of rank 0 has no axes"
        raise call.refuse(f"has no axis {axis}: the rank is {rank}", hint)
    return axis % rank


def layout_parts(layout: str) -> tuple[tuple[str, int], ...]:
    """Return the axes of a layout with their factors; 0 for a whole axis: `NCHW16c` ends in `("c", 16)`."""
    return tuple((letter, int(digits or 0)) for digits, letter in _LAYOUT_PART.findall(layout))


class Axes(dict[str, PrimExpr]):
    """Sizes by the letters of a layout; asking for a letter that the layout does not have is refused."""

    def __init__(self, call: RelayCall, layout: str) -> None:
        super().__init__()
        self._call = call
        self._layout = layout

    def __missing__(self, letter: str) -> PrimExpr:
        raise self._call.refuse(f'needs an axis {letter} in the layout "{self._layout}"', code="RY010")


def whole_axes(call: RelayCall, dims: Dims, layout: str) -> Axes:
    """Return by letter the sizes of the whole axes of a tensor that is stored in `layout`."""
    parts = layout_parts(layout)
    if len(parts) != len(dims):
        raise call.refuse(f"expects a tensor of rank {len(parts)} for the layout {layout}, got {show_dims(dims)}")
    sizes = Axes(call, layout)
    for (letter, _), dim in zip(parts, dims, strict=True):
        key = letter.upper()
        sizes[key] = calculate("*", sizes[key], dim) if key in sizes else dim
    return sizes


def stored_axes(call: RelayCall, sizes: Mapping[str, PrimExpr], layout: str) -> Dims:
    """Return the sizes of a tensor stored in `layout` whose whole axes have `sizes`."""
    parts = layout_parts(layout)
    factors: dict[str, int] = {}
    for letter, factor in parts:
        if factor:
            factors[letter.upper()] = factors.get(letter.upper(), 1) * factor
    result: list[PrimExpr] = []
    for letter, factor in parts:
        key = letter.upper()
        if key not in sizes:
            raise call.refuse(f"cannot store axis {key} in the layout {layout}: there is none")
        whole = sizes[key]
        divisor = 1 if factor else factors.get(key, 1)
        number = known_size(whole)
        if number is not None and number % divisor:
            raise call.refuse(f"cannot split axis {key} of size {number} by {divisor} for the layout {layout}")
        result.append(IntImm(factor) if factor else whole if divisor == 1 else calculate("//", whole, divisor))
    return tuple(result)
