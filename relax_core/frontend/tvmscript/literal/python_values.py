"""Values that Python would compute from literals around modules: `shape[::-1]`, `[2 * n for n in sizes]`, `len(shape)`.

They are evaluated as data: only the operators and functions in these tables, with a bound on each value, with all
that is in it, and one on the steps and the values of all of them together.
"""

import ast
import math
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, Final

from relax_core.frontend.tvmscript.literal.numbers import WIDEST, combined
from relax_core.frontend.tvmscript.names import dotted

_MOST_WORK: Final = 20_000
"""Steps, and the items and characters that they make."""
_LONGEST: Final = 2000
"""Items and characters of a value, those of its items included."""
_LARGEST: Final = 1 << 63
_MOST_DIGITS: Final = 300


def _sorted(items: Sequence[Any]) -> Any:
    return tuple(sorted(items))


def _reversed(items: Sequence[Any]) -> Any:
    return tuple(reversed(items))


def _zip(*items: Sequence[Any]) -> Any:
    return tuple(zip(*items, strict=False))


def _enumerate(items: Sequence[Any], start: int = 0) -> Any:
    return tuple((start + place, item) for place, item in enumerate(items))


def _round(value: Any, digits: int | None = None) -> Any:
    if digits is not None and abs(digits) > _MOST_DIGITS:
        raise _Unknown
    return round(value, digits)


def _is_in(item: Any, values: Any) -> bool:
    return item in values


def _is_not_in(item: Any, values: Any) -> bool:
    return item not in values


_FUNCTIONS: Final[Mapping[str, Callable[..., Any]]] = MappingProxyType(
    {
        "len": len, "int": int, "float": float, "bool": bool, "str": str, "abs": abs, "round": _round, "sum": sum,
        "min": min, "max": max, "tuple": tuple, "list": tuple, "sorted": _sorted, "reversed": _reversed, "zip": _zip,
        "enumerate": _enumerate, "any": any, "all": all, "dict": dict,
        **{f"math.{name}": getattr(math, name) for name in ("ceil", "floor", "log", "log2", "prod", "sqrt")},
        **{f"{module}.prod": math.prod for module in ("np", "numpy")},
        **{f"{module}.sqrt": math.sqrt for module in ("np", "numpy")},
    }
)  # fmt: skip
_COMPARISONS: Final[Mapping[type[ast.cmpop], Callable[[Any, Any], bool]]] = MappingProxyType(
    {
        ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt,
        ast.GtE: operator.ge, ast.Is: operator.is_, ast.IsNot: operator.is_not,
        ast.In: _is_in, ast.NotIn: _is_not_in,
    }
)  # fmt: skip
_NUMBERS: Final = (bool, int, float)
_SIGNS: Final[Mapping[type[ast.unaryop], Callable[[Any], Any]]] = MappingProxyType(
    {ast.USub: operator.neg, ast.UAdd: operator.pos, ast.Invert: operator.invert, ast.Not: operator.not_}
)


class _Unknown(Exception):
    """The text alone does not tell a value, or telling it would take too long."""


def evaluated(node: ast.expr, known: Mapping[str, ast.expr]) -> ast.expr | None:
    """Return the literal of what `node` comes to, with the constants that are `known`; `None` if that is not told."""
    try:
        value = _Evaluation(known, {}, [0]).value(node)
        return ast.copy_location(_literal(value, node), node) if value is not None else None
    except (_Unknown, ArithmeticError, ValueError, TypeError, LookupError):
        return None


def _kind(value: object) -> type[object]:
    return type(value)


def _size(value: Any) -> int:
    """Return how many items and characters a value has; what occurs in it several times counts as often."""
    size, rest = 0, [value]
    while rest:
        item = rest.pop()
        kind = _kind(item)
        if kind is int and abs(item) > WIDEST:
            raise _Unknown
        size += len(item) if kind in (str, tuple, dict) else 0
        if size > _LONGEST:
            raise _Unknown
        rest += item if kind is tuple else (*item, *item.values()) if kind is dict else ()
    return size


def _literal(value: Any, place: ast.expr) -> ast.expr:
    kind = _kind(value)
    if kind in (bool, str) or value is None:
        return ast.copy_location(ast.Constant(value), place)
    if kind in _NUMBERS and math.isfinite(value) and abs(value) < _LARGEST:
        made = ast.copy_location(ast.Constant(abs(value)), place)
        is_negative = math.copysign(1, value) < 0
        return ast.copy_location(ast.UnaryOp(ast.USub(), made), place) if is_negative else made
    if kind is tuple:
        return ast.copy_location(ast.Tuple([_literal(item, place) for item in value], ast.Load()), place)
    if kind is dict:
        keys = [_literal(item, place) for item in value]
        return ast.copy_location(ast.Dict([*keys], [_literal(value[item], place) for item in value]), place)
    raise _Unknown


