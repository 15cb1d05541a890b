"""Name a node in words, and follow its life from the source through the stages to the bytecode."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final

from relax_core.ir.attrs import attr
from relax_core.ir.expr import (
    Call,
    Constant,
    ExternFunc,
    Function,
    GlobalVar,
    If,
    MatchCast,
    Op,
    PrimValue,
    SeqExpr,
    ShapeExpr,
    Tuple,
    TupleGetItem,
    Type,
    Var,
    VarBinding,
)
from relax_core.ir.module import IRModule
from relax_core.ir.node import Node, children
from relax_core.ir.prim import PrimExpr
from relax_core.ir.relay import Clause, Constructor, Let, Match, Pattern, RefCreate, RefRead, RefWrite
from relax_core.ir.tir import Block, Buffer, BufferStore, For, PrimFunc
from relax_core.passes.core import Stage
from relax_core.present.measures import cut
from relax_core.present.models import InspectorRow, Mark, Part
from relax_core.present.nodes.node_id import NodeIndex
from relax_core.present.words import type_text


def _no_types() -> Mapping[Node, Type]:
    return MappingProxyType({})


def _no_marks() -> Mapping[Node, str]:
    return MappingProxyType({})


@dataclass(frozen=True, slots=True, eq=False)
class InspectorContext:
    """What the inspector reads: the module of one stage, and the stages around it."""

    at: int
    types: Mapping[Node, Type]
    indexes: Sequence[NodeIndex]
    stages: Sequence[Stage]
    show: Callable[[Node], str]
    line_of: Callable[[Node], int]
    end_line_of: Callable[[Node], int]
    instructions_of: Callable[[Node], tuple[int, ...]]
    """Program counters of the instructions made from a node of the last module."""
    spell: Callable[[Type], str] = type_text
    """Writes a type as the user's text does."""
    kernel_at: Callable[[int], str] = lambda _: ""
    """The kernel that the instruction at a program counter calls, "" for any other instruction."""
    lines_of: Callable[[Node], tuple[int, ...]] = lambda _: ()
    """All lines of the user's text that a node stems from: several if passes made one node of several."""
    marks: Mapping[Node, str] = field(default_factory=_no_marks)
    """What the user's text says of the devices of nodes, such as `<cpu(0)>`."""
    noted: Mapping[Node, Type] = field(default_factory=_no_types)
    """The types that comments `/* ty=... */` of the user's text say."""

    @property
    def index(self) -> NodeIndex:
        return self.indexes[self.at]

    @property
    def module(self) -> IRModule:
        return self.index.module


def name_and_value(node: Node) -> tuple[Var | None, Node]:
    """Return the variable that `node` binds or is, and the value under that name."""
    match node:
        case VarBinding(var=var, value=value) | Let(var=var, value=value):
            return var, value
        case MatchCast(var=var):
            return var, node
        case Var():
            return node, node
        case _:
            return None, node


_WORD_OF: Final[tuple[tuple[type[Node], str], ...]] = (
    (Function, "function"),
    (PrimFunc, "prim func"),
    (If, "if"),
    (MatchCast, "match_cast"),
    (Tuple, "tuple"),
    (Constant, "constant"),
    (ShapeExpr, "shape"),
    (PrimValue, "prim value"),
    (GlobalVar, "function name"),
    (Var, "variable"),
    (SeqExpr, "result"),
    (Buffer, "buffer"),
    (BufferStore, "store"),
    (For, "loop"),
    (Block, "block"),
)


def what_is(value: Node) -> str:
    """Name an expression in a word or two: `call_tir`, `add`, `tuple`, `parameter`."""
    match value:
        case Call():
            return _what_call_is(value)
        case TupleGetItem(index=index):
            return f"field {index}"
        case Let() | Match() | RefCreate() | RefRead() | RefWrite() | Constructor() | Clause() | Pattern():
            return _what_relay_is(value)
        case _:
            return next((word for kind, word in _WORD_OF if isinstance(value, kind)), type(value).__name__)


def _what_call_is(call: Call) -> str:
    match call.op:
        case Op(name=name):
            return name.removeprefix("relax.")
        case ExternFunc():
            return "call_packed"
        case GlobalVar():
            return "call"
        case Constructor(name=name):
            return name
        case Function(attrs=attrs):
            composite = attr(attrs, "Composite")
            return f"composite {composite}" if isinstance(composite, str) else "call of a function literal"
        case _:
            return "call of a closure"


def _what_relay_is(value: Node) -> str:
    match value:
        case Let():
            return "let"
        case Match(is_complete=is_complete):
            return "match" if is_complete else "match?"
        case RefCreate():
            return "ref"
        case RefRead():
            return "ref_read"
        case RefWrite():
            return "ref_write"
        case Constructor():
            return "constructor"
        case Clause():
            return "clause"
        case _:
            return "pattern"


def callee_words(value: Node) -> str:
    """Return the name of a callee, `= x` for a variable; otherwise the kind of node."""
    match value:
        case Call(
            op=Op(name="relax.call_tir" | "relax.call_dps_packed"),
            args=(GlobalVar(name=name) | ExternFunc(name=name), *_),
        ):
            return name
        case Call(op=ExternFunc(name=name) | GlobalVar(name=name) | Var(name=name)):
            return name
        case Var(name=name):
            return f"= {name}"
        case _:
            return what_is(value)


