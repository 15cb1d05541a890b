"""Canonical form of integer expressions, what it proves, and their values."""

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import TypeAlias

from relax_core.ir.node import Node, map_children, postorder
from relax_core.ir.prim import (
    Binary,
    BinaryKind,
    Cast,
    FloatImm,
    IntImm,
    Intrinsic,
    PrimExpr,
    PrimVar,
    Select,
    StringImm,
    Unary,
    binary,
    dtype_of,
)

Atom: TypeAlias = "int | str | tuple[Atom, ...]"
Monomial: TypeAlias = tuple[Atom, ...]
Polynomial: TypeAlias = Mapping[Monomial, int]
Scalar: TypeAlias = "int | float | bool | str"

# A product of more terms, of a higher degree, or of a number of more bits is an atom: a power of a sum that fits one
# line would have millions of terms.
LARGEST_PRODUCT, HIGHEST_DEGREE, LARGEST_BITS = 1024, 64, 4096
WORD_BITS = 64


def prove_equal(a: PrimExpr, b: PrimExpr) -> bool:
    """Tell whether `a` equals `b` for all values of their variables, as far as polynomials over atoms show it.

    Atoms are variables and the operations `//`, `%`, `min`, `max`, ... on canonical operands; `n * m == m * n` and
    `2 * (n + 1) == n + n + 2` are proven. Complexity: the size of the expanded polynomials, which is limited.
    """
    return a is b or _difference(a, b) == {}


def prove_different(a: PrimExpr, b: PrimExpr) -> bool:
    """Tell whether `a` and `b` differ for all values of their variables: their difference is a non-zero constant."""
    difference = _difference(a, b)
    return list(difference) == [()]


def constant_value(expr: PrimExpr) -> int | None:
    """Return the integer that `expr` equals, `None` if it depends on a variable."""
    polynomial = _polynomial(expr, {})
    return polynomial.get((), 0) if set(polynomial) <= {()} else None


def simplify(expr: PrimExpr) -> PrimExpr:
    """Return a canonical expression equal to `expr`; floats and strings stay as they are."""
    if isinstance(expr, IntImm | PrimVar) or not dtype_of(expr).startswith(("int", "uint")):
        return expr
    atoms: dict[Atom, PrimExpr] = {}
    polynomial = _polynomial(expr, atoms)
    return _expression(polynomial, atoms, dtype_of(expr))


def canonical_key(expr: PrimExpr) -> tuple[Atom, ...]:
    """Return a value that is the same for expressions that are provably equal."""
    return tuple(sorted(((*monomial, count) for monomial, count in _polynomial(expr, {}).items()), key=repr))


def _difference(a: PrimExpr, b: PrimExpr) -> Polynomial:
    return _add(_polynomial(a, {}), _polynomial(b, {}), -1)


def _add(a: Polynomial, b: Polynomial, factor: int = 1) -> dict[Monomial, int]:
    result = dict(a)
    for monomial, count in b.items():
        result[monomial] = result.get(monomial, 0) + factor * count
    return {monomial: count for monomial, count in result.items() if count}


def _multiply(a: Polynomial, b: Polynomial) -> dict[Monomial, int]:
    result: dict[Monomial, int] = {}
    for left, x in a.items():
        for right, y in b.items():
            monomial = tuple(sorted((*left, *right), key=repr))
            result[monomial] = result.get(monomial, 0) + x * y
    return {monomial: count for monomial, count in result.items() if count}


def _polynomial(expr: PrimExpr, atoms: dict[Atom, PrimExpr]) -> Polynomial:
    """Expand `expr`, filling `atoms` with the expression of each atom."""
    memo: dict[Node, Polynomial] = {}
    for current in postorder(expr):
        assert isinstance(current, PrimExpr), "only scalar expressions have a canonical form"
        memo[current] = _expand(current, memo, atoms)
    return memo[expr]


def _expand(expr: PrimExpr, memo: Mapping[Node, Polynomial], atoms: dict[Atom, PrimExpr]) -> Polynomial:
    match expr:
        case IntImm(value=value):
            return {(): value} if value else {}
        case Binary(op="+" | "-" as op, a=a, b=b) if not dtype_of(expr).startswith("float"):
            return _add(memo[a], memo[b], 1 if op == "+" else -1)
        case Binary(op="*", a=a, b=b) if not dtype_of(expr).startswith("float"):
            if _is_small(memo[a], memo[b]):
                return _multiply(memo[a], memo[b])
            # Known by itself: what it is made of would be compared again in all that it is part of.
            key = ("node", id(expr))
            atoms.setdefault(key, expr)
            return {(key,): 1}
        case Unary(op="-", a=a) if not dtype_of(expr).startswith("float"):
            return _add({}, memo[a], -1)
        case Cast(value=value) if dtype_of(expr).startswith("int") and dtype_of(value).startswith("int"):
            return memo[value]
        case Binary(op=op, a=a, b=b):
            folded = _fold(op, memo[a], memo[b])
            if folded is not None:
                return folded
        case _:
            pass
    return _atom(expr, memo, atoms)


