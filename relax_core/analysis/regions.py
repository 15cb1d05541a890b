"""Compiler regions: what `compiler_begin` and `compiler_end` enclose.

A region is the nodes between its begins and its ends, annotations included; an operator joins the open regions of
its inputs. Lets, conditionals and matches belong to no region: regions lie inside their parts.

See: tvm/src/relay/analysis/annotated_region_set.cc, v0.19
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import TypeAlias, TypeGuard, TypeVar, cast

from relax_core.ir.attrs import Attrs
from relax_core.ir.expr import Call, Expr, Function, Op, Tuple, TupleGetItem
from relax_core.ir.node import Node
from relax_core.ir.relay import Let, RefCreate, RefRead, RefWrite
from relax_core.ir.slots import set_by_slots
from relax_core.ir.values import value_parts

E = TypeVar("E", bound=Expr)

Values: TypeAlias = dict[Node, tuple[Node, ...]]
"""The nodes of a function, inputs first, each with the parts that hold values: none for a closed function literal."""

BEGIN = "annotation.compiler_begin"
END = "annotation.compiler_end"
DEFAULT = "default"
_MARKS = (BEGIN, END)
OUTSIDE = -1
"""The number of no set."""
CLOSED_ATTRS = frozenset(("Composite", "Primitive", "Compiler", "PartitionedFromPattern"))


@set_by_slots
@dataclass(frozen=True, slots=True, eq=False)
class Region:
    """A region of one target.

    `number` counts the begins of targets before its first one, or those of no target if it has none: a region keeps
    its number when the annotations of no target go. `nodes` are all of it, annotations included, inputs before users.
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
        marks = {*self.begins, *self.ends}
        return tuple([node for node in self.nodes if node not in marks])

    @property
    def is_open(self) -> bool:
        """Tell whether a begin has no end: nothing of the region is its result."""
        return not self.ends


@dataclass(frozen=True, eq=False)
class Regions:
    """The regions of a function in the order of their first begins."""

    all: tuple[Region, ...]

    @cached_property
    def of(self) -> Mapping[Node, Region]:
        """The region of each node that is in one."""
        return MappingProxyType({node: region for region in self.all for node in region.nodes})


BEGIN_OP, END_OP = Op(BEGIN), Op(END)
_HOLDERS = (Call, Tuple, TupleGetItem, RefCreate, RefRead, RefWrite)
"""The kinds of nodes that belong to regions."""


def begin(expr: Expr, target: str) -> Call:
    """Return `compiler_begin(expr)` for a target."""
    return Call(BEGIN_OP, (expr,), mark_of(target))


def end(expr: Expr, target: str) -> Call:
    """Return `compiler_end(expr)` for a target."""
    return Call(END_OP, (expr,), mark_of(target))


def mark_of(target: str) -> Attrs:
    """Return the attributes of the annotations of a target."""
    return (("compiler", target),)


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
    for key, value in call.attrs:
        if key == "compiler":
            return str(value)
    return DEFAULT


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


def open_values(root: Node) -> Values:
    """Return the nodes of `open_postorder` without the operators that calls name, each with its parts."""
    order: Values = {}
    # `None` says that the last of `waiting` has had its parts.
    stack: list[Node | None] = [root]
    waiting: list[tuple[Node, tuple[Node, ...]]] = []
    while stack:
        node = stack.pop()
        if node is None:
            node, parts = waiting.pop()
            order[node] = parts
            continue
        while node not in order:
            # Most nodes are calls of operators.
            parts = node.args if type(node) is Call and type(node.op) is Op else value_parts(node)
            if not parts or (type(node) is Function and node is not root and is_closed(node)):
                order[node] = ()
                break
            waiting.append((node, parts))
            stack.append(None)
            stack += parts[:0:-1]
            node = parts[0]
    return order


def find_regions(function: Function, order: Values | None = None) -> Regions:
    """Return the regions of a function; `order` are its `open_values` if they are known. Complexity: linear."""
    return find_sets(open_values(function) if order is None else order).regions()