def life_rows(node: Node, context: InspectorContext) -> tuple[InspectorRow, ...]:
    """Follow a node from the source to the bytecode; consecutive stages that leave it alone share a row."""
    node = _followed(node, context)
    chain = _through_stages(node, context)
    rows: list[InspectorRow] = []
    first = chain[0]
    if first:
        line = context.line_of(first[0])
        rows.append(InspectorRow("Source", (Part("Source", "strong", line=line),), f"line {line}" if line else ""))
    quiet = 0
    for number, stage in enumerate(context.stages, 1):
        old, new = chain[number - 1], chain[number]
        if not old and not new:
            continue
        mark, words = _step(old, new, context)
        if mark == "unchanged":
            quiet += 1
            continue
        if quiet:
            rows.append(_quiet_row(quiet))
            quiet = 0
        place = context.indexes[number].id_of(new[0]) if new else ""
        rows.append(InspectorRow(stage.pass_name, (Part(stage.pass_name, "strong", node=place),), words, mark))
    if quiet:
        rows.append(_quiet_row(quiet))
    last = chain[-1]
    pcs = sorted({pc for item in last for pc in context.instructions_of(item)})
    if pcs:
        rows += _machine_rows(pcs, context.line_of(node), context)
    return (*rows, *_own_kernel(node, context))


def _followed(node: Node, context: InspectorContext) -> Node:
    """Return the binding or call that a name of an operator or a literal is a part of, else the node itself."""
    if node not in context.index.place_of:
        return node
    nodes = context.index.nodes_of[context.index.function_of(node)]
    whole: Node | None = node
    while isinstance(whole, Op | ExternFunc | GlobalVar | PrimValue | ShapeExpr | PrimExpr):
        part = whole
        whole = next((item for item in nodes if any(child is part for child in children(item))), None)
    return node if whole is None else context.index.node_of(whole)


def _own_kernel(node: Node, context: InspectorContext) -> tuple[InspectorRow, ...]:
    """Link a part of a prim func to its kernel."""
    name = context.index.function_of(node) if node in context.index.place_of else ""
    functions = (index.module.find(name) for index in (context.index, context.indexes[-1]))
    if not all(item is not None and isinstance(item.function, PrimFunc) for item in functions):
        return ()
    return (_kernel_row(name, context.line_of(node)),)


def _kernel_row(name: str, line: int) -> InspectorRow:
    return InspectorRow("Kernel", (Part("Kernel", "strong", go=f"kernel/{line}/{name}"),), name)


def _machine_rows(pcs: Sequence[int], line: int, context: InspectorContext) -> list[InspectorRow]:
    """Link the instructions of a run, and the kernels that they call."""
    words = f"instruction {pcs[0]}" if len(pcs) == 1 else f"instructions {', '.join(map(str, pcs[:6]))}"
    more = " …" if len(pcs) > 6 else ""
    kernels = {name: pc for pc in reversed(pcs) if (name := context.kernel_at(pc))}
    first = next(iter(kernels.values()), pcs[0])
    rows = [InspectorRow("Bytecode", (Part("Bytecode", "strong", go=f"run/{first}"),), words + more)]
    return [*rows, *(_kernel_row(name, line) for name in sorted(kernels))]


def _quiet_row(count: int) -> InspectorRow:
    return InspectorRow("", (Part("1 pass" if count == 1 else f"{count} passes", "muted"),), "unchanged", "unchanged")


def _through_stages(node: Node, context: InspectorContext) -> list[tuple[Node, ...]]:
    """Return for each stage the bindings and functions that `node` stems from or became."""
    chain: list[tuple[Node, ...]] = [()] * len(context.indexes)
    chain[context.at] = (node,)
    for number in range(context.at, 0, -1):
        log, index = context.stages[number - 1].log, context.indexes[number - 1]
        found = dict.fromkeys(
            index.node_of(item)
            for start in chain[number]
            for part in _parts(start)
            for item in log.ancestry(part)
            if item in index.place_of
        )
        chain[number - 1] = tuple(found)[:1]
    for number in range(context.at + 1, len(context.indexes)):
        log, index = context.stages[number - 1].log, context.indexes[number]
        kept = {start for start in chain[number - 1] if start in index.place_of}
        gone = {part for start in chain[number - 1] if start not in kept for part in _parts(start)}
        if not gone:
            chain[number] = chain[number - 1]
            continue
        made = log.descendants(gone)
        # The parameter that a lifted function has for a capture is not what became of the captured value.
        followed = Var if all(isinstance(start, Var) for start in chain[number - 1]) else _FOLLOWED
        found = dict.fromkeys(
            index.node_of(item)
            for item in index.place_of
            if item in kept or (isinstance(item, followed) and not made.isdisjoint(_parts(item)))
        )
        chain[number] = tuple(found)[:_FOLLOWED_COUNT]
    return chain


_FOLLOWED = VarBinding | MatchCast | Function | PrimFunc | SeqExpr
_FOLLOWED_COUNT = 8


def _parts(node: Node) -> tuple[Node, ...]:
    match node:
        case VarBinding(var=var, value=value):
            return node, var, value
        case MatchCast(var=var):
            return node, var
        case _:
            return (node,)


def _step(old: tuple[Node, ...], new: tuple[Node, ...], context: InspectorContext) -> tuple[Mark, str]:
    if not old:
        return "added", _words(new)
    if not new:
        return "removed", ""
    if len(old) == len(new) and all(_is_same(a, b) for a, b in zip(old, new, strict=True)):
        return "unchanged", ""
    return "changed", _words(new)


def _is_same(a: Node, b: Node) -> bool:
    return a is b or name_and_value(a)[1] is name_and_value(b)[1]


def _words(nodes: tuple[Node, ...]) -> str:
    return cut(", then ".join(dict.fromkeys(callee_words(name_and_value(node)[1]) for node in nodes)), 60)
