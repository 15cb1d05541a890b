"""Which elements of a buffer the statements in a loop read in one of its iterations."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from math import gcd

from relax_core.ir.integer.bounds import Bounds
from relax_core.ir.integer.interval import Interval, is_integral
from relax_core.ir.node import Node, map_children, postorder, preorder
from relax_core.ir.prim import Binary, IntImm, PrimExpr, PrimVar, binary, dtype_of
from relax_core.ir.rewriting.substitute import replace_symbols
from relax_core.ir.tir import Block, Buffer, BufferLoad, For
from relax_core.passes.tir.arithmetic import Terms, fits, terms_of, tidy, written


@dataclass(frozen=True, slots=True)
class IndexRange:
    """The indices from the sum `start`, `extent` of them, in one dimension of a buffer."""

    start: Terms
    extent: int

    @property
    def constant(self) -> int:
        """What is added in `start` to that which varies."""
        return self.start[""][1] if "" in self.start else 0

    def first(self, dtype: str) -> PrimExpr:
        """Write `start`; with nothing but its constant to subtract from, that comes first, as in `5 - i`."""
        varying: Terms = {key: item for key, item in self.start.items() if key and item[1]}
        if self.constant <= 0 or not varying or any(count > 0 for _, count in varying.values()):
            return written(self.start, dtype)
        negated = written({key: (atom, -count) for key, (atom, count) in varying.items()}, dtype)
        return binary("-", IntImm(self.constant, dtype), negated)

    def is_same(self, other: "IndexRange") -> bool:
        """Tell whether both are known to hold the same indices."""
        ends = [(item.constant, item.extent) for item in (self, other)]
        return ends[0] == ends[1] and _factors(self.start) == _factors(other.start)

    def joined(self, other: "IndexRange") -> "IndexRange | None":
        """Return a range that holds both; `None` if it is not known how far they are apart."""
        if _factors(self.start) != _factors(other.start):
            return None
        first = min(self, other, key=lambda item: item.constant)
        end = max(self.constant + self.extent, other.constant + other.extent)
        return replace(first, extent=end - first.constant)


def reads_under(
    loop: For, buffer: Buffer, bounds: Bounds, outside: Collection[PrimVar]
) -> tuple[IndexRange | None, ...]:
    """Return for each dimension of `buffer` the indices that one iteration of `loop` reads; `None`: any of them.

    `outside` are the variables that have one value in all of an iteration. The ranges may be larger than what is read,
    and they may hold indices that the buffer does not have. `bounds` knows the loops around the body; those in it are
    entered.
    """
    values: dict[PrimVar, PrimExpr] = {}
    for item in preorder(loop.body):
        match item:
            case For(step=None):
                bounds.enter_loop(item)
            case Block(iter_vars=axes):
                values.update({axis.var: replace_symbols(axis.binding, values) for axis in axes})
            case _:
                pass
    loads = [item for item in preorder(loop.body) if isinstance(item, BufferLoad) and item.buffer is buffer]
    found = [[_range(replace_symbols(index, values), bounds, outside) for index in load.indices] for load in loads]
    return tuple(map(_all_joined, zip(*found, strict=True)))


def _all_joined(ranges: Sequence[IndexRange | None]) -> IndexRange | None:
    result = ranges[0]
    for item in ranges[1:]:
        result = None if result is None or item is None else result.joined(item)
    return result


def _range(index: PrimExpr, bounds: Bounds, outside: Collection[PrimVar]) -> IndexRange | None:
    """Return the values of an index while only variables that are not `outside` change."""
    if not is_integral(dtype_of(index)) or not fits(index, bounds):
        return None
    made = tidy(_by_common_factor(index, bounds), bounds)
    if not fits(made, bounds):
        return None
    terms = terms_of(made)
    start: Terms = {}
    rest: Terms = {}
    for key, (atom, count) in terms.items():
        variables = [item for item in preorder(atom) if isinstance(item, PrimVar)]
        is_fixed = not any(isinstance(item, BufferLoad) for item in preorder(atom))
        (start if is_fixed and all(item in outside for item in variables) else rest)[key] = (atom, count)
    limits = Interval(0, 0)
    for atom, count in rest.values():
        limits = limits.plus(bounds.interval(atom), count)
    constant = (start[""][1] if "" in start else 0) + limits.low
    start[""] = (IntImm(0, dtype_of(index)), constant)
    return IndexRange(start, limits.high - limits.low + 1)


def _factors(terms: Terms) -> dict[str, int]:
    return {key: count for key, (_, count) in terms.items() if key and count}


def _by_common_factor(expr: PrimExpr, bounds: Bounds) -> PrimExpr:
    """Return `expr` with a factor of dividend and divisor taken out: `(i * 5 + j) // 20` is `i // 4` for `j < 5`."""
    memo: dict[Node, Node] = {}
    for current in postorder(expr):
        rebuilt = map_children(current, memo.__getitem__)
        match rebuilt:
            case Binary(op="//" | "%", a=a, b=IntImm(value=divisor), dtype=dtype) if divisor > 1 and is_integral(dtype):
                memo[current] = _reduced(rebuilt, terms_of(a), divisor, bounds)
            case _:
                memo[current] = rebuilt
    result = memo[expr]
    assert isinstance(result, PrimExpr), "a scalar expression stays one"
    return result


def _reduced(expr: Binary, terms: Terms, divisor: int, bounds: Bounds) -> PrimExpr:
    """Divide by a common factor `g`: `(g * x + r) // (g * m)` is `x // m`, the remainder `x % m * g + r`.

    It holds for `0 <= r < g`, if the sums do not wrap around.
    """
    if not fits(expr.a, bounds):
        return expr
    for factor in sorted({gcd(divisor, count) for _, count in terms.values()} - {1}, reverse=True):
        whole: Terms = {key: (atom, count // factor) for key, (atom, count) in terms.items() if count % factor == 0}
        rest = written({key: item for key, item in terms.items() if key not in whole}, expr.dtype)
        values, quotient = bounds.interval(rest), written(whole, expr.dtype)
        if not whole or values.low < 0 or values.high >= factor or not fits(quotient, bounds):
            continue
        if expr.op == "//":
            return quotient if factor == divisor else binary("//", quotient, IntImm(divisor // factor, expr.dtype))
        if factor == divisor:
            return rest
        scaled = binary("*", binary("%", quotient, IntImm(divisor // factor, expr.dtype)), IntImm(factor, expr.dtype))
        return binary("+", scaled, rest)
    return expr
