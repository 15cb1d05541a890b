"""Which instances of a block its loops run: iteration variables as numbers whose digits are parts of loop variables."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from relax_core.ir.integer.interval import Interval, count_interval, dtype_interval
from relax_core.ir.integer.iter_split import IterSplit, splits_of
from relax_core.ir.integer.prove import canonical_key, prove_equal
from relax_core.ir.prim import Binary, IntImm, PrimExpr, PrimVar, binary, dtype_of, is_number
from relax_core.ir.rewriting.substitute import replace_symbols
from relax_core.ir.tir import For, IterVar
from relax_core.passes.tir.arithmetic import tidy
from relax_core.passes.tir.schedule.nest import Nest, conjuncts


@dataclass(frozen=True, slots=True)
class Digit:
    """`variable of the loop // lower % extent`, which counts `scale` in the value of an iteration variable.

    Without an extent it is the variable of a loop whose extent is no literal.
    """

    loop: For
    lower: int
    extent: int | None
    scale: int


Instances: TypeAlias = Mapping[IterVar, tuple[Digit, ...]]
"""The digits of each iteration variable of a block, those that count most first."""


def instances_of(nest: Nest) -> Instances | None:
    """Return the digits of the iteration variables; `None` if the loops are not seen to run each instance just once.

    They do if the digits are those of a mixed-radix number both in each loop variable and in each iteration variable:
    then the values of the loops and those of the iteration variables stand for the same tuples of digits. A block whose
    loops run more often, as behind a Split that does not divide, has a condition that leaves out just the rest.
    Whether the block is skipped by a statement around it is not looked at.
    """
    if any(loop.step is not None or not is_number(loop.start, 0) for loop in nest.loops):
        return None
    intervals = {it.var: count_interval(it.extent.value) for it in nest.loops if isinstance(it.extent, IntImm)}
    found: dict[IterVar, tuple[Digit, ...]] = {}
    for axis in nest.block.iter_vars:
        digits = _digits(axis, nest.loops, intervals)
        if digits is None or (axis.start is not None and not is_number(axis.start, 0)):
            return None
        found[axis] = digits
    limits = list(conjuncts(nest.block.predicate))
    if not all(any(_is_limit(limit, axis) for axis in found) for limit in limits):
        return None
    are_whole = all(_is_whole(axis, digits, limits) for axis, digits in found.items())
    used = [digit for digits in found.values() for digit in digits]
    return found if are_whole and all(_is_used_up(loop, used) for loop in nest.loops) else None


def keeps_order(instances: Instances, axes: Iterable[IterVar], loops: Sequence[For]) -> bool:
    """Tell whether the loops run through `axes` as loops of their own would, one in the other in this order."""
    order = [(loops.index(digit.loop), -digit.lower) for axis in axes for digit in instances[axis]]
    return order == sorted(order)


def at_start(binding: PrimExpr, loops: Iterable[For]) -> PrimExpr:
    """Return the value of a binding where `loops` begin: each of them counts from 0, those that run once as well."""
    zeros: dict[PrimVar, PrimExpr] = {loop.var: IntImm(0, loop.var.dtype) for loop in loops}
    return tidy(replace_symbols(binding, zeros))


def size_of(loop: For) -> int | None:
    """Return how often a loop runs, if that is a literal."""
    return loop.extent.value if isinstance(loop.extent, IntImm) else None


def _digits(axis: IterVar, loops: Sequence[For], intervals: Mapping[PrimVar, Interval]) -> tuple[Digit, ...] | None:
    loop_of = {loop.var: loop for loop in loops}
    splits = splits_of(axis.binding, {}, intervals)
    if splits is None:
        return None
    found: list[Digit] = []
    constant = 0
    for split in splits:
        constant += split.source.constant * split.scale
        made = _of_split(split, loop_of)
        if made is None:
            return None
        found += made
    ordered = sorted((digit for digit in found if digit.extent != 1), key=lambda digit: -digit.scale)
    return tuple(ordered) if constant == 0 else None


def _of_split(split: IterSplit, loop_of: Mapping[PrimVar, For]) -> list[Digit] | None:
    terms = split.source.coefficients
    if not all(var in loop_of for var in terms):
        return None
    if split.lower_factor == 1 and split.extent is None:
        return [Digit(loop_of[var], 1, size_of(loop_of[var]), split.scale * count) for var, count in terms.items()]
    if split.source.constant or list(terms.values()) != [1]:
        return None
    loop = loop_of[next(iter(terms))]
    size = size_of(loop)
    if size is None or size % split.lower_factor:
        return None
    return [Digit(loop, split.lower_factor, split.extent or size // split.lower_factor, split.scale)]


def _is_whole(axis: IterVar, digits: tuple[Digit, ...], limits: Sequence[PrimExpr]) -> bool:
    """Tell whether the digits of an iteration variable make each of its values once, and others only with a limit."""
    place = 1
    for digit in reversed(digits):
        if digit.scale != place:
            return False
        if digit.extent is None:
            return digit is digits[0] and _is_whole_loop(axis, digit.loop, place, limits)
        place *= digit.extent
    highest = min(dtype_interval(axis.var.dtype).high, dtype_interval(dtype_of(axis.binding)).high)
    if not isinstance(axis.extent, IntImm) or place - 1 > highest:
        return False
    return place == axis.extent.value or (place > axis.extent.value and _is_limited(axis, limits))


def _is_whole_loop(axis: IterVar, loop: For, place: int, limits: Sequence[PrimExpr]) -> bool:
    """Tell whether a loop whose extent is no literal, times `place`, makes all values of an iteration variable."""
    if place == 1:
        return prove_equal(loop.extent, axis.extent)
    rounded = binary("//", binary("+", axis.extent, IntImm(place - 1)), IntImm(place))
    return prove_equal(loop.extent, rounded) and _is_limited(axis, limits)


def _is_limited(axis: IterVar, limits: Sequence[PrimExpr]) -> bool:
    return any(_is_limit(limit, axis) for limit in limits)


def _is_limit(condition: PrimExpr, axis: IterVar) -> bool:
    """Tell whether a condition is that the value of an iteration variable is below its extent."""
    match condition:
        case Binary(op="<", a=a, b=b):
            return canonical_key(a) == canonical_key(axis.binding) and prove_equal(b, axis.extent)
        case _:
            return False


def _is_used_up(loop: For, digits: Sequence[Digit]) -> bool:
    """Tell whether the value of a loop variable follows from these digits, none of which is there twice."""
    own = sorted((digit for digit in digits if digit.loop is loop), key=lambda digit: digit.lower)
    size = size_of(loop)
    if size is None:
        return len(own) == 1
    place = 1
    for digit in own:
        if digit.lower != place or digit.extent is None:
            return False
        place *= digit.extent
    return place == size
