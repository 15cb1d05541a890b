"""What is known of integers without facts about their variables: equality, difference, a constant, a canonical form.

A count, as a shape or a stride, has a value only where every step of its computation fits its dtype; what is proven
holds wherever there is one. So `n * 2 // 2` equals `n` for counts. It does not for scalars, which wrap around: with
`wraps`, sums and products are of numbers modulo the size of their dtype, and nothing else is seen through.
"""

from collections.abc import Mapping
from hashlib import blake2b

from relax_core.ir.integer.evaluate import LARGEST_BITS, NoValueError, combine
from relax_core.ir.integer.interval import is_integral, wrap
from relax_core.ir.integer.polynomial import Polynomial, add, constant, constant_of, degree, multiply
from relax_core.ir.node import Node, postorder
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

# A product of more terms, of a higher degree, or of a number of more bits is an atom: a power of a sum that fits one
# line would have millions of terms.
LARGEST_PRODUCT, HIGHEST_DEGREE = 1024, 64
# Longer keys of atoms are known by their digest.
LONGEST_KEY = 512
_COMMUTATIVE: tuple[BinaryKind, ...] = ("*", "+", "min", "max", "==", "!=", "and", "or", "&", "|", "^")


def prove_equal(a: PrimExpr, b: PrimExpr, *, wraps: bool = False) -> bool:
    """Tell whether `a` equals `b` for all values of their variables, as far as polynomials over atoms show it.

    Atoms are variables and the operations `//`, `%`, `min`, `max`, ... on canonical operands; `n * m == m * n` and
    `2 * (n + 1) == n + n + 2` are proven. Complexity: the size of the expanded polynomials, which is limited.
    """
    match a, b:
        case IntImm(value=left), IntImm(value=right):
            return left == right
        case ((IntImm() | PrimVar()), (IntImm() | PrimVar())):
            return a is b
        case _:
            is_alike = not wraps or dtype_of(a) == dtype_of(b)
            return a is b or (is_alike and canonical_form(a, wraps=wraps) == canonical_form(b, wraps=wraps))


def prove_different(a: PrimExpr, b: PrimExpr) -> bool:
    """Tell whether `a` and `b` differ for all values of their variables: their difference is a non-zero constant."""
    match a, b:
        case IntImm(value=left), IntImm(value=right):
            return left != right
        case ((IntImm() | PrimVar()), (IntImm() | PrimVar())):
            return False
        case _:
            return list(add(canonical_form(a), canonical_form(b), -1)) == [()]


def constant_value(expr: PrimExpr) -> int | None:
    """Return the integer that `expr` equals, `None` if it depends on a variable."""
    match expr:
        case IntImm(value=value):
            return value
        case PrimVar():
            return None
        case Binary(op="*") if _is_product_of_variables(expr):
            return None
        case _:
            return constant_of(canonical_form(expr))


def _is_product_of_variables(expr: PrimExpr) -> bool:
    """Tell whether `expr` multiplies variables and literals other than 0: it is no constant, as sizes in bytes are."""
    has_variable = False
    rest, seen = [expr], {expr}
    while rest:
        match rest.pop():
            case Binary(op="*", a=a, b=b):
                rest += {a, b} - seen
                seen |= {a, b}
            case PrimVar():
                has_variable = True
            case IntImm(value=value) if value:
                pass
            case _:
                return False
    return has_variable


def simplify(expr: PrimExpr) -> PrimExpr:
    """Return a canonical expression equal to `expr`; floats and strings stay as they are."""
    if isinstance(expr, IntImm | PrimVar) or not dtype_of(expr).startswith(("int", "uint")):
        return expr
    atoms: dict[str, PrimExpr] = {}
    polynomial = canonical_form(expr, atoms)
    return as_expression(polynomial, atoms, dtype_of(expr))


def canonical_key(expr: PrimExpr, *, wraps: bool = False) -> str:
    """Return a text that is the same for expressions that are provably equal."""
    return _key(canonical_form(expr, wraps=wraps))


def canonical_form(expr: PrimExpr, atoms: dict[str, PrimExpr] | None = None, *, wraps: bool = False) -> Polynomial[str]:
    """Expand `expr` into a polynomial over atoms; `atoms` is filled with the expression of each of them."""
    memo: dict[Node, Polynomial[str]] = {}
    found = {} if atoms is None else atoms
    for current in postorder(expr):
        if not isinstance(current, PrimExpr):
            # The buffer of a load, which is an atom.
            continue
        made = _expand(current, memo, found, wraps=wraps)
        memo[current] = _modulo(made, dtype_of(current)) if wraps else made
    return memo[expr]