@dataclass(slots=True)
class RegionSets:
    """Regions as sets of begins that grow together; `parent` leads from a set to the one that it joined.

    Sets are counted as their begins come, and joined to the earlier ones; an end whose value is in no set opens one.
    """

    parent: list[int] = field(default_factory=list[int])
    target_of: list[str] = field(default_factory=list[str])
    """The target by set."""
    number_of: dict[Expr, int] = field(default_factory=dict[Expr, int])
    """The sets of begins, operators and ends, inputs first."""
    inside: dict[Node, int] = field(default_factory=dict[Node, int])
    """The sets that what uses a node joins: of all but the ends, and of what was looked through."""
    behind: dict[Node, Expr] = field(default_factory=dict[Node, Expr])
    """What stands behind annotations that were looked through."""
    begins: list[Call] = field(default_factory=list[Call])
    ends: list[Call] = field(default_factory=list[Call])

    def root(self, number: int) -> int:
        """Return the set that `number` has come to be a part of."""
        parent = self.parent
        while parent[number] != number:
            parent[number] = parent[parent[number]]
            number = parent[number]
        return number

    def join(self, node: Expr, parts: Iterable[Node]) -> None:
        """Put a node that is no annotation into the set of its inputs, which become one."""
        inside = self.inside
        joined = OUTSIDE
        for part in parts:
            number = inside.get(part, OUTSIDE)
            if joined == OUTSIDE:
                joined = number
            elif number not in (joined, OUTSIDE):
                a, b = self.root(joined), self.root(number)
                self.parent[max(a, b)] = min(a, b)
        if joined != OUTSIDE:
            self.number_of[node] = inside[node] = joined

    def close(self, end: Call, value: Expr, target: str) -> None:
        """Put an end into the set of what it closes, or open one with `value`, the node that it stands around."""
        number = self.inside.get(value)
        if number is None:
            number = len(self.parent)
            self.parent.append(number)
            self.target_of.append(target)
            inner = self.behind.get(end.args[0], end.args[0])
            # The end of another region stays in that one.
            if isinstance(inner, Call) and inner not in self.number_of:
                self.number_of[inner] = number
                if not is_end(inner):
                    self.inside[inner] = number
        self.number_of[end] = number
        self.ends.append(end)

    def roots(self) -> list[int]:
        """Return for each set the one that it has come to be a part of."""
        roots: list[int] = []
        for number, parent in enumerate(self.parent):
            roots.append(number if parent == number else roots[parent])
        return roots

    def regions(self) -> Regions:
        """Return the sets as regions, in their order."""
        roots = self.roots()
        nodes_of = self._by_root(self.number_of, roots)
        begins_of, ends_of = self._by_root(self.begins, roots), self._by_root(self.ends, roots)
        targets, numbers = self.target_of, self._numbers()
        found = (
            Region(numbers[item], targets[item], tuple(begins_of[item]), tuple(ends_of[item]), tuple(nodes))
            for item, nodes in enumerate(nodes_of)
            if nodes
        )
        return Regions(tuple(found))

    def _numbers(self) -> list[int]:
        """Return for each set how many sets of its kind, of a target or of none, came before it."""
        counts: Counter[bool] = Counter()
        numbers: list[int] = []
        for target in self.target_of:
            is_default = target == DEFAULT
            numbers.append(counts[is_default])
            counts[is_default] += 1
        return numbers

    def _by_root(self, items: Iterable[E], roots: list[int]) -> list[list[E]]:
        """Return nodes by the sets that theirs have come to be parts of."""
        found: list[list[E]] = [[] for _ in roots]
        for node in items:
            found[roots[self.number_of[node]]].append(node)
        return found


def find_sets(order: Values, *, skips_default: bool = False) -> RegionSets:
    """Return the sets of begins of a function whose `open_values` are `order`. Complexity: linear.

    An end around a variable closes the set of the value that a let binds it to. With `skips_default` annotations of
    no target are looked through, and form no sets.
    """
    sets = RegionSets()
    number_of, inside, behind = sets.number_of, sets.inside, sets.behind
    begins, parent, target_of = sets.begins, sets.parent, sets.target_of
    bound: dict[Node, Expr] = {node.var: node.value for node in order if type(node) is Let}
    targets: dict[Attrs, str] = {}
    for node, parts in order.items():
        if type(node) is not Call:
            if isinstance(node, _HOLDERS):
                sets.join(node, parts)
            continue
        if type(node.op) is not Op or (name := node.op.name) not in _MARKS:
            sets.join(node, parts)
            continue
        target = targets.get(node.attrs)
        if target is None:
            target = targets[node.attrs] = annotated_target(node)
        if target == DEFAULT and skips_default:
            value = behind[node] = behind.get(node.args[0], node.args[0])
            if value in inside:
                inside[node] = inside[value]
        elif name == BEGIN:
            number_of[node] = inside[node] = len(parent)
            parent.append(len(parent))
            target_of.append(target)
            begins.append(node)
        else:
            value = behind.get(node.args[0], node.args[0])
            value = bound.get(value, value)
            sets.close(node, behind.get(value, value), target)
    return sets
