"""What became of a module's parts: added, removed, renamed, moved, changed.

Two functions that are equal but for the names of variables differ in names only, part by part. In others the parts are
paired by links, and the two of a pair are compared as far as they are not parts of their own: operands are equal if
they are pairs. What no part shows is said of the function, so that functions that differ are never said to be equal.
"""

import dataclasses
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final, Literal, TypeAlias, cast

from relax_core.analysis.matching.links import Confidence, Links
from relax_core.analysis.matching.parts import VALUES, Outline, Part
from relax_core.ir.equality import first_difference
from relax_core.ir.expr import (
    BindingBlock,
    Call,
    Constant,
    DataflowBlock,
    Expr,
    Function,
    FuncType,
    GlobalVar,
    Op,
    PrimType,
    SeqExpr,
    ShapeType,
    TensorType,
    TupleType,
    TypeVar,
    Var,
    VarBinding,
)
from relax_core.ir.node import Node, preorder
from relax_core.ir.prim import FloatImm, IntImm, PrimVar, StringImm
from relax_core.ir.relay import Let
from relax_core.ir.tir import Block, Buffer, PrimFunc, Stmt
from relax_core.ops import find

ChangeKind: TypeAlias = Literal["added", "removed", "renamed", "moved", "changed"]
Facts: TypeAlias = tuple[object, ...]
TypeText: TypeAlias = Callable[[Node], str]
_LEFT_OUT: Final = ("span", "annotation", "is_s_tir", "is_scalar", "is_inline")
_NAMED_APART: Final[Mapping[type[Node], tuple[str, ...]]] = MappingProxyType(
    {Buffer: ("name",), Block: ("name", "alloc_buffers")}
)
"""What is told of parts otherwise: another name, and buffers of their own."""
_MAKERS: Final = ("function", "prim func", *VALUES)
"""What a function can be said to be made of."""
_SHOWN: Final = 60
"""So many characters of a value are shown."""


@dataclass(frozen=True, slots=True, eq=False)
class StructureChange:
    """What became of a part: `before` is `None` of what was added, `after` of what was removed."""

    kind: ChangeKind
    before: Part | None
    after: Part | None
    details: tuple[str, ...] = ()
    """What of it changed, or where it moved."""
    confidence: Confidence = "sure"

    @property
    def part(self) -> Part:
        """The part as it is behind, or as it was if it is gone."""
        found = self.after or self.before
        assert found is not None
        return found


@dataclass(frozen=True, slots=True, eq=False)
class StructureSide:
    """The functions of one of two modules, with the texts of types; `type_text` is empty for what has none."""

    outlines: Mapping[str, Outline]
    type_text: TypeText


def structure_changes(before: StructureSide, after: StructureSide, links: Links) -> tuple[StructureChange, ...]:
    """Return what became of the parts, function by function in the order of the module behind, then what is gone."""
    names = {part.name: old.name for part, old in links.counterpart.items() if part.parent is None is old.parent}
    modules = _Modules(before, after, links, names)
    found: list[StructureChange] = []
    for outline in after.outlines.values():
        old = links.counterpart.get(outline.function)
        known = before.outlines.get(old.function) if old is not None and old.parent is None else None
        if known is None or known.function is not old:
            origins = links.of.get(outline.function, {}).values()
            origin = next((item for item in origins if item.before.kind in _MAKERS), None)
            words = () if origin is None else (_origin(origin.before),)
            sure: Confidence = "sure" if origin is None else origin.confidence
            found.append(StructureChange("added", None, outline.function, words, sure))
        else:
            found += _Functions(modules, known, outline).changes()
    gone = (item.function for item in before.outlines.values() if item.function not in links.taken)
    found += (StructureChange("removed", item, None) for item in gone)
    return tuple(found)


@dataclass(frozen=True, slots=True, eq=False)
class _Modules:
    """Both modules; `name_before` are the names that functions had."""

    before: StructureSide
    after: StructureSide
    links: Links
    name_before: Mapping[str, str]