def _is_small(a: Polynomial, b: Polynomial) -> bool:
    """Tell whether a product is multiplied out."""
    degree = sum(max(map(len, factor), default=0) for factor in (a, b))
    bits = sum(max((count.bit_length() for count in factor.values()), default=0) for factor in (a, b))
    return len(a) * len(b) <= LARGEST_PRODUCT and degree <= HIGHEST_DEGREE and bits <= LARGEST_BITS


def _fold(op: BinaryKind, a: Polynomial, b: Polynomial) -> Polynomial | None:
    """Fold an operation on constants, and the division of a polynomial by a constant that divides it."""
    divisor = b.get((), 0) if set(b) <= {()} else None
    if op == "*" or (op in ("<<", ">>") and (divisor is None or not 0 <= divisor < WORD_BITS)):
        return None
    if op in ("//", "%") and divisor and all(count % divisor == 0 for count in a.values()):
        return {monomial: count // divisor for monomial, count in a.items()} if op == "//" else {}
    if set(a) <= {()} and divisor is not None and (divisor or op not in ("//", "%", "truncdiv", "truncmod", "/")):
        value = _OPERATIONS[op](a.get((), 0), divisor)
        return {(): int(value)} if value else {}
    if op in ("min", "max") and a == b:
        return a
    if op in ("min", "max") and set(difference := _add(a, b, -1)) == {()}:
        is_a_less = difference[()] < 0
        return a if is_a_less == (op == "min") else b
    return None


def _atom(expr: PrimExpr, memo: Mapping[Node, Polynomial], atoms: dict[Atom, PrimExpr]) -> Polynomial:
    key = _atom_key(expr, memo)
    atoms.setdefault(key, expr)
    return {(key,): 1}


def _atom_key(expr: PrimExpr, memo: Mapping[Node, Polynomial]) -> Atom:
    def parts(*items: PrimExpr) -> tuple[Atom, ...]:
        return tuple(
            tuple(sorted(((*monomial, count) for monomial, count in memo[item].items()), key=repr)) for item in items
        )

    match expr:
        case PrimVar():
            return ("var", expr.name, id(expr))
        case FloatImm(value=value):
            return ("float", value.hex())
        case StringImm(value=value):
            return ("string", value)
        case Binary(op=op, a=a, b=b):
            operands = parts(a, b)
            is_commutative = op in ("*", "+", "min", "max", "==", "!=", "and", "or", "&", "|", "^")
            return (op, *(sorted(operands, key=repr) if is_commutative else operands))
        case Unary(op=op, a=a):
            return (op, *parts(a))
        case Cast(value=value, dtype=dtype):
            return ("cast", dtype, *parts(value))
        case Select(condition=condition, true_value=yes, false_value=no):
            return ("select", *parts(condition, yes, no))
        case Intrinsic(name=name, args=args):
            return ("call", name, *parts(*args))
        case _:
            return ("node", id(expr))


def _expression(polynomial: Polynomial, atoms: Mapping[Atom, PrimExpr], dtype: str) -> PrimExpr:
    """Write a polynomial as an expression: variables in order of name, the constant last."""
    result: PrimExpr | None = None
    for monomial, count in sorted(polynomial.items(), key=lambda item: (not item[0], -len(item[0]), repr(item[0]))):
        term: PrimExpr | None = None
        for atom in monomial:
            part = atoms[atom]
            term = part if term is None else binary("*", term, part)
        size = abs(count)
        if term is None:
            term = IntImm(size, dtype)
        elif size != 1:
            term = binary("*", term, IntImm(size, dtype))
        if result is None:
            result = term if count > 0 else binary("-", IntImm(0, dtype), term)
        else:
            result = binary("+" if count > 0 else "-", result, term)
    return IntImm(0, dtype) if result is None else result


def _shift_amount(value: int) -> int:
    """Return by how many bits is shifted; a shift by any other number has no value."""
    if not 0 <= value < WORD_BITS:
        raise KeyError("<<")
    return value


def _truncdiv(a: int, b: int) -> int:
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


_OPERATIONS = MappingProxyType[BinaryKind, Callable[[int, int], int | bool]](
    {
        "+": lambda a, b: a + b,
        "-": lambda a, b: a - b,
        "*": lambda a, b: a * b,
        "//": lambda a, b: a // b,
        "/": _truncdiv,
        "%": lambda a, b: a % b,
        "truncdiv": _truncdiv,
        "truncmod": lambda a, b: a - b * _truncdiv(a, b),
        "min": min,
        "max": max,
        "==": lambda a, b: a == b,
        "!=": lambda a, b: a != b,
        "<": lambda a, b: a < b,
        "<=": lambda a, b: a <= b,
        ">": lambda a, b: a > b,
        ">=": lambda a, b: a >= b,
        "and": lambda a, b: bool(a and b),
        "or": lambda a, b: bool(a or b),
        "&": lambda a, b: a & b,
        "|": lambda a, b: a | b,
        "^": lambda a, b: a ^ b,
        "<<": lambda a, b: a << _shift_amount(b),
        ">>": lambda a, b: a >> _shift_amount(b),
    }
)


def evaluate(expr: PrimExpr, values: Mapping[PrimVar, int | float | bool]) -> Scalar:
    """Return the value of `expr`, a Python int, float, bool or str.

    Raises:
        KeyError: a variable has no value, or a shift is by no number of bits.
        ZeroDivisionError: a division by zero.
    """
    memo: dict[Node, Scalar] = {}
    for current in postorder(expr):
        assert isinstance(current, PrimExpr), "only scalar expressions have a value"
        memo[current] = _value(current, memo, values)
    return memo[expr]


def _value(expr: PrimExpr, memo: Mapping[Node, Scalar], values: Mapping[PrimVar, int | float | bool]) -> Scalar:
    match expr:
        case PrimVar():
            return values[expr]
        case IntImm(value=value, dtype=dtype):
            return bool(value) if dtype == "bool" else value
        case FloatImm(value=value) | StringImm(value=value):
            return value
        case Binary(op=op, a=a, b=b):
            left, right = memo[a], memo[b]
            if op == "/" and isinstance(left, float) and isinstance(right, float | int):
                return left / right
            return _OPERATIONS[op](left, right)  # pyright: ignore[reportArgumentType]  # floats work alike
        case Unary(op=op, a=a):
            operand = memo[a]
            assert not isinstance(operand, str), "no operation on strings"
            return -operand if op == "-" else not operand if op == "not" else ~int(operand)
        case Cast(value=value, dtype=dtype):
            return _cast(memo[value], dtype)
        case Select(condition=condition, true_value=yes, false_value=no):
            return memo[yes] if memo[condition] else memo[no]
        case Intrinsic(name=name, args=args):
            function: Callable[..., float] | None = getattr(math, name, None) if name in _MATH else None
            if function is None:
                raise KeyError(name)
            return function(*(memo[arg] for arg in args))
        case _:
            raise KeyError(type(expr).__name__)


_MATH = ("exp", "log", "sqrt", "pow", "floor", "ceil", "sin", "cos", "tan", "tanh", "fabs", "log2", "log10")


def _cast(value: Scalar, dtype: str) -> Scalar:
    match dtype:
        case "bool":
            return bool(value)
        case _ if dtype.startswith("float"):
            return float(value)
        case _:
            return int(value)


def replace_symbols(expr: PrimExpr, symbols: Mapping[PrimVar, PrimExpr]) -> PrimExpr:
    """Return `expr` with the variables in `symbols` replaced; integer constants fold."""
    memo: dict[Node, Node] = {}
    for current in postorder(expr):
        rebuilt = map_children(current, memo.__getitem__)
        match rebuilt:
            case PrimVar() if rebuilt in symbols:
                memo[current] = symbols[rebuilt]
            case Binary(op=op, a=IntImm(), b=IntImm()) if op not in ("/", "//", "%"):
                folded = simplify(rebuilt)
                # A sum that wraps around is left to who computes it.
                memo[current] = _with_span(folded, current) if _fits(folded) else rebuilt
            case _:
                memo[current] = rebuilt
    result = memo[expr]
    assert isinstance(result, PrimExpr), "a scalar expression stays one"
    return result


def _fits(expr: PrimExpr) -> bool:
    """Tell whether a literal is a number of its dtype."""
    if not isinstance(expr, IntImm) or expr.dtype == "bool":
        return True
    bits = int("".join(filter(str.isdigit, expr.dtype)) or "64")
    is_unsigned = expr.dtype.startswith("uint")
    return (0 if is_unsigned else -(1 << bits - 1)) <= expr.value < 1 << (bits if is_unsigned else bits - 1)


def _with_span(new: PrimExpr, old: Node) -> PrimExpr:
    return replace(new, span=old.span) if new.span is None and old.span is not None else new
