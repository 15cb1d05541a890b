"""What is known about integer values at a point of a prim func, and what follows from it."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from relax_core.ir.integer.interval import EVERYTHING, NATURAL, Interval, dtype_interval, is_integral
from relax_core.ir.integer.polynomial import (
    Polynomial,
    add,
    constant,
    constant_of,
    degree,
    multiply,
    split,
    split_by_divisor,
)
from relax_core.ir.node import Node
from relax_core.ir.prim import Binary, BinaryKind, Cast, IntImm, Intrinsic, PrimExpr, PrimVar, Select, Unary, dtype_of
from relax_core.ir.tir import Buffer, For

# Shapes are bound from arrays, whose sizes stay below this.
DIMENSION = Interval(0, (1 << 47) - 1)
# A product of more terms, or of a higher degree, is not multiplied out: a short text could ask for millions of terms.
LARGEST_PRODUCT, HIGHEST_DEGREE = 256, 16
# So many of the facts assumed last are tried in a proof.
MOST_FACTS = 64


@dataclass(frozen=True, slots=True)
class Atom:
    """A value that the analysis does not look into.

    `lower` and `upper` bound it by atoms of smaller numbers. One that is not stable may differ between two
    evaluations, as a load does.
    """

    expr: PrimExpr
    interval: Interval
    lower: Polynomial[int] | None = None
    upper: Polynomial[int] | None = None
    is_stable: bool = True
    is_symbol: bool = False


class Bounds:
    """The facts that hold where the traversal stands; scopes are entered and left with `mark` and `leave`.

    With `is_ideal` arithmetic has no limits, as on paper; without, a result that might not fit its dtype is
    unknown, so what is proven holds for machine integers. Polynomials whose product would have more terms than
    `largest_product` are not multiplied out.
    """

    def __init__(
        self, values: Mapping[PrimVar, int], *, is_ideal: bool = False, largest_product: int = LARGEST_PRODUCT
    ) -> None:
        self.values = values
        self.largest_product = largest_product
        self.is_ideal = is_ideal
        self.atoms: list[Atom] = []
        self._number_of: dict[object, int] = {}
        self._alias: dict[PrimVar, Polynomial[int]] = {var: constant(value) for var, value in values.items()}
        self._facts: list[Polynomial[int]] = []
        self._laws: dict[int, tuple[Polynomial[int], ...]] = {}
        self._memo: dict[Node, Polynomial[int]] = {}

    def mark(self) -> int:
        """Return the point that `leave` goes back to."""
        return len(self._facts)

    def leave(self, mark: int) -> None:
        """Forget the facts assumed since `mark`."""
        del self._facts[mark:]

    def bind_symbol(self, var: PrimVar) -> None:
        """Declare a dimension whose value is not known."""
        limits = dtype_interval(var.dtype)
        interval = NATURAL if self.is_ideal else Interval(0, min(DIMENSION.high, limits.high))
        self._bind_atom(var, Atom(var, interval, is_symbol=True))

    def is_bound(self, var: PrimVar) -> bool:
        """Tell whether a variable was declared."""
        return var in self._alias

    def is_symbol(self, var: PrimVar) -> bool:
        """Tell whether a variable is a dimension or a scalar parameter, which has one value for a whole call."""
        number = next((monomial[0] for monomial in self._alias.get(var, {}) if monomial), None)
        return number is not None and self.atoms[number].is_symbol and self.atoms[number].expr is var

    def bind_scalar(self, var: PrimVar) -> None:
        """Declare a scalar parameter."""
        self._bind_atom(var, Atom(var, self._limits(var.dtype), is_symbol=True))

    def enter_loop(self, loop: For) -> None:
        """Declare the variable of a loop; what is proven holds inside its body, where the extent is positive."""
        start, extent = self.poly(loop.start), self.poly(loop.extent)
        first, count = self.interval_of(start), self.interval_of(extent)
        interval = Interval(first.low, first.high + max(count.high, 1) - 1)
        limits = self._limits(loop.var.dtype)
        if not interval.is_within(limits):
            self._bind_atom(loop.var, Atom(loop.var, limits))
            return
        upper = add(add(start, extent), constant(1), -1)
        if self._is_stable(extent):
            self._facts.append(add(extent, constant(1), -1))
        are_stable = self._is_stable(start) and self._is_stable(extent)
        bounded = Atom(loop.var, interval, start, upper) if are_stable else Atom(loop.var, interval)
        self._bind_atom(loop.var, bounded)

    def bind_let(self, var: PrimVar, value: PrimExpr) -> None:
        """Declare a variable that is equal to `value`."""
        if not _is_integral(value):
            self._bind_atom(var, Atom(var, dtype_interval(var.dtype)))
            return
        p = self.poly(value)
        if self._is_stable(p) and self.interval_of(p).is_within(self._limits(var.dtype)):
            self._memo.clear()
            self._alias[var] = p
        else:
            self._bind_atom(var, Atom(var, _within(self.interval_of(p), self._limits(var.dtype))))

    def assume(self, condition: PrimExpr, *, truth: bool = True) -> None:
        """Take for granted that `condition` is `truth` until the scope is left; loads in it are not relied on."""
        match condition, truth:
            case Unary(op="not", a=a), _:
                self.assume(a, truth=not truth)
            case (Binary(op="and", a=a, b=b), True) | (Binary(op="or", a=a, b=b), False):
                self.assume(a, truth=truth)
                self.assume(b, truth=truth)
            case Intrinsic(name="likely", args=(a,)), _:
                self.assume(a, truth=truth)
            case Binary(op=op, a=a, b=b), _ if op in _NEGATED and _are_alike(a, b):
                self._assume_comparison(op if truth else _NEGATED[op], self.poly(a), self.poly(b))
            case _:
                pass

    def poly(self, expr: PrimExpr) -> Polynomial[int]:
        """Return the value of an integer expression as a polynomial."""
        found = self._memo.get(expr)
        if found is None:
            found = self._memo[expr] = self._make_poly(expr)
        return found

    def interval(self, expr: PrimExpr) -> Interval:
        """Return an interval that holds every value of an integer expression."""
        return self.interval_of(self.poly(expr))

    def constant(self, expr: PrimExpr) -> int | None:
        """Return the value of an integer expression if it is known."""
        return constant_of(self.poly(expr)) if _is_integral(expr) else None

    def is_exact(self, expr: Binary) -> bool:
        """Tell whether the result of `+`, `-` or `*` surely fits its dtype."""
        p = self._arithmetic(expr.op, self.poly(expr.a), self.poly(expr.b))
        return p is not None and self.interval_of(p).is_within(dtype_interval(expr.dtype))

    def is_in_range(self, buffer: Buffer, dimension: int, index: PrimExpr) -> bool:
        """Tell whether `index` is proven to lie in the extent of `buffer`."""
        return all(self.is_nonnegative(goal) for goal in self.goals(buffer, dimension, index))

    def goals(self, buffer: Buffer, dimension: int, index: PrimExpr) -> tuple[Polynomial[int], Polynomial[int]]:
        """Return the two polynomials that are not negative just if `index` lies in range."""
        p = self.poly(index)
        return p, add(add(self.poly(buffer.shape[dimension]), p, -1), constant(1), -1)

    def is_nonnegative(self, p: Polynomial[int]) -> bool:
        """Tell whether `p >= 0` is proven."""
        if self.interval_of(p).low >= 0 or self.interval_of(least := self.least(p)).low >= 0:
            return True
        atoms = {number for monomial in least for number in monomial}
        laws = (law for number in atoms & self._laws.keys() for law in self._laws[number])
        known = (*self._facts[-MOST_FACTS:], *laws)
        return any(self.interval_of(self.least(add(p, fact, -1))).low >= 0 for fact in known)

    def least(self, p: Polynomial[int]) -> Polynomial[int]:
        """Return a polynomial that `p` is never below: bounded atoms are replaced, the innermost first."""
        rejected: set[int] = set()
        while candidates := {number for monomial in p for number in monomial} - rejected:
            number = max(candidates)
            atom = self.atoms[number]
            parts = split(p, number)
            bound = None
            if parts is not None and atom.lower is not None and atom.upper is not None:
                sign = self.interval_of(parts[0])
                bound = atom.lower if sign.low >= 0 else atom.upper if sign.high <= 0 else None
            if parts is None or bound is None:
                rejected.add(number)
            else:
                p = add(multiply(parts[0], bound), parts[1])
        return p

    def interval_of(self, p: Polynomial[int]) -> Interval:
        """Return an interval that holds every value of `p`."""
        low = high = 0
        for monomial, coefficient in p.items():
            term = Interval(coefficient, coefficient)
            for number in monomial:
                term = term.times(self.atoms[number].interval)
            low, high = low + term.low, high + term.high
        return Interval(low, high)

    def _make_poly(self, expr: PrimExpr) -> Polynomial[int]:
        match expr:
            case IntImm(value=value):
                return constant(value)
            case PrimVar() if expr in self._alias:
                return self._alias[expr]
            case Binary(op=op, a=a, b=b) if _are_alike(a, b):
                return self._binary(expr, op, self.poly(a), self.poly(b))
            case Unary(op="-", a=a) if _is_integral(a):
                return self._fitting(expr, add({}, self.poly(a), -1))
            case Cast(value=value) if _is_integral(value) and expr.dtype != "bool":
                return self._fitting(expr, self.poly(value))
            case Select(true_value=a, false_value=b) if _is_integral(a) and _is_integral(b):
                return self._opaque(object(), expr, self.interval(a).union(self.interval(b)), is_stable=False)
            case Intrinsic(name="likely", args=(a,)) if _is_integral(a) and dtype_of(a) == expr.dtype:
                return self.poly(a)
            case _:
                return self._opaque(object(), expr, EVERYTHING, is_stable=False)

    def _binary(self, expr: Binary, op: BinaryKind, a: Polynomial[int], b: Polynomial[int]) -> Polynomial[int]:
        exact = self._arithmetic(op, a, b)
        if exact is not None:
            return self._fitting(expr, exact)
        x, y = self.interval_of(a), self.interval_of(b)
        divisor = constant_of(b)
        if op in ("truncdiv", "truncmod", "/") and x.low >= 0 and y.low > 0:
            op = "%" if op == "truncmod" else "//"
        interval = EVERYTHING
        match op:
            case "//" | "%" if divisor is not None and divisor > 0:
                quotient, rest = split_by_divisor(a, divisor)
                if self.interval_of(rest).is_within(Interval(0, divisor - 1)):
                    return quotient if op == "//" else rest
                interval = x.floordiv(y) if op == "//" else x.floormod(y)
            case "//" if y != (0, 0):
                interval = x.floordiv(y)
            case "%" if y != (0, 0):
                interval = x.floormod(y)
            case "*":
                interval = x.times(y)
            case "min":
                interval = Interval(min(x.low, y.low), min(x.high, y.high))
            case "max":
                interval = Interval(max(x.low, y.low), max(x.high, y.high))
            case "&" if x.low >= 0 or y.low >= 0:
                interval = Interval(0, min(side.high for side in (x, y) if side.low >= 0))
            case ">>" if 0 <= y.low <= y.high < 64:
                interval = Interval(min(x.low, 0), max(x.high, 0))
            case _:
                pass
        key = (op, frozenset(a.items()), frozenset(b.items()), expr.dtype)
        are_stable = self._is_stable(a) and self._is_stable(b)
        # A divisor that may be zero ends the run there, so where there is a remainder, it is less than the divisor.
        upper = add(b, constant(1), -1) if op == "%" and y.low >= 0 and are_stable else None
        found = self._opaque(key, expr, interval, is_stable=are_stable, upper=upper)
        if op == "//" and divisor is not None and divisor > 0 and are_stable:
            # A quotient is rounded down: `0 <= a - divisor * quotient < divisor`.
            ((number,),) = found
            rest = add(a, found, -divisor)
            self._laws[number] = (rest, add(constant(divisor - 1), rest, -1))
        return found

    def _arithmetic(self, op: BinaryKind, a: Polynomial[int], b: Polynomial[int]) -> Polynomial[int] | None:
        match op:
            case "+" | "-" if len(a) + len(b) <= LARGEST_PRODUCT or not (a and b):
                return add(a, b, 1 if op == "+" else -1)
            case "*" if (
                len(a) * len(b) <= max(self.largest_product, len(a), len(b)) and degree(a) + degree(b) <= HIGHEST_DEGREE
            ):
                return multiply(a, b)
            case _:
                return None

    def _fitting(self, expr: PrimExpr, exact: Polynomial[int]) -> Polynomial[int]:
        """Return `exact` if it surely fits the dtype of `expr`, else an unknown value of that dtype."""
        if self.is_ideal or self.interval_of(exact).is_within(self._limits(dtype_of(expr))):
            return exact
        key = (frozenset(exact.items()), dtype_of(expr))
        return self._opaque(key, expr, EVERYTHING, is_stable=self._is_stable(exact))

    def _opaque(
        self, key: object, expr: PrimExpr, interval: Interval, *, is_stable: bool, upper: Polynomial[int] | None = None
    ) -> Polynomial[int]:
        number = self._number_of.get(key)
        if number is None:
            number = self._number_of[key] = len(self.atoms)
            lower = None if upper is None else constant(0)
            within = _within(interval, self._limits(dtype_of(expr)))
            self.atoms.append(Atom(expr, within, lower, upper, is_stable=is_stable))
        return {(number,): 1}

    def _bind_atom(self, var: PrimVar, atom: Atom) -> None:
        self._memo.clear()
        self._alias[var] = {(len(self.atoms),): 1}
        self.atoms.append(atom)

    def _assume_comparison(self, op: BinaryKind, a: Polynomial[int], b: Polynomial[int]) -> None:
        if not (self._is_stable(a) and self._is_stable(b)):
            return
        difference = add(b, a, -1)
        match op:
            case "<":
                self._facts.append(add(difference, constant(1), -1))
            case "<=":
                self._facts.append(difference)
            case ">":
                self._facts.append(add(add({}, difference, -1), constant(1), -1))
            case ">=":
                self._facts.append(add({}, difference, -1))
            case "==":
                self._facts += (difference, add({}, difference, -1))
            case _:
                pass

    def _is_stable(self, p: Polynomial[int]) -> bool:
        return all(self.atoms[number].is_stable for monomial in p for number in monomial)

    def _limits(self, dtype: str) -> Interval:
        return EVERYTHING if self.is_ideal and dtype.startswith("int") else dtype_interval(dtype)


_NEGATED: Mapping[BinaryKind, BinaryKind] = MappingProxyType(
    {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "=="}
)


def _is_integral(expr: PrimExpr) -> bool:
    return is_integral(dtype_of(expr))


def _are_alike(a: PrimExpr, b: PrimExpr) -> bool:
    """Tell whether both are integers of one dtype, so that an operation of them converts nothing."""
    return _is_integral(a) and dtype_of(a) == dtype_of(b)


def _within(interval: Interval, limits: Interval) -> Interval:
    """Return `interval`, or all of `limits` if a value might not fit and so wrap around."""
    return interval if interval.is_within(limits) else limits
