"""Compiler regions: what `compiler_begin` and `compiler_end` enclose.

A region is the nodes between its begins and its ends, annotations included; an operator joins the open regions of
its inputs. Lets, conditionals and matches belong to no region: regions lie inside their parts.

See: tvm/src/relay/analysis/annotated_region_set.cc, v0.19
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TypeGuard

from relax_core.ir.attrs import attr, attrs_of, has_attr
from relax_core.ir.expr import Call, Expr, Function, Op, Tuple, TupleGetItem
from relax_core.ir.node import Node, children
from relax_core.ir.relay import Let, RefCreate, RefRead, RefWrite

BEGIN = "annotation.compiler_begin"
END = "annotation.compiler_end"
DEFAULT = "default"
CLOSED_ATTRS = ("Composite", "Primitive", "Compiler", "PartitionedFromPattern")


@dataclass(frozen=True, slots=True, eq=False)
class Region:
    """A region of one target. `number` counts the begins of the function before its first one.

    `nodes` are all of it, annotations included, inputs before their users.
    """

    number: int
    target: str
    begins: tuple[Call, ...]
    ends: tuple[Call, ...]
    nodes: tuple[Expr, ...]

    @property
    def inputs(self) -> tuple[Expr, ...]:
        """What the begins enclose: the values that flow in, one for each begin."""
        return tuple(begin.args[0] for begin in self.begins)

    @property
    def operators(self) -> tuple[Expr, ...]:
        """The nodes that are no annotations."""
        return tuple(node for node in self.nodes if not is_annotation(node))

    @property
    def is_open(self) -> bool:
        """Tell whether a begin has no end: nothing of the region is its result."""
        return not self.ends


@dataclass(frozen=True, slots=True, eq=False)
class Regions:
    """The regions of a function in the order of their first begins, and the region of each node in one."""

    all: tuple[Region, ...]
    of: Mapping[Node, Region]


def begin(expr: Expr, target: str) -> Call:
    """Return `compiler_begin(expr)` for a target."""
    return Call(Op(BEGIN), (expr,), attrs_of({"compiler": target}))


def end(expr: Expr, target: str) -> Call:
    """Return `compiler_end(expr)` for a target."""
    return Call(Op(END), (expr,), attrs_of({"compiler": target}))


def is_begin(node: object) -> TypeGuard[Call]:
    """Tell whether `node` is a call of compiler_begin."""
    return isinstance(node, Call) and isinstance(node.op, Op) and node.op.name == BEGIN


def is_end(node: object) -> TypeGuard[Call]:
    """Tell whether `node` is a call of compiler_end."""
    return isinstance(node, Call) and isinstance(node.op, Op) and node.op.name == END


def is_annotation(node: object) -> TypeGuard[Call]:
    """Tell whether `node` is a begin or an end."""
    return is_begin(node) or is_end(node)


def annotated_target(call: Call) -> str:
    """Return the target of an annotation."""
    return str(attr(call.attrs, "compiler", DEFAULT))


def is_closed(function: Function) -> bool:
    """Tell whether a function literal is a unit that annotations do not enter: a composite, a partitioned one."""
    return any(has_attr(function.attrs, key) for key in CLOSED_ATTRS)


def open_postorder(root: Node) -> Iterator[Node]:
    """Yield the nodes below `root` once each, inputs first; closed function literals are yielded, not entered."""
    seen: set[Node] = set()
    stack: list[tuple[Node, bool]] = [(root, False)]
    while stack:
        node, is_done = stack.pop()
        if is_done:
            yield node
        elif node not in seen:
            seen.add(node)
            stack.append((node, True))
            if node is root or not (isinstance(node, Function) and is_closed(node)):
                stack.extend((child, False) for child in reversed(children(node)))


def find_regions(function: Function, order: Sequence[Node] = ()) -> Regions:
    """Return the regions of a function; `order` is its `open_postorder` if that is known. Complexity: linear."""
    order = order or tuple(open_postorder(function))
    finder = _Finder({node.var: node.value for node in order if isinstance(node, Let)})
    for node in order:
        if isinstance(node, Call | Tuple | TupleGetItem | RefCreate | RefRead | RefWrite):
            finder.visit(node)
    return finder.result()


class _Finder:
    """Regions as sets of begins that grow together; `parent` leads from one to the one that it joined.

    An end around a variable closes the region of the value that a let binds it to.
    """

    def __init__(self, bound: Mapping[Node, Expr]) -> None:
        self._bound = bound
        self._parent: list[int] = []
        self._targets: list[str] = []
        self._number_of: dict[Node, int] = {}

    def visit(self, node: Expr) -> None:
        if is_begin(node):
            self._number_of[node] = self._open(annotated_target(node))
            return
        parts = [self._bound.get(node.args[0], node.args[0])] if is_end(node) else children(node)
        joined = [
            self._number_of[child]
            for child in parts
            if child in self._number_of and not is_end(child) and not isinstance(child, Op)
        ]
        if not joined and is_end(node):
            joined = [self._open(annotated_target(node))]
            if isinstance(node.args[0], Call):
                self._number_of[node.args[0]] = joined[0]
        for number in joined[1:]:
            self._join(joined[0], number)
        if joined:
            self._number_of[node] = joined[0]

    def _open(self, target: str) -> int:
        self._parent.append(len(self._parent))
        self._targets.append(target)
        return len(self._parent) - 1

    def _root(self, number: int) -> int:
        while self._parent[number] != number:
            self._parent[number] = self._parent[self._parent[number]]
            number = self._parent[number]
        return number

    def _join(self, a: int, b: int) -> None:
        low, high = sorted((self._root(a), self._root(b)))
        self._parent[high] = low

    def result(self) -> Regions:
        nodes: dict[int, list[Expr]] = {}
        for node, number in self._number_of.items():
            if isinstance(node, Expr):
                nodes.setdefault(self._root(number), []).append(node)
        regions = [
            Region(
                number,
                self._targets[number],
                tuple(node for node in members if is_begin(node)),
                tuple(node for node in members if is_end(node)),
                tuple(members),
            )
            for number, members in sorted(nodes.items())
        ]
        return Regions(tuple(regions), MappingProxyType({node: item for item in regions for node in item.nodes}))