class _Functions:
    """A function in two modules."""

    def __init__(self, sides: "_Modules", old: Outline, new: Outline) -> None:
        self._before, self._after, self._links = sides.before, sides.after, sides.links
        self._name_before = sides.name_before
        self._old, self._new = old, new

    def changes(self) -> Iterator[StructureChange]:
        """Yield what became of the function, and of what is in it."""
        old, new = self._old.function, self._new.function
        if old.name != new.name:
            yield StructureChange("renamed", old, new, confidence=self._confidence(new))
        if old.node is new.node:
            return
        difference = first_difference(old.node, new.node)
        if difference is None:
            yield from self._renamed()
            return
        found = list(self._parts())
        yield from found
        if all(item.kind == "renamed" for item in found):
            yield StructureChange("changed", old, new, (f"{difference.path}: {difference.message}",))

    def _renamed(self) -> Iterator[StructureChange]:
        for old, new in zip(self._old.parts[1:], self._new.parts[1:], strict=False):
            if old.name != new.name and old.kind == new.kind:
                yield StructureChange("renamed", old, new)

    def _parts(self) -> Iterator[StructureChange]:
        yield from self._whole()
        blocks = _Blocks(self._old, self._new, self._links)
        yield from blocks.changes()
        out_of_order = self._out_of_order()
        for part in self._new.parts[1:]:
            old = self._links.counterpart.get(part)
            if old is None:
                yield StructureChange("added", None, part, _told_of(part))
                continue
            sure = self._confidence(part)
            if old.name != part.name and old.name and part.name:
                yield StructureChange("renamed", old, part, confidence=sure)
            where = self._move(old, part) or blocks.move(old, part) or out_of_order.get(part, "")
            if where:
                yield StructureChange("moved", old, part, (where,), sure)
            details = tuple(self._details(old, part))
            if details:
                yield StructureChange("changed", old, part, details, sure)
        gone = (part for part in self._old.parts[1:] if part not in self._links.taken)
        yield from (StructureChange("removed", part, None, _told_of(part)) for part in gone)

    def _whole(self) -> Iterator[StructureChange]:
        """Compare what of the function is in none of its parts: attributes, the type that it returns, purity."""
        old, new = self._old.function, self._new.function
        details = list(told(*(_of_function(part.node) for part in (old, new))))
        types = [
            side.type_text(part.node.body) if isinstance(part.node, Function) else ""
            for side, part in ((self._before, old), (self._after, new))
        ]
        if types[0] != types[1]:
            details.append(f"returned type: {types[0]} → {types[1]}")
        if details:
            yield StructureChange("changed", old, new, tuple(details))

    def _confidence(self, part: Part) -> Confidence:
        old = self._links.counterpart[part]
        return self._links.of[part][old].confidence

    def _move(self, old: Part, new: Part) -> str:
        """Say where a part went that is in another one than before."""
        if old.function != self._old.name:
            return f"from @{old.function}"
        if new.parent is None or old.parent is None or self._links.counterpart.get(new.parent) is old.parent:
            return ""
        return f"from {_called(old.parent)} into {_called(new.parent)}"

    def _out_of_order(self) -> Mapping[Part, str]:
        """Return the fewest parts such that the others, of each enclosing part, are in the order that they were in."""
        inside: defaultdict[Part | None, list[tuple[int, Part]]] = defaultdict(list)
        for part in self._new.parts[1:]:
            old = self._links.counterpart.get(part)
            if old is not None and old.function == self._old.name and part.kind not in ("parameter", "result"):
                inside[part.parent].append((old.order, part))
        moved: dict[Part, str] = {}
        for rows in inside.values():
            kept = longest_rising([number for number, _ in rows])
            moved |= {part: "in another order" for place, (_, part) in enumerate(rows) if place not in kept}
        return moved

    def _details(self, old: Part, new: Part) -> Iterator[str]:
        values = _value(old), _value(new)
        if old.kind != new.kind:
            yield f"{old.kind} → {new.kind}"
        elif type(values[0]) is not type(values[1]):
            yield f"value: {summary(old)} → {summary(new)}"
        elif isinstance(values[0], Call) and (old.operator, self._callee(old, is_new=False)) != (
            new.operator,
            self._callee(new, is_new=True),
        ):
            yield f"operator: {operator_text(old)} → {operator_text(new)}"
            if self._operands(old, is_new=False) != self._operands(new, is_new=True):
                yield f"operands: {operands_text(old)} → {operands_text(new)}"
        else:
            yield from told(self._facts(old, is_new=False), self._facts(new, is_new=True))
        types = self._before.type_text(old.node), self._after.type_text(new.node)
        if types[0] != types[1] and all(types):
            yield f"type: {types[0]} → {types[1]}"

    def _callee(self, part: Part, *, is_new: bool) -> str:
        return self._name_before.get(part.callee, part.callee) if is_new else part.callee

    def _operands(self, part: Part, *, is_new: bool) -> tuple[object, ...]:
        of = self._links.counterpart
        return tuple(of.get(item, item) if is_new and isinstance(item, Part) else item for item in part.operands)

    def _facts(self, part: Part, *, is_new: bool) -> Mapping[str, Facts]:
        """Return what a part is, aspect by aspect, without what is a part of its own."""
        node = _value(part)
        aspects: dict[str, object] = {}
        match node:
            case Call(op=op, args=args, attrs=attrs):
                aspects["operator"] = op
                aspects |= dict(zip(_operand_names(op, len(args)), args, strict=True))
                aspects |= {f"attribute {name}": value for name, value in attrs}
            case SeqExpr(body=body):
                aspects["value"] = body
            case Var():
                # A parameter, or another name for a value: its type is told apart.
                aspects["value"] = "" if part.kind == "parameter" else node
            case PrimVar():
                aspects["dtype"] = node.dtype
            case _:
                aspects = {name: getattr(node, name) for name in _fields(type(node))}
        return {name: tuple(self._tokens(part, value, is_new=is_new)) for name, value in aspects.items()}

    def _tokens(self, part: Part, root: object, *, is_new: bool) -> Iterator[object]:
        """Yield what a value is made of, in order; statements are parts of their own."""
        outline = self._new if is_new else self._old
        stack: list[object] = [root]
        while stack:
            value = stack.pop()
            own = outline.part_of.get(value) if isinstance(value, Node) else None
            match value:
                case Node() if own is not None and own is not part:
                    yield _Used(id(self._links.counterpart.get(own, own) if is_new else own), own.name or own.operator)
                case GlobalVar(name=name):
                    yield _Used(self._name_before.get(name, name) if is_new else name, f"@{name}")
                case Stmt():
                    pass
                case Buffer() if own is None:
                    yield value.name
                case Var() | PrimVar() | TypeVar():
                    yield _Used("its own", value.name) if own is part else value.name
                case Constant(data=data):
                    yield f"{data.dtype}{data.shape} {hash(data.tobytes())}" if data.size > 1 else f"{data.item()}"
                case SeqExpr(body=body):
                    stack.append(body)
                case tuple():
                    items = cast("tuple[object, ...]", value)
                    yield (len(items),)
                    stack += reversed(items)
                case IntImm() | FloatImm() | StringImm():
                    yield _Used((value.dtype, str(value.value)), str(value.value))
                case Node() | TensorType() | ShapeType() | PrimType() | TupleType() | FuncType():
                    yield type(value)
                    stack += [getattr(value, name) for name in reversed(_fields(type(value)))]
                case _:
                    yield value


