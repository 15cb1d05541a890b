"""Inverses of mappings of indices that split, reorder and join axes."""

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from relax_core.ir.expr import Dims
from relax_core.ir.integer.prove import constant_value
from relax_core.ops.tensors.index_map import IndexMap, parse_index_map


@dataclass(frozen=True, slots=True)
class _Digit:
    """`name // low % count`, or `name // low` without a `count`, which result number `result` has times `scale`."""

    name: str
    low: int
    count: int | None
    result: int = 0
    scale: int = 1


def inverse_of(found: IndexMap, dims: Dims) -> IndexMap | None:
    """Return the mapping that leads back from `found`, applied to a tensor of these sizes; `None` if that is not known.

    Each result is a digit of an index, `i // 4 % 2`, or a sum of them, each times what the lower ones have room for.
    A digit at the top may have room for more than the axis has: then the result has more elements than the tensor.
    """
    sizes = {name: constant_value(dim) for name, dim in zip(found.names, dims, strict=True)}
    digits: list[_Digit] = []
    tops: dict[_Digit, bool] = {}
    for number, result in enumerate(found.results):
        terms = list(_terms(result, number))
        known = [item for item in terms if item is not None]
        ordered = _in_order(known, sizes) if len(known) == len(terms) else None
        if ordered is None:
            return None
        digits += ordered
        tops.update((item, at == len(ordered) - 1) for at, item in enumerate(ordered))
    texts = [_rebuilt(name, [item for item in digits if item.name == name], tops, sizes) for name in found.names]
    if any(text is None for text in texts):
        return None
    names = ", ".join(f"axis{axis}" for axis in range(len(found.results)))
    results = ", ".join(filter(None, texts))
    return parse_index_map(f"lambda {names}: ({results}{',' if len(texts) == 1 else ''})")


def _terms(node: ast.expr, result: int, scale: int = 1) -> Iterator[_Digit | None]:
    """Yield the digits of which an expression is the sum; `None` for what is none."""
    match node:
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            yield from _terms(left, result, scale)
            yield from _terms(right, result, scale)
        case ast.BinOp(left=part, op=ast.Mult(), right=ast.Constant(value=int(by))) if by > 0:
            yield from _terms(part, result, scale * by)
        case _:
            digit = _digit(node)
            yield None if digit is None else _Digit(digit.name, digit.low, digit.count, result, scale)


def _digit(node: ast.expr) -> _Digit | None:
    match node:
        case ast.Name(id=name):
            return _Digit(name, 1, None)
        case ast.BinOp(left=part, op=ast.FloorDiv(), right=ast.Constant(value=int(by))) if by > 0:
            inner = _digit(part)
            if inner is None or (inner.count is not None and inner.count % by):
                return None
            return _Digit(inner.name, inner.low * by, None if inner.count is None else inner.count // by)
        case ast.BinOp(left=part, op=ast.Mod(), right=ast.Constant(value=int(by))) if by > 0:
            inner = _digit(part)
            if inner is None or (inner.count is not None and inner.count % by):
                return None
            return _Digit(inner.name, inner.low, by)
        case _:
            return None


def _in_order(terms: list[_Digit], sizes: Mapping[str, object]) -> list[_Digit] | None:
    """Return the digits of one result from the lowest, if each has the scale that the lower ones leave."""
    ordered = sorted(terms, key=lambda item: item.scale)
    room = 1
    for at, item in enumerate(ordered):
        if item.scale != room:
            return None
        count = _count(item, sizes)
        if count is None and at < len(ordered) - 1:
            return None
        room *= count or 1
    return ordered


def _count(item: _Digit, sizes: Mapping[str, object]) -> int | None:
    size = sizes.get(item.name)
    if item.count is not None:
        return item.count
    return -(-size // item.low) if isinstance(size, int) else None


def _rebuilt(name: str, digits: list[_Digit], tops: Mapping[_Digit, bool], sizes: Mapping[str, object]) -> str | None:
    """Return an index as the sum of its digits, if they are all of it."""
    ordered = sorted(digits, key=lambda item: item.low)
    low = 1
    for at, item in enumerate(ordered):
        count = _count(item, sizes)
        is_last = at == len(ordered) - 1
        if item.low != low or (count is None and not is_last):
            return None
        low *= count or 1
    size = sizes.get(name)
    is_covered = bool(ordered) and (ordered[-1].count is None or (isinstance(size, int) and size <= low))
    if not is_covered:
        return None
    parts = [_part(item, is_top=tops[item], sizes=sizes) for item in reversed(ordered)]
    return " + ".join(parts)


def _part(item: _Digit, *, is_top: bool, sizes: Mapping[str, object]) -> str:
    text = f"axis{item.result}"
    if item.scale > 1:
        text = f"{text} // {item.scale}"
    if not is_top:
        text = f"{text} % {_count(item, sizes)}"
    return f"{text} * {item.low}" if item.low > 1 else text
