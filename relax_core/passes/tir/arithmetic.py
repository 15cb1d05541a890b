"""Sums of products in the order in which they are written, as TVM's schedules and lowering print them."""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from relax_core.ir.integer.bounds import Bounds
from relax_core.ir.integer.interval import dtype_interval, is_integral, wrap
from relax_core.ir.integer.prove import canonical_key
from relax_core.ir.node import Node, map_children, postorder
from relax_core.ir.prim import COMPARISONS, Binary, IntImm, Intrinsic, PrimExpr, PrimVar, binary, dtype_of
from relax_core.ir.tir import PrimFunc

Terms = dict[str, tuple[PrimExpr, int]]
"""A sum: per atom, by its key, the atom and its factor, in the order of first occurrence; "" is the constant."""


def bounds_of(function: PrimFunc) -> Bounds:
    """Return what is known of the dimensions and the scalar parameters of a function."""
    bounds = Bounds({})
    for item in function.buffers:
        for dim in item.buffer.shape:
            if isinstance(dim, PrimVar) and not bounds.is_bound(dim):
                bounds.bind_symbol(dim)
    for param in function.params:
        if is_integral(param.dtype) and not bounds.is_bound(param):
            bounds.bind_scalar(param)
    return bounds


def tidy(expr: PrimExpr, bounds: Bounds | None = None) -> PrimExpr:
    """Return `expr` with sums multiplied out, literals folded, and `//` and `%` taken where `bounds` prove it.

    Sums and products of integers are numbers modulo a power of two, so that their order does not matter; a quotient
    or a remainder of a sum is split only where the sum is proven to fit its dtype. Floats stay as they are.
    """
    known = Bounds({}) if bounds is None else bounds
    memo: dict[Node, Node] = {}
    for current in postorder(expr):
        rebuilt = map_children(current, memo.__getitem__) if isinstance(current, PrimExpr) else current
        memo[current] = _step(rebuilt, known) if isinstance(rebuilt, PrimExpr) else rebuilt
    result = memo[expr]
    assert isinstance(result, PrimExpr), "a scalar expression stays one"
    return result


def _step(expr: PrimExpr, bounds: Bounds) -> PrimExpr:
    match expr:
        case Binary(op="+" | "-" | "*", dtype=dtype) if is_integral(dtype):
            made = written(terms_of(expr), dtype)
            return expr if _is_same(made, expr) else made
        case Binary(op="//" | "%", a=a, b=IntImm(value=divisor), dtype=dtype) if divisor > 0 and is_integral(dtype):
            return _divided(expr, a, divisor, bounds)
        case Binary(op=op, a=a, b=b) if op in COMPARISONS and is_integral(dtype_of(a)) and dtype_of(a) == dtype_of(b):
            value = compared(expr, bounds)
            return expr if value is None else IntImm(int(value), "bool", span=expr.span)
        case Binary(op="and" | "or", a=a, b=b):
            return _logical(expr, a, b)
        case Binary(op="min" | "max", a=IntImm(value=x), b=IntImm(value=y), dtype=dtype):
            return IntImm(min(x, y) if expr.op == "min" else max(x, y), dtype, span=expr.span)
        case Intrinsic(name="likely", args=(IntImm() as value,)):
            return value
        case _:
            return expr


def _is_same(a: PrimExpr, b: PrimExpr) -> bool:
    """Tell whether two expressions are written alike, so that the one that has a place in the text is kept."""
    match a, b:
        case Binary(), Binary():
            return a.op == b.op and _is_same(a.a, b.a) and _is_same(a.b, b.b)
        case IntImm(), IntImm():
            return (a.value, a.dtype) == (b.value, b.dtype)
        case _:
            return a is b


def terms_of(expr: PrimExpr) -> Terms:
    """Return `expr` as a sum; what is no sum and no product with a literal is an atom."""
    terms: Terms = {}
    stack: list[tuple[PrimExpr, int]] = [(expr, 1)]
    while stack:
        item, factor = stack.pop()
        match item:
            case IntImm(value=value):
                _add(terms, "", item, value * factor)
            case Binary(op="+", a=a, b=b):
                stack += [(b, factor), (a, factor)]
            case Binary(op="-", a=a, b=b):
                stack += [(b, -factor), (a, factor)]
            case Binary(op="*", a=a, b=IntImm(value=value)) | Binary(op="*", a=IntImm(value=value), b=a):
                stack.append((a, factor * value))
            case _:
                _add(terms, _key(item), item, factor)
    return _joined(terms)


def _joined(terms: Terms) -> Terms:
    """Join `x // c * c + x % c` to `x`; where `x` is `y % m` for a multiple `m` of `c`, the rest may be `y % c`."""
    quotients = [key for key, (atom, _) in terms.items() if isinstance(atom, Binary) and atom.op == "//"]
    for place in quotients:
        atom, factor = terms[place]
        if not isinstance(atom, Binary) or not isinstance(atom.b, IntImm):
            continue
        step = atom.b.value
        rest = next((key for key, item in terms.items() if _is_rest(atom, step, item, factor)), None)
        if rest is not None:
            given = terms.pop(rest)[1]
            terms = {key: (atom.a, given) if key == place else item for key, item in terms.items()}
    return terms