@dataclass(frozen=True, slots=True)
class _Used:
    """A part or a function that is used: `key` is the same for the two of a pair."""

    key: object
    text: str = dataclasses.field(compare=False)

    def __str__(self) -> str:
        return self.text


def _value(part: Part) -> Node:
    """Return what a part computes, or the statement that it is."""
    return part.node.value if isinstance(part.node, VarBinding | Let) else part.node


def _told_of(part: Part) -> tuple[str, ...]:
    return (summary(part),) if part.kind in VALUES else ()


def operator_text(part: Part) -> str:
    """Name what a part calls."""
    return f"{part.operator} @{part.callee}" if part.callee else part.operator or "none"


def operands_text(part: Part) -> str:
    """List what a part computes with."""
    shown = ", ".join(item if isinstance(item, str) else item.name or item.operator for item in part.operands)
    return f"({shown if len(shown) <= _SHOWN else f'{shown[:_SHOWN]}…'})"


def summary(part: Part) -> str:
    """Say what a part computes in a few words."""
    if part.operator == "=" and len(part.operands) == 1:
        return operands_text(part)[1:-1]
    return f"{operator_text(part)}{operands_text(part)}" if part.operator else part.kind


def _of_function(function: Node) -> Mapping[str, Facts]:
    match function:
        case Function(attrs=attrs, is_pure=is_pure, is_private=is_private):
            return {"pure": (is_pure,), "private": (is_private,)} | {
                f"attribute {name}": (value,) for name, value in attrs
            }
        case PrimFunc(attrs=attrs, is_private=is_private):
            return {"private": (is_private,)} | {f"attribute {name}": (value,) for name, value in attrs}
        case _:
            return {}


