"""Boxes of elements that statements surely write, and their union over the iterations of a loop."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from relax_core.ir.integer.bounds import Bounds
from relax_core.ir.integer.interval import is_integral
from relax_core.ir.integer.polynomial import Polynomial, add, constant, constant_of, split
from relax_core.ir.node import Node, preorder
from relax_core.ir.prim import Binary, IntImm, Intrinsic, PrimExpr, PrimVar, Unary, dtype_of
from relax_core.ir.tir import For

Number = Polynomial[int]
Sources = Mapping[PrimVar, frozenset[PrimVar]]
"""The variables that the value of a block's or a let's variable depends on."""


@dataclass(frozen=True, slots=True)
class Side:
    """The places of one dimension that are at least each of `lows` and at most each of `highs`.

    The first of each are those of the store, the others bounds that cut it off.
    """

    lows: tuple[Number, ...]
    highs: tuple[Number, ...]


@dataclass(frozen=True, slots=True)
class Box:
    """The elements whose places lie in the sides, if none of `guards` is negative; else nothing.

    For a loop in `gaps` it is the box of one iteration: those of all have gaps that an outer loop may yet fill.
    """

    sides: tuple[Side, ...]
    guards: tuple[Number, ...] = ()
    gaps: "tuple[Closing, ...]" = ()

    def numbers(self) -> Iterator[Number]:
        """Yield all polynomials that the box is made of."""
        for side in self.sides:
            yield from side.lows
            yield from side.highs
        yield from self.guards
        for item in self.gaps:
            yield from (item.first, item.last)


def point(bounds: Bounds, indices: Sequence[PrimExpr]) -> Box | None:
    """Return the elements that a store at `indices` writes; `None` if they are no box, or may change meanwhile."""
    sides: list[Side] = []
    for index in indices:
        match index:
            case Intrinsic(name="Ramp", args=(base, IntImm(value=1), IntImm(value=lanes))):
                low = bounds.poly(base)
                sides.append(Side((low,), (add(low, constant(lanes - 1)),)))
            case _ if is_integral(dtype_of(index)):
                sides.append(Side((bounds.poly(index),), (bounds.poly(index),)))
            case _:
                return None
    box = Box(tuple(sides))
    return box if all(is_stable(bounds, p) for p in box.numbers()) else None


def ends(bounds: Bounds, index: PrimExpr) -> tuple[Number, Number] | None:
    """Return the least and the greatest place that an index of a load takes; `None` if it is not known."""
    match index:
        case Intrinsic(name="Ramp", args=(base, IntImm(value=stride), IntImm(value=lanes))):
            first = bounds.poly(base)
            last = add(first, constant(stride * (lanes - 1)))
            return (first, last) if stride >= 0 else (last, first)
        case Intrinsic(name="Broadcast", args=(value, _)):
            return ends(bounds, value)
        case _:
            p = bounds.poly(index) if is_integral(dtype_of(index)) else None
            return None if p is None else (p, p)


def covers(bounds: Bounds, box: Box, indices: Sequence[PrimExpr]) -> bool:
    """Tell whether a load at `indices` is proven to read elements of the box."""
    if box.gaps or not all(map(bounds.is_nonnegative, box.guards)):
        return False
    for side, index in zip(box.sides, indices, strict=True):
        found = ends(bounds, index)
        if found is None:
            return False
        low, high = found
        if not all(bounds.is_nonnegative(add(low, item, -1)) for item in side.lows):
            return False
        if not all(bounds.is_nonnegative(add(item, high, -1)) for item in side.highs):
            return False
    return True


def guards_of(bounds: Bounds, condition: PrimExpr, *, truth: bool = True) -> tuple[Number, ...] | None:
    """Return numbers none of which is negative just if `condition` is `truth`; `None` if there are none such."""
    match condition, truth:
        case Unary(op="not", a=a), _:
            return guards_of(bounds, a, truth=not truth)
        case Intrinsic(name="likely", args=(a,)), _:
            return guards_of(bounds, a, truth=truth)
        case (Binary(op="and", a=a, b=b), True) | (Binary(op="or", a=a, b=b), False):
            left, right = guards_of(bounds, a, truth=truth), guards_of(bounds, b, truth=truth)
            return None if left is None or right is None else (*left, *right)
        case Binary(op=op, a=a, b=b), _ if is_integral(dtype_of(a)) and dtype_of(a) == dtype_of(b):
            difference = add(bounds.poly(b), bounds.poly(a), -1)
            found = _guards(op if truth else _NEGATED.get(op, ""), difference)
            return found if all(is_stable(bounds, p) for p in found or ()) else None
        case _:
            return None


def _guards(op: str, difference: Number) -> tuple[Number, ...] | None:
    """Return what is not negative just if `a op b`, where `difference` is `b - a`."""
    back = add({}, difference, -1)
    match op:
        case "<":
            return (add(difference, constant(1), -1),)
        case "<=":
            return (difference,)
        case ">":
            return (add(back, constant(1), -1),)
        case ">=":
            return (back,)
        case "==":
            return (difference, back)
        case _:
            return None


_NEGATED: Mapping[str, str] = MappingProxyType({"<": ">=", "<=": ">", ">": "<=", ">=": "<"})


def is_stable(bounds: Bounds, p: Number) -> bool:
    """Tell whether a polynomial has the same value wherever its variables do."""
    return all(bounds.atoms[number].is_stable for number in atoms_in(p))


def atoms_in(p: Number) -> frozenset[int]:
    """Return the atoms that a polynomial is made of."""
    return frozenset(number for monomial in p for number in monomial)


@dataclass(frozen=True, slots=True)
class Closing:
    """A loop that is left: its variable as an atom, the first and the last value, and whether it surely runs."""

    bounds: Bounds
    sources: Sources
    var: PrimVar
    atom: int
    first: Number
    last: Number
    runs: bool

    def widened(self, box: Box) -> Box | None:
        """Return a box that all iterations together write: for each of them `box`; `None` if none is found.

        Let one side alone depend on the variable, by `c` times it, and let its width be at least `c`: then the boxes
        of two iterations in a row meet or touch, and the union is a box. What bounds a side without the variable cuts
        the union as it cuts each part. A guard that bounds the place itself is such a bound. A loop that may have no
        iterations is a guard of its own.
        """
        if any(self.is_met(item.first) or self.is_met(item.last) for item in box.gaps):
            return None
        wide = self._closed(box)
        # The loops of a nest whose bounds do not depend on each other may be closed in any order.
        for _ in box.gaps:
            for item in () if wide is None else wide.gaps:
                if wide is not None:
                    wide = item._closed(replace(wide, gaps=tuple(other for other in wide.gaps if other is not item)))
        return wide

    def _closed(self, box: Box) -> Box | None:
        guards = [item for item in box.guards if self.is_met(item)]
        sides = [at for at, side in enumerate(box.sides) if any(map(self.is_met, (*side.lows, *side.highs)))]
        if not sides:
            return None if guards else self.if_it_runs(box)
        side = self._clipped(box.sides[sides[0]], guards) if len(sides) == 1 else None
        if side is None:
            return None
        rest = tuple(item for item in box.guards if not self.is_met(item))
        step = self._step(side)
        if step is None:
            return None
        width = add(add(side.highs[0], side.lows[0], -1), constant(1))
        if not self.bounds.is_nonnegative(add(width, constant(abs(step)), -1)):
            return replace(_with_side(box, sides[0], side), guards=rest, gaps=(*box.gaps, self))
        return self.if_it_runs(replace(_with_side(box, sides[0], self._union(side, step, width)), guards=rest))

    def if_it_runs(self, box: Box) -> Box:
        """Return a box that is nothing if the loop has no iterations."""
        return box if self.runs else replace(box, guards=(*box.guards, add(self.last, self.first, -1)))

    def is_met(self, p: Number) -> bool:
        """Tell whether a polynomial may depend on the variable."""
        return any(depends(self.bounds.atoms[number].expr, self.var, self.sources) for number in atoms_in(p))

    def _clipped(self, side: Side, guards: Iterable[Number]) -> Side | None:
        """Return a side of one place with guards on the place as bounds; `None` if there are others.

        The first of the bounds are those of the place or of the box, in which loops still stand; the others cut it off.
        """
        lows, highs = list(side.lows), list(side.highs)
        for guard in guards:
            place = side.lows[0]
            if place != side.highs[0]:
                return None
            above, below = add(guard, place), add(place, guard, -1)
            if not self.is_met(above):
                highs.append(above)
            elif not self.is_met(below):
                lows.append(below)
            else:
                return None
        return Side(tuple(lows), tuple(highs))

    def _step(self, side: Side) -> int | None:
        """Return how far a side moves from one iteration to the next; `None` if it does not move as a whole."""
        if any(map(self.is_met, (*side.lows[1:], *side.highs[1:]))):
            return None
        parts = [split(item, self.atom) for item in (side.lows[0], side.highs[0])]
        steps = {None if item is None or self.is_met(item[1]) else constant_of(item[0]) for item in parts}
        return steps.pop() if len(steps) == 1 else None

    def _union(self, side: Side, step: int, width: Number) -> Side:
        parts = split(side.lows[0], self.atom)
        assert parts is not None, "a side that moves is linear in the variable"
        first, last = (self.first, self.last) if step > 0 else (self.last, self.first)
        low = add(parts[1], first, step)
        high = add(add(add(parts[1], last, step), width), constant(1), -1)
        return Side((low, *side.lows[1:]), (high, *side.highs[1:]))


def _with_side(box: Box, at: int, side: Side) -> Box:
    return replace(box, sides=(*box.sides[:at], side, *box.sides[at + 1 :]))


def depends(node: Node, var: PrimVar, sources: Sources) -> bool:
    """Tell whether an expression holds `var`, or a variable whose value depends on it."""
    found = (item for item in preorder(node) if isinstance(item, PrimVar))
    return any(item is var or var in sources.get(item, ()) for item in found)


def closing(bounds: Bounds, sources: Sources, loop: For, *, runs: bool) -> Closing | None:
    """Describe a loop whose variable is declared; `None` if what it counts may change."""
    start, extent = bounds.poly(loop.start), bounds.poly(loop.extent)
    atoms = atoms_in(bounds.poly(loop.var))
    if len(atoms) != 1 or not (is_stable(bounds, start) and is_stable(bounds, extent)):
        return None
    last = add(add(start, extent), constant(1), -1)
    return Closing(bounds, sources, loop.var, min(atoms), start, last, runs)
