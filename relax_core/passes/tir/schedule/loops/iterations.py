"""Whether the iterations of a loop access elements of their own, so that they may run at the same time."""

from collections.abc import Iterator, Mapping, Sequence

from relax_core.ir.integer.affine import Affine, overlapping
from relax_core.ir.integer.bounds import Bounds
from relax_core.ir.integer.interval import Interval
from relax_core.ir.integer.iter_split import IterSplit, splits_of
from relax_core.ir.integer.polynomial import Polynomial, constant_of, split
from relax_core.ir.node import preorder
from relax_core.ir.prim import PrimVar, dtype_of
from relax_core.ir.tir import Block, Buffer, BufferLoad, BufferStore, DeclBuffer, For
from relax_core.passes.tir.schedule.nest import Nest

Access = BufferLoad | BufferStore


def first_shared(nest: Nest, loop: For) -> tuple[Buffer, Access] | None:
    """Return a buffer that one iteration may write where another one accesses it, with such an access.

    An element is one iteration's alone if in some dimensions all indices are `step * d + base + rest`, where `d` is a
    digit of the loop variable, as `i` or `i // 8 % 4`, `base` is the same in all iterations, and the values of `rest`
    span less than `step`: accesses of one element then have the same digits. These have to determine the iteration.
    """
    accesses = [item for item in preorder(loop.body) if isinstance(item, Access)]
    own = set(_allocated_in(loop))
    iterations = _Iterations(nest, loop)
    for buffer in dict.fromkeys(item.buffer for item in accesses if isinstance(item, BufferStore)):
        places = [item for item in accesses if item.buffer is buffer]
        if buffer not in own and not iterations.are_apart(places):
            return buffer, places[-1]
    return None


def is_shared(nest: Nest, loop: For, buffer: Buffer) -> bool:
    """Tell whether two iterations of a loop may access one element of `buffer`, which is written in it."""
    places = [item for item in preorder(loop.body) if isinstance(item, Access) and item.buffer is buffer]
    return buffer not in set(_allocated_in(loop)) and not _Iterations(nest, loop).are_apart(places)


def _allocated_in(loop: For) -> Iterator[Buffer]:
    for item in preorder(loop.body):
        match item:
            case DeclBuffer(buffer=buffer, pointer=None):
                yield buffer
            case Block(alloc_buffers=buffers):
                yield from buffers
            case _:
                pass


class _Iterations:
    """The iterations of a loop; the values of `bound` variables differ in them, those of a loop lie in `intervals`."""

    def __init__(self, nest: Nest, loop: For) -> None:
        self.var = loop.var
        self.bounds: Bounds = nest.bounds()
        self.bound: set[PrimVar] = set()
        self.intervals: dict[PrimVar, Interval] = {}
        for item in nest.loops[: nest.loops.index(loop)]:
            self._count(item)
        for item in preorder(loop):
            match item:
                case For(var=var):
                    self.bound.add(var)
                    self._count(item)
                case Block(iter_vars=axes):
                    for axis in axes:
                        self.bound.add(axis.var)
                        self.bounds.bind_let(axis.var, axis.binding)
                case _:
                    pass

    def _count(self, loop: For) -> None:
        if loop.step is None:
            self.bounds.enter_loop(loop)
            self.intervals[loop.var] = self.bounds.interval(loop.var)

    def are_apart(self, places: Sequence[Access]) -> bool:
        """Tell whether no two iterations meet in an element of these accesses of one buffer."""
        dimensions = list(zip(*(map(self.bounds.poly, item.indices) for item in places), strict=True))
        if any(map(self._is_injective, dimensions)):
            return True
        atoms = {number for dimension in dimensions for p in dimension for monomial in p for number in monomial}
        known = [number for number in atoms if any(self._is_divided(dimension, number) for dimension in dimensions)]
        digits = [digit for number in known if (digit := self._digit(number)) is not None]
        return any(
            self._determine(digit.source, [other for other in digits if other.source == digit.source])
            for digit in digits
        )

    def _is_injective(self, dimension: Sequence[Polynomial[int]]) -> bool:
        """Tell whether all accesses have one index, a sum of loop variables that is another one in each iteration."""
        terms: list[tuple[PrimVar, int, int]] = []
        for monomial, count in dimension[0].items():
            if all(map(self._is_constant, monomial)):
                continue
            var = self.bounds.atoms[monomial[0]].expr
            values = self.intervals.get(var) if len(monomial) == 1 and isinstance(var, PrimVar) else None
            if values is None or not isinstance(var, PrimVar):
                return False
            terms.append((var, count, values.high - values.low + 1))
        is_same = all(p == dimension[0] for p in dimension)
        return is_same and any(var is self.var for var, _, _ in terms) and overlapping(terms) is None

    def _digit(self, number: int) -> IterSplit | None:
        """Return an atom as a digit of a sum that the loop variable is part of, if it is one."""
        expr = self.bounds.atoms[number].expr
        splits = splits_of(expr, {}, self.intervals)
        if splits is None or len(splits) != 1 or splits[0].scale != 1:
            return None
        # A sum that wraps around is the same for different iterations.
        return splits[0] if splits[0].source.fits(dtype_of(expr), self.intervals) else None

    def _is_divided(self, dimension: Sequence[Polynomial[int]], digit: int) -> bool:
        """Tell whether accesses with equal indices in a dimension have the same digit."""
        parts = [split(p, digit) for p in dimension]
        steps = {None if item is None else constant_of(item[0]) for item in parts}
        (step, *others) = steps
        if others or not step:
            return False
        rests = [item[1] for item in parts if item is not None]
        base = self._base(rests[0])
        if any(self._base(rest) != base for rest in rests):
            return False
        around = [self.bounds.interval_of({key: n for key, n in rest.items() if key not in base}) for rest in rests]
        return max(item.high for item in around) - min(item.low for item in around) < abs(step)

    def _base(self, rest: Polynomial[int]) -> Polynomial[int]:
        """Return the terms that are the same in all iterations, without the constant."""
        return {atoms: count for atoms, count in rest.items() if atoms and all(map(self._is_constant, atoms))}

    def _is_constant(self, number: int) -> bool:
        atom = self.bounds.atoms[number]
        return atom.is_stable and self.bound.isdisjoint(preorder(atom.expr))

    def _determine(self, source: Affine, digits: Sequence[IterSplit]) -> bool:
        """Tell whether digits of `source` are all of a mixed-radix number, and `source` tells iterations apart."""
        place = 1
        is_whole = False
        for digit in sorted(digits, key=lambda item: item.lower_factor):
            if place % digit.lower_factor == 0:
                is_whole = is_whole or digit.extent is None
                place = max(place, digit.lower_factor * (digit.extent or 1))
        values = source.interval(self.intervals)
        inner = {var: n for var, n in source.coefficients.items() if var in self.bound and var is not self.var}
        around = Affine(0, inner).interval(self.intervals)
        is_largest = around is not None and around.high - around.low < abs(source.of(self.var))
        is_known = is_whole or (values is not None and values.is_within(Interval(0, place - 1)))
        return is_known and (is_largest or (around is not None and self._is_digit(source, inner)))

    def _is_digit(self, source: Affine, inner: Mapping[PrimVar, int]) -> bool:
        """Tell whether the loop variable follows from `source`, as all of the `inner` variables do."""
        counts = {**inner, self.var: source.of(self.var)}
        sizes = {var: self.intervals[var].high - self.intervals[var].low + 1 for var in counts}
        return source.of(self.var) != 0 and overlapping((var, n, sizes[var]) for var, n in counts.items()) is None