@dataclass(frozen=True, slots=True)
class _Evaluation:
    """One evaluation: the literals of names, the values of the variables of comprehensions, and the work so far."""

    known: Mapping[str, ast.expr]
    variables: Mapping[str, Any]
    work: list[int]

    def value(self, node: ast.expr) -> Any:
        found = self._value(node)
        # What a name stands for was measured where it was made.
        self.work[0] += 1 if isinstance(node, ast.Name) else 1 + _size(found)
        if self.work[0] > _MOST_WORK:
            raise _Unknown
        return found

    def _value(self, node: ast.expr) -> Any:
        match node:
            case ast.Constant(value=bool() | int() | float() | str() | None as value):
                return value
            case ast.Name(id=name):
                if name in self.variables:
                    return self.variables[name]
                return self.value(self.known[name])
            case ast.Tuple(elts=items) | ast.List(elts=items):
                return tuple(self._spread(items))
            case ast.Dict(keys=keys, values=values) if None not in keys:
                return {self.value(key): self.value(item) for key, item in zip(keys, values, strict=True) if key}
            case ast.UnaryOp(op=op, operand=operand):
                return _SIGNS[type(op)](self.value(operand))
            case ast.BinOp(left=left, op=op, right=right):
                return _joined(op, self.value(left), self.value(right))
            case ast.Subscript(value=value, slice=ast.Slice(lower=lower, upper=upper, step=step)):
                ends = (None if item is None else self.value(item) for item in (lower, upper, step))
                return self.value(value)[slice(*ends)]
            case ast.Subscript(value=value, slice=index):
                return self.value(value)[self.value(index)]
            case ast.JoinedStr(values=parts):
                return "".join(str(self.value(item)) for item in parts)
            case ast.FormattedValue(value=value, conversion=-1, format_spec=None):
                return self.value(value)
            case _:
                return self._chosen(node)

    def _chosen(self, node: ast.expr) -> Any:
        match node:
            case ast.IfExp(test=test, body=body, orelse=orelse):
                return self.value(body if self.value(test) else orelse)
            case ast.BoolOp(op=op, values=values):
                found = self.value(values[0])
                for item in values[1:]:
                    if bool(found) == isinstance(op, ast.Or):
                        return found
                    found = self.value(item)
                return found
            case ast.Compare(left=left, ops=ops, comparators=others):
                values = [self.value(item) for item in (left, *others)]
                return all(_COMPARISONS[type(op)](a, b) for op, a, b in zip(ops, values, values[1:], strict=False))
            case ast.ListComp(elt=made, generators=[loop]) | ast.GeneratorExp(elt=made, generators=[loop]):
                return tuple(inner.value(made) for inner in self._each(loop))
            case ast.Call(func=ast.Attribute(value=text, attr="format"), args=args, keywords=[]):
                return _formatted(str(self.value(text)), list(self._plain(args)))
            case ast.Call(func=func, args=args, keywords=keywords):
                return self._called(".".join(dotted(func) or ()), args, keywords)
            case _:
                raise _Unknown

    def _plain(self, nodes: Sequence[ast.expr]) -> Iterator[Any]:
        for item in self._spread(nodes):
            if not isinstance(item, int | float | str):
                raise _Unknown
            yield item

    def _called(self, name: str, args: Sequence[ast.expr], keywords: Sequence[ast.keyword]) -> Any:
        given = list(self._spread(args))
        if name == "range" and not keywords:
            numbers = range(*given)
            if len(numbers) > _LONGEST:
                raise _Unknown
            return tuple(numbers)
        named = {item.arg: self.value(item.value) for item in keywords if item.arg is not None}
        if name != "dict" and named:
            raise _Unknown
        return _FUNCTIONS[name](*given, **named)

    def _spread(self, nodes: Sequence[ast.expr]) -> Iterator[Any]:
        for item in nodes:
            if isinstance(item, ast.Starred):
                yield from self.value(item.value)
            else:
                yield self.value(item)

    def _each(self, loop: ast.comprehension) -> "Iterator[_Evaluation]":
        """Yield the evaluation of each turn of a comprehension."""
        for item in self.value(loop.iter):
            inner = replace(self, variables={**self.variables, **_bound(loop.target, item)})
            if all(inner.value(test) for test in loop.ifs):
                yield inner


def _bound(target: ast.expr, value: Any) -> dict[str, Any]:
    match target:
        case ast.Name(id=name):
            return {name: value}
        case ast.Tuple(elts=items):
            found: dict[str, Any] = {}
            for part, item in zip(items, value, strict=True):
                found |= _bound(part, item)
            return found
        case _:
            raise _Unknown


def _formatted(text: str, values: list[Any]) -> str:
    """Fill the `{}` of a text; no other fields are read."""
    parts = text.split("{}")
    if len(parts) != len(values) + 1 or any("{" in item or "}" in item for item in parts):
        raise _Unknown
    return parts[0] + "".join(f"{value}{part}" for value, part in zip(values, parts[1:], strict=True))


def _joined(op: ast.operator, left: Any, right: Any) -> Any:
    kinds = (_kind(left), _kind(right))
    if all(kind in _NUMBERS for kind in kinds):
        found = combined(op, left, right)
        if found is None:
            raise _Unknown
        return found
    if isinstance(op, ast.Add) and kinds in ((str, str), (tuple, tuple)):
        return left + right
    if isinstance(op, ast.Mult) and kinds in ((str, int), (tuple, int)) and len(left) * right <= _LONGEST:
        return left * right
    raise _Unknown
