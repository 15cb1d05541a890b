"""Loop nests that have the form of a prim func: its buffers, sizes and scalars stand for those of the nest."""

import dataclasses
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final, cast

from relax_core.ir.integer.prove import prove_equal
from relax_core.ir.node import Node, preorder
from relax_core.ir.notation.show import show_prim
from relax_core.ir.prim import FloatImm, PrimExpr, PrimVar, dtype_of
from relax_core.ir.tir import Block, Buffer, For, PrimFunc, SeqStmt, Stmt

_LEFT_OUT: Final[Mapping[type[Node], tuple[str, ...]]] = MappingProxyType(
    {
        Block: ("name", "annotations", "reads", "writes"),
        For: ("annotations",),
        Buffer: ("name", "attrs"),
        PrimVar: ("name",),
    }
)
"""What takes no part in a comparison: names, hints, and what follows from the statements."""


@dataclass(frozen=True, slots=True, eq=False)
class NestMatch:
    """A nest that a pattern matches: what stands for the pattern's scalars and for its buffers, in their order."""

    pattern: PrimFunc
    symbol_values: tuple[PrimExpr, ...]
    matched_buffers: tuple[Buffer, ...]
    nest: Stmt


def nests_of(function: PrimFunc) -> tuple[Stmt, ...]:
    """Return the statements of a prim func, one after the other."""
    body = root.body if isinstance(root := function.body, Block) and root.name in ("root", "") else function.body
    return body.stmts if isinstance(body, SeqStmt) else (body,)


def match_nest(pattern: PrimFunc, nest: Stmt) -> NestMatch | str:
    """Match a nest with a pattern, whose body is one nest; the answer is the first difference if they differ.

    A scalar of the pattern stands for any value of its dtype that does not depend on the loops, and a size that its
    buffers have for any size. Different buffers stand for different ones. The order of loops and operands counts.
    """
    scalars = tuple(item for item in pattern.params if pattern.buffer_of(item) is None)
    buffers = [item for item in map(pattern.buffer_of, pattern.params) if item is not None]
    unifier = _Unifier(frozenset((*scalars, *sizes_of(buffers))))
    (form,) = nests_of(pattern)
    why = unifier.difference(form, nest)
    if why:
        return why
    unbound = [item.name for item in (*scalars, *buffers) if item not in unifier.found]
    if unbound:
        return f"nothing stands for {', '.join(unbound)} of the pattern"
    matched = [item for item in map(unifier.found.get, buffers) if isinstance(item, Buffer)]
    values = [item for item in map(unifier.found.get, scalars) if isinstance(item, PrimExpr)]
    return NestMatch(pattern, tuple(values), tuple(matched), nest)


def sizes_of(buffers: Iterable[Buffer]) -> Iterator[PrimVar]:
    """Yield the symbols of the shapes of buffers."""
    dims = (dim for item in buffers for dim in item.shape)
    return (item for dim in dims for item in preorder(dim) if isinstance(item, PrimVar))


@dataclass(slots=True)
class _Unifier:
    """What stands for variables and buffers of a pattern, as far as two statements were compared."""

    symbols: frozenset[PrimVar]
    found: dict[Node, Node] = field(default_factory=dict[Node, Node])
    taken: set[Node] = field(default_factory=set[Node])

    def difference(self, form: Node, node: Node) -> str:
        """Return the words for the first difference in the order of the text, "" if there is none."""
        stack: list[tuple[Node, Node]] = [(form, node)]
        while stack:
            a, b = stack.pop()
            parts = self.parts(a, b)
            if parts is None:
                return f"{_words(b)} stands where the pattern has {_words(a)}"
            stack += parts[::-1]
        return ""

    def parts(self, a: Node, b: Node) -> list[tuple[Node, Node]] | None:
        """Return what is left to compare of two nodes, `None` if they differ."""
        match a, b:
            case PrimVar(), PrimExpr() if a in self.symbols:
                return [] if self.stands_for(a, b) else None
            case (PrimVar(), PrimVar()) | (Buffer(), Buffer()) if a in self.found or b in self.taken:
                return [] if self.found.get(a) is b else None
            case _ if type(a) is not type(b):
                return None
            case ((PrimVar() | Buffer()), _):
                self.found[a] = b
                self.taken.add(b)
            case _:
                pass
        return _fields(a, b)

    def stands_for(self, symbol: PrimVar, value: PrimExpr) -> bool:
        known = self.found.setdefault(symbol, value)
        is_free = not any(item in self.taken for item in preorder(value))
        return is_free and dtype_of(symbol) == dtype_of(value) and isinstance(known, PrimExpr) and _same(known, value)


def _same(a: PrimExpr, b: PrimExpr) -> bool:
    match a, b:
        case FloatImm(value=left), FloatImm(value=right):
            return left == right
        case _:
            return a is b or (dtype_of(a) == dtype_of(b) and prove_equal(a, b))


def _fields(a: Node, b: Node) -> list[tuple[Node, Node]] | None:
    """Return the parts of two nodes of one class in pairs, `None` if there are others or a value differs."""
    pairs: list[tuple[Node, Node]] = []
    for lefts, rights in _values(a, b):
        if len(lefts) != len(rights):
            return None
        for x, y in zip(lefts, rights, strict=True):
            if isinstance(x, Node) and isinstance(y, Node):
                pairs.append((x, y))
            elif x != y:
                return None
    return pairs


def _values(a: Node, b: Node) -> Iterator[tuple[tuple[object, ...], tuple[object, ...]]]:
    """Yield the values of the fields of both, children first; one value as a tuple of it."""
    left_out = ("span", *_LEFT_OUT.get(type(a), ()))
    names = [item.name for item in dataclasses.fields(a) if item.name not in left_out]
    for name in sorted(names, key=lambda name: name not in a.CHILDREN):
        yield _in_tuple(getattr(a, name)), _in_tuple(getattr(b, name))


def _in_tuple(value: object) -> tuple[object, ...]:
    return cast("tuple[object, ...]", value) if isinstance(value, tuple) else (value,)


def _words(node: Node) -> str:
    match node:
        case PrimExpr():
            return show_prim(node)
        case Buffer(name=name, shape=shape, dtype=dtype):
            return f"{name}: {dtype}[{', '.join(map(show_prim, shape))}]"
        case For(kind=kind, extent=extent):
            return f"a {kind} loop over {show_prim(extent)}"
        case Block(name=name, init=init):
            return f"block {name} {'without' if init is None else 'with'} an init"
        case _:
            return f"a node {type(node).__name__}"