class _Blocks:
    """The binding blocks of a function in two modules: those that share most bindings are a pair."""

    def __init__(self, old: Outline, new: Outline, links: Links) -> None:
        self._old, self._new = old, new
        self._block_before, self._block_after = _blocks_of(old), _blocks_of(new)
        votes: defaultdict[BindingBlock, Counter[BindingBlock]] = defaultdict(Counter)
        for part, block in self._block_after.items():
            was = self._block_before.get(links.counterpart.get(part, part))
            if was is not None:
                votes[block][was] += 1
        self._pair: dict[BindingBlock, BindingBlock] = {}
        for block, found in votes.items():
            free = [was for was, _ in found.most_common() if was not in self._pair.values()]
            if free:
                self._pair[block] = free[0]

    def move(self, old: Part, new: Part) -> str:
        """Say to which kind of block a binding went, if that is not the pair of the one that it was in."""
        block, was = self._block_after.get(new), self._block_before.get(old)
        if block is None or was is None or self._pair.get(block) is was:
            return ""
        return f"into another {_block_name(block)}"

    def changes(self) -> Iterator[StructureChange]:
        """Yield the blocks that are of another kind than before."""
        for block, was in self._pair.items():
            if type(block) is not type(was):
                count = len(block.bindings)
                words = f"{_block_name(was)} → {_block_name(block)}, {count} binding{'s' * (count != 1)}"
                yield StructureChange("changed", self._old.function, self._new.function, (words,))


def _blocks_of(outline: Outline) -> Mapping[Part, BindingBlock]:
    found: dict[Part, BindingBlock] = {}
    for node in preorder(outline.function.node):
        if isinstance(node, BindingBlock):
            found |= {outline.part_of[item]: node for item in node.bindings if item in outline.part_of}
    return found


def _block_name(block: BindingBlock) -> str:
    return "dataflow block" if isinstance(block, DataflowBlock) else "binding block"


def told(before: Mapping[str, Facts], after: Mapping[str, Facts]) -> Iterator[str]:
    """Say of each aspect that differs what it was and what it is, or that it differs if that is no short text."""
    for name in dict.fromkeys((*before, *after)):
        old, new = before.get(name), after.get(name)
        if old != new:
            texts = [_text(item) for item in (old, new)]
            yield f"{name}: {texts[0]} → {texts[1]}" if all(texts) and texts[0] != texts[1] else name


def _text(facts: Facts | None) -> str:
    """Return what is told of an aspect; empty if it is too long for a row."""
    if facts is None:
        return "none"
    # Classes and lengths tell values apart and are not shown.
    shown = ", ".join(str(item) for item in facts if not isinstance(item, type | tuple))
    return shown if len(shown) <= _SHOWN else ""


def _fields(cls: type[Any]) -> tuple[str, ...]:
    left_out = (*_LEFT_OUT, *_NAMED_APART.get(cls, ()))
    return tuple(field.name for field in dataclasses.fields(cls) if field.name not in left_out)


def _called(part: Part) -> str:
    """Name a part in a sentence."""
    if part.parent is None:
        return f"@{part.name}"
    return f"{part.kind} {part.name}".rstrip()


def _operand_names(op: Expr, count: int) -> tuple[str, ...]:
    """Name the operands of a call as the operator's schema does, else by their numbers."""
    spec = find(op.name) if isinstance(op, Op) else None
    if spec is not None and len(spec.params) == count:
        return tuple(param.name for param in spec.params)
    return tuple(f"operand {number}" for number in range(1, count + 1))


def _origin(part: Part) -> str:
    """Say what a function was made of."""
    return f"made of {_called(part)}" + (f" in @{part.function}" if part.parent is not None else "")


def longest_rising(numbers: Sequence[int]) -> frozenset[int]:
    """Return the places of a longest rising subsequence of distinct numbers, by patience sorting."""
    tops: list[int] = []
    places: list[int] = []
    before: list[int] = []
    for place, number in enumerate(numbers):
        pile = bisect_left(tops, number)
        tops[pile : pile + 1] = [number]
        before.append(places[pile - 1] if pile else -1)
        places[pile : pile + 1] = [place]
    found: set[int] = set()
    place = places[-1] if places else -1
    while place >= 0:
        found.add(place)
        place = before[place]
    return frozenset(found)