def _is_rest(quotient: Binary, step: int, item: tuple[PrimExpr, int], factor: int) -> bool:
    match item, quotient.a:
        case (Binary(op="%", a=value, b=IntImm(value=by)), count), whole if by == step > 0 and count * step == factor:
            match whole:
                case Binary(op="%", a=inner, b=IntImm(value=modulus)) if modulus % step == 0:
                    return _key(inner) == _key(value) or _key(whole) == _key(value)
                case _:
                    return _key(whole) == _key(value)
        case _:
            return False


def _key(atom: PrimExpr) -> str:
    return f"v{id(atom)}" if isinstance(atom, PrimVar) else canonical_key(atom, wraps=True)


def _add(terms: Terms, key: str, atom: PrimExpr, factor: int) -> None:
    first, known = terms.get(key, (atom, 0))
    terms[key] = (first, known + factor)


def written(terms: Terms, dtype: str) -> PrimExpr:
    """Write a sum, the constant last; factors wrap around as the dtype does."""
    result: PrimExpr | None = None
    ordered = [item for key, item in terms.items() if key]
    constant = wrap(terms[""][1], dtype) if "" in terms else 0
    for atom, factor in sorted(ordered, key=lambda item: wrap(item[1], dtype) < 0):
        count = wrap(factor, dtype)
        if count == 0:
            continue
        part = atom if abs(count) == 1 else binary("*", atom, IntImm(abs(count), dtype))
        if result is None:
            result = part if count > 0 else binary("*", atom, IntImm(count, dtype))
        else:
            result = binary("+" if count > 0 else "-", result, part)
    if result is None:
        return IntImm(constant, dtype)
    if constant:
        result = binary("+" if constant > 0 else "-", result, IntImm(abs(constant), dtype))
    return result


def _divided(expr: Binary, a: PrimExpr, divisor: int, bounds: Bounds) -> PrimExpr:
    """Split a sum into what `divisor` divides and the rest, where neither can have wrapped around."""
    is_quotient = expr.op == "//"
    if isinstance(a, IntImm):
        return IntImm(a.value // divisor if is_quotient else a.value % divisor, expr.dtype, span=expr.span)
    if divisor == 1:
        return a if is_quotient else IntImm(0, expr.dtype, span=expr.span)
    if not fits(a, bounds):
        return expr
    terms = terms_of(a)
    whole: Terms = {key: (atom, count // divisor) for key, (atom, count) in terms.items() if count % divisor == 0}
    rest: Terms = {key: item for key, item in terms.items() if key not in whole}
    left = written(rest, expr.dtype)
    if not fits(left, bounds):
        return expr
    interval = bounds.interval(left)
    if interval.low >= 0 and interval.high < divisor:
        return written(whole, expr.dtype) if is_quotient else left
    if not any(count for _, count in whole.values()) or interval.low < 0:
        return expr
    remaining = Binary(expr.op, left, IntImm(divisor, expr.dtype), expr.dtype, span=expr.span)
    return binary("+", written(whole, expr.dtype), remaining) if is_quotient else remaining


def fits(expr: PrimExpr, bounds: Bounds) -> bool:
    """Tell whether the value of `expr` is proven not to have wrapped around."""
    interval, limits = bounds.interval(expr), dtype_interval(dtype_of(expr))
    return interval.is_within(limits) and interval != limits


_COMPARED: Mapping[str, Callable[[int, int], tuple[bool, bool]]] = MappingProxyType({
    "<": lambda low, high: (high < 0, low >= 0),
    "<=": lambda low, high: (high <= 0, low > 0),
    ">": lambda low, high: (low > 0, high <= 0),
    ">=": lambda low, high: (low >= 0, high < 0),
    "==": lambda low, high: (low == high == 0, low > 0 or high < 0),
    "!=": lambda low, high: (low > 0 or high < 0, low == high == 0),
})  # fmt: skip
"""Whether a comparison surely holds, and surely does not, for a difference between two bounds."""


def compared(expr: Binary, bounds: Bounds) -> bool | None:
    """Return the value of a comparison of integers, `None` if it is not proven."""
    a, b = bounds.interval(expr.a), bounds.interval(expr.b)
    holds, fails = _COMPARED[expr.op](a.low - b.high, a.high - b.low)
    return True if holds else False if fails else None


def _logical(expr: Binary, a: PrimExpr, b: PrimExpr) -> PrimExpr:
    is_and = expr.op == "and"
    match a, b:
        case IntImm(value=value), other if bool(value) == is_and:
            return other
        case IntImm(), _:
            return a
        case other, IntImm(value=value) if bool(value) == is_and:
            return other
        case _:
            return expr