def _modulo(p: Polynomial[str], dtype: str) -> Polynomial[str]:
    """Return the polynomial of numbers of a dtype that wrap around."""
    if not is_integral(dtype):
        return p
    return {monomial: value for monomial, count in p.items() if (value := wrap(count, dtype))}


def _expand(
    expr: PrimExpr, memo: Mapping[Node, Polynomial[str]], atoms: dict[str, PrimExpr], *, wraps: bool
) -> Polynomial[str]:
    match expr:
        case IntImm(value=value):
            return constant(value)
        case Binary(op="+" | "-" as op, a=a, b=b) if not dtype_of(expr).startswith("float"):
            return add(memo[a], memo[b], 1 if op == "+" else -1)
        case Binary(op="*", a=a, b=b) if not dtype_of(expr).startswith("float"):
            if _is_small(memo[a], memo[b]):
                return multiply(memo[a], memo[b])
            # Known by itself: what it is made of would be compared again in all that it is part of.
            key = f"('node', {id(expr)})"
            atoms.setdefault(key, expr)
            return {(key,): 1}
        case Unary(op="-", a=a) if not dtype_of(expr).startswith("float"):
            return add({}, memo[a], -1)
        case Cast(value=value) if dtype_of(expr).startswith("int") and dtype_of(value).startswith("int") and not wraps:
            return memo[value]
        case Binary(op=op, a=a, b=b):
            folded = _fold(op, memo[a], memo[b], wraps=wraps)
            if folded is not None:
                return folded
        case _:
            pass
    key = _atom_key(expr, memo, wraps=wraps)
    atoms.setdefault(key, expr)
    return {(key,): 1}


def _is_small(a: Polynomial[str], b: Polynomial[str]) -> bool:
    """Tell whether a product is multiplied out."""
    bits = sum(max((count.bit_length() for count in factor.values()), default=0) for factor in (a, b))
    return len(a) * len(b) <= LARGEST_PRODUCT and degree(a) + degree(b) <= HIGHEST_DEGREE and bits <= LARGEST_BITS


def _fold(op: BinaryKind, a: Polynomial[str], b: Polynomial[str], *, wraps: bool) -> Polynomial[str] | None:
    """Fold an operation on constants, and the division of a polynomial by a constant that divides it."""
    left, right = constant_of(a), constant_of(b)
    if op == "*":
        return None
    if not wraps and op in ("//", "%") and right and all(count % right == 0 for count in a.values()):
        return {monomial: count // right for monomial, count in a.items()} if op == "//" else {}
    if left is not None and right is not None:
        try:
            return constant(int(combine(op, left, right)))
        except NoValueError:
            return None
    if op in ("min", "max") and a == b:
        return a
    if not wraps and op in ("min", "max") and (difference := constant_of(add(a, b, -1))) is not None:
        return a if (difference <= 0) == (op == "min") else b
    return None


def _key(p: Polynomial[str]) -> str:
    """Write a polynomial; equal ones alike. A long text is replaced by its digest, which keeps keys of keys short."""
    terms = (f"({''.join(f'{atom}, ' for atom in monomial)}{count})" for monomial, count in p.items())
    text = f"({', '.join(sorted(terms))})"
    return text if len(text) <= LONGEST_KEY else blake2b(text.encode(), digest_size=32).hexdigest()


def _atom_key(expr: PrimExpr, memo: Mapping[Node, Polynomial[str]], *, wraps: bool) -> str:
    def call(name: str, *args: PrimExpr, is_commutative: bool = False) -> str:
        keys = [_key(memo[arg]) for arg in args]
        name = f"{name} {', '.join(map(dtype_of, args))}" if wraps else name
        return f"({name!r}, {', '.join(sorted(keys) if is_commutative else keys)})"

    match expr:
        case PrimVar(name=name):
            return f"('var', {name!r}, {id(expr)})"
        case FloatImm(value=value):
            return f"('float', {value.hex()!r})"
        case StringImm(value=value):
            return f"('string', {value!r})"
        case Binary(op=op, a=a, b=b):
            return call(op, a, b, is_commutative=op in _COMMUTATIVE)
        case Unary(op=op, a=a):
            return call(op, a)
        case Cast(value=value, dtype=dtype):
            return call(f"cast {dtype}", value)
        case Select(condition=condition, true_value=yes, false_value=no):
            return call("select", condition, yes, no)
        case Intrinsic(name=name, args=args):
            return call(f"call {name}", *args)
        case _:
            return f"('node', {id(expr)})"


def as_expression(polynomial: Polynomial[str], atoms: Mapping[str, PrimExpr], dtype: str) -> PrimExpr:
    """Write a polynomial as an expression: variables in order of name, the constant last."""
    result: PrimExpr | None = None
    for monomial, count in sorted(polynomial.items(), key=lambda item: (not item[0], -len(item[0]), item[0])):
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
