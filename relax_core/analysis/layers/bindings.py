"""Layers of a function: bindings that repeat up to names and weights, and the names that the weights give them."""

import re
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from relax_core.analysis.layers.modules import Modules, modules_of
from relax_core.analysis.layers.repeats import OUTSIDE, Repeat, find_repeats
from relax_core.ir.expr import (
    Call,
    Constant,
    DataTypeImm,
    Expr,
    ExternFunc,
    GlobalVar,
    MatchCast,
    Null,
    Op,
    PrimValue,
    ShapeExpr,
    Tuple,
    TupleGetItem,
    Var,
    VarBinding,
)
from relax_core.ir.node import Node, children

_NUMBER: Final = re.compile(r"(\d+)")
_UNNAMED: Final = "layers"


@dataclass(frozen=True, slots=True)
class Layers:
    """A part of a sequence of bindings that repeats."""

    repeat: Repeat
    name: str
    """Of all copies, such as `layers`."""
    copies: tuple[str, ...]
    """The name of each, such as `layers_3`."""
    modules: tuple[Modules, ...] = ()
    """For each copy, and each binding of it, the modules that it is in."""


def layers_of(bindings: Sequence[Node], type_words: Callable[[Var], str]) -> tuple[Layers, ...]:
    """Find what repeats in a sequence of bindings; `type_words` writes the type of a variable."""
    place_of: dict[Var, int] = {}
    labels: list[Hashable] = []
    uses: list[list[int]] = []
    outer: list[list[str]] = []
    for place, binding in enumerate(bindings):
        label, used, names = _described(binding, place_of, type_words)
        labels.append(label)
        uses.append(used)
        outer.append(names)
        if isinstance(binding, VarBinding | MatchCast):
            place_of[binding.var] = place
    found = (_named(repeat, outer) for repeat in find_repeats(labels, uses, _numbers(outer)))
    return tuple(replace(item, modules=modules_of(item.copies, item.repeat, uses, outer)) for item in found)


def _numbers(outer: Sequence[Sequence[str]]) -> list[str]:
    """Return for each binding the first number in the names of its weights, or in those of the bindings before it."""
    found: list[str] = []
    for names in outer:
        known = next((match[0] for name in names if (match := _NUMBER.search(name))), found[-1] if found else "")
        found.append(known)
    return found


def _described(
    binding: Node, place_of: Mapping[Var, int], type_words: Callable[[Var], str]
) -> tuple[Hashable, list[int], list[str]]:
    """Return what a binding is, the places of the variables that it uses, and the names of those from outside."""
    if not isinstance(binding, VarBinding | MatchCast):
        return id(binding), [], []
    label: list[Hashable] = [type(binding), type_words(binding.var)]
    used: list[int] = []
    names: list[str] = []
    stack: list[Node] = [binding.value]
    while stack:
        item = stack.pop()
        if isinstance(item, Var):
            # A weight has another value in each copy, and the first copy takes a parameter where others take a result.
            label.append(type_words(item))
            used.append(place_of.get(item, OUTSIDE))
            if item not in place_of:
                names.append(item.name)
        elif isinstance(item, Expr):
            label.append(_word(item))
            stack += () if isinstance(item, ShapeExpr) else reversed(children(item))
    return tuple(label), used, names


def _word(item: Expr) -> Hashable:
    """Return what an expression is beside its operands; one that is not known to repeat is like no other."""
    match item:
        case Call(args=args, attrs=attrs):
            return "call", len(args), repr(attrs) if attrs else ""
        case Op(name=name) | GlobalVar(name=name) | ExternFunc(name=name):
            return type(item), name
        case Constant(data=data):
            # Weights differ, the numbers by which a layer scales do not.
            return "constant", str(data.dtype), data.shape, data.tobytes() if data.size <= 1 else b""
        case Tuple(fields=fields):
            return "tuple", len(fields)
        case TupleGetItem(index=index):
            return "field", index
        case ShapeExpr(values=values):
            return "shape", len(values)
        case PrimValue() | DataTypeImm() | Null():
            return repr(item)
        case _:
            return id(item)


def _named(repeat: Repeat, outer: Sequence[Sequence[str]]) -> Layers:
    """Call the copies by what the names of their weights have in common, up to the number that counts them."""
    copies = [
        [name for names in outer[start : start + repeat.length] for name in names]
        for start in range(repeat.start, repeat.end, repeat.length)
    ]
    for names in zip(*copies, strict=True):
        pieces = [_NUMBER.split(name) for name in names]
        at = next((at for at, (a, b) in enumerate(zip(pieces[0], pieces[1], strict=False)) if a != b), 0)
        if at % 2 and len({item[at] for item in pieces if len(item) > at}) == len(copies):
            prefix = "".join(pieces[0][:at])
            name = prefix.rstrip("_.") or _UNNAMED
            return Layers(repeat, name, tuple(f"{prefix}{item[at]}" for item in pieces))
    return Layers(repeat, _UNNAMED, tuple(f"{_UNNAMED}_{number}" for number in range(repeat.count)))
