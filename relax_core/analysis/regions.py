"""Compiler regions: what `compiler_begin` and `compiler_end` enclose.

A region is the nodes between its begins and its ends, annotations included; an operator joins the open regions of
its inputs. Lets, conditionals and matches belong to no region: regions lie inside their parts.

See: tvm/src/relay/analysis/annotated_region_set.cc, v0.19
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TypeGuard, TypeVar, cast

from relax_core.ir.attrs import attr
from relax_core.ir.expr import Call, Expr, Function, Op, Tuple, TupleGetItem
from relax_core.ir.node import Node
from relax_core.ir.relay import Let, RefCreate, RefRead, RefWrite
from relax_core.ir.values import value_parts

E = TypeVar("E", bound=Expr)

BEGIN = "annotation.compiler_begin"
END = "annotation.compiler_end"
DEFAULT = "default"
_MARKS = (BEGIN, END)
CLOSED_ATTRS = frozenset(("Composite", "Primitive", "Compiler", "PartitionedFromPattern"))


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


_BEGIN_OP, _END_OP = Op(BEGIN), Op(END)
_HOLDERS = (Call, Tuple, TupleGetItem, RefCreate, RefRead, RefWrite)
"""The kinds of nodes that belong to regions."""


def begin(expr: Expr, target: str) -> Call:
    """Return `compiler_begin(expr)` for a target."""
    return Call(_BEGIN_OP, (expr,), (("compiler", target),))


def end(expr: Expr, target: str) -> Call:
    """Return `compiler_end(expr)` for a target."""
    return Call(_END_OP, (expr,), (("compiler", target),))


def is_begin(node: object) -> TypeGuard[Call]:
    """Tell whether `node` is a call of compiler_begin."""
    return isinstance(node, Call) and isinstance(node.op, Op) and node.op.name == BEGIN


def is_end(node: object) -> TypeGuard[Call]:
    """Tell whether `node` is a call of compiler_end."""
    return isinstance(node, Call) and isinstance(node.op, Op) and node.op.name == END


def is_annotation(node: object) -> TypeGuard[Call]:
    """Tell whether `node` is a begin or an end."""
    return isinstance(node, Call) and isinstance(node.op, Op) and node.op.name in _MARKS


def annotated_target(call: Call) -> str:
    """Return the target of an annotation."""
    return str(attr(call.attrs, "compiler", DEFAULT))


def is_closed(function: Function) -> bool:
    """Tell whether a function literal is a unit that annotations do not enter: a composite, a partitioned one."""
    return not CLOSED_ATTRS.isdisjoint(dict(function.attrs))


def open_postorder(root: Node) -> Iterator[Node]:
    """Yield the nodes below `root` once each, inputs first; closed function literals are yielded, not entered."""
    seen: set[Node] = set()
    # `None` says that what is under it on the stack has had its children.
    stack: list[Node | None] = [root]
    while stack:
        node = stack.pop()
        if node is None:
            yield cast("Node", stack.pop())
        elif node not in seen:
            seen.add(node)
            parts = node.PARTS(node)
            if parts and (not isinstance(node, Function) or node is root or not is_closed(node)):
                stack += (node, None)
                stack += parts[::-1]
            else:
                yield node


def open_values(root: Node) -> tuple[Node, ...]:
    """Return the nodes of `open_postorder` without the operators that calls name."""
    found: list[Node] = []
    seen: set[Node] = set()
    # `None` says that the last of `waiting` has had its parts.
    stack: list[Node | None] = [root]
    waiting: list[Node] = []
    while stack:
        node = stack.pop()
        if node is None:
            found.append(waiting.pop())
        elif node not in seen:
            seen.add(node)
            parts = value_parts(node)
            if parts and (not isinstance(node, Function) or node is root or not is_closed(node)):
                waiting.append(node)
                stack.append(None)
                stack += parts[::-1]
            else:
                found.append(node)
    return tuple(found)


def find_regions(function: Function, order: Sequence[Node] = ()) -> Regions:
    """Return the regions of a function; `order` are its `open_values` if they are known. Complexity: linear."""
    order = order or open_values(function)
    finder = _Finder({node.var: node.value for node in order if isinstance(node, Let)})
    for node in order:
        if isinstance(node, _HOLDERS):
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
        self._number_of: dict[Expr, int] = {}
        self._inside: dict[Node, int] = {}
        """The numbers of the nodes whose values are in their region still: of all but the ends."""
        self._begins: list[Call] = []
        self._ends: list[Call] = []

    def visit(self, node: Expr) -> None:
        if isinstance(node, Call) and isinstance(node.op, Op):
            if node.op.name == BEGIN:
                self._begins.append(node)
                self._number_of[node] = self._inside[node] = self._open(annotated_target(node))
                return
            if node.op.name == END:
                self._ends.append(node)
                self._end(node)
                return
        joined = [number for part in value_parts(node) if (number := self._inside.get(part)) is not None]
        if joined:
            self._number_of[node] = self._inside[node] = joined[0]
            for number in joined[1:]:
                self._join(joined[0], number)

    def _end(self, node: Call) -> None:
        value = self._bound.get(node.args[0], node.args[0])
        number = self._inside.get(value)
        if number is None:
            number = self._open(annotated_target(node))
            if isinstance(node.args[0], Call):
                self._number_of[node.args[0]] = number
                if not is_end(node.args[0]):
                    self._inside[node.args[0]] = number
        self._number_of[node] = number

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
        a, b = self._root(a), self._root(b)
        self._parent[max(a, b)] = min(a, b)

    def result(self) -> Regions:
        numbers = [self._root(number) for number in range(len(self._parent))]
        nodes = self._by_region(numbers, self._number_of)
        begins = self._by_region(numbers, self._begins)
        ends = self._by_region(numbers, self._ends)
        regions: list[Region] = []
        of: dict[Node, Region] = {}
        for number, members in sorted(nodes.items()):
            own_begins, own_ends = tuple(begins.get(number, ())), tuple(ends.get(number, ()))
            region = Region(number, self._targets[number], own_begins, own_ends, tuple(members))
            regions.append(region)
            of.update(dict.fromkeys(members, region))
        return Regions(tuple(regions), MappingProxyType(of))

    def _by_region(self, numbers: list[int], items: Iterable[E]) -> dict[int, list[E]]:
        """Return some of the nodes by the numbers of their regions, `numbers` being those of the sets of begins."""
        found: dict[int, list[E]] = {}
        for node in items:
            found.setdefault(numbers[self._number_of[node]], []).append(node)
        return found
