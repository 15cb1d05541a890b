"""Which operators of a function are computed together: the rules of fusion, in three phases.

First anchors and what is elementwise, so that a convolution takes what follows it; then what moves elements; then what
moves elements into tuples that are not results.
See: tvm/src/relay/analysis/graph_partitioner.cc, GraphPartitioner::RunFuse, v0.19
"""

from dataclasses import dataclass, field
from typing import Final

from relax_core.analysis.fusion_graph import Domination, FusionGraph, FusionNode, Kind, post_dominators
from relax_core.ir.expr import Binding, Call, Op, Var
from relax_core.ir.node import Node

PHASES: Final = 3


@dataclass(frozen=True, slots=True)
class Condition:
    """Which values may be on the way: those up to a kind, and at its end those of further kinds."""

    most: Kind
    at_end: tuple[Kind, ...] = ()

    def allows(self, kind: Kind, *, is_end: bool) -> bool:
        """Tell whether a value of `kind` may be there."""
        return kind <= self.most or (is_end and kind in self.at_end)


_TO_BROADCAST: Final = Condition(Kind.BROADCAST)
_TO_INJECTIVE: Final = Condition(Kind.INJECTIVE)
# Branches beside the way may move elements; the end may be an anchor that others have joined.
_TO_ANCHOR: Final = Condition(Kind.INJECTIVE, (Kind.REDUCE, Kind.OUT_FUSABLE))


@dataclass(slots=True, eq=False)
class FusionGroup:
    """Values that are computed together; `root` is the one that others use. `parent` is the group that it joined."""

    root: Node
    kind: Kind
    count: int = 1
    parent: "FusionGroup | None" = None

    def find(self) -> "FusionGroup":
        """Return the group that this one is a part of."""
        group = self
        while group.parent is not None:
            group = group.parent
        if self is not group:
            self.parent = group
        return group


@dataclass(frozen=True, slots=True)
class Missed:
    """Why a value was not computed together with what uses it."""

    reason: str
    because: tuple[Node, ...] = ()


@dataclass(slots=True)
class FusionGroups:
    """The group of each value, by its index in the graph, and why values did not join the next one."""

    groups: list[FusionGroup]
    missed: dict[Node, Missed]


def fusion_groups(graph: FusionGraph, max_depth: int) -> FusionGroups:
    """Partition the values of `graph`; a group holds at most `max_depth` of them."""
    partition = _Partition(graph, max_depth, post_dominators(graph))
    for phase in range(PHASES):
        for node in graph.nodes:
            partition.visit(node, phase)
    return FusionGroups(partition.groups, partition.missed)


def separate(graph: FusionGraph) -> FusionGroups:
    """Return groups of one value each."""
    return FusionGroups([FusionGroup(node.expr, node.kind) for node in graph.nodes], {})


@dataclass(slots=True)
class _Partition:
    graph: FusionGraph
    max_depth: int
    dominations: tuple[Domination, ...]
    groups: list[FusionGroup] = field(default_factory=list[FusionGroup])
    missed: dict[Node, Missed] = field(default_factory=dict[Node, Missed])

    def __post_init__(self) -> None:
        self.groups = separate(self.graph).groups

    def visit(self, node: FusionNode, phase: int) -> None:
        """Let a value join the group of the one that all its uses lead to, if the rules of the phase allow it."""
        group, domination = self.groups[node.index], self.dominations[node.index]
        if group.kind is Kind.OPAQUE:
            self.miss(node, "it is opaque: nothing joins its kernel")
            return
        if domination.parent is None:
            is_shared = not node.is_external and node.uses
            why = "its uses lead to no common operator" if is_shared else "its value leaves the graph here"
            self.miss(node, why, *(user.expr for user, _ in node.uses[:2] if is_shared))
            return
        end = domination.parent.node
        if group.find() is self.groups[end.index].find():
            return
        count = self.groups[end.index].find().count + self.count_until(node, end)
        if count > self.max_depth:
            self.miss(node, f"the function would hold {count} values, the limit is {self.max_depth}", end.expr)
            return
        condition = self.condition(group, domination, end, phase)
        if condition is not None:
            self.join(node, end, condition)

    def condition(self, group: FusionGroup, domination: Domination, end: FusionNode, phase: int) -> Condition | None:
        """Return what must hold on the way to `end`, `None` if this is not the phase or the rules forbid it."""
        end_group = self.groups[end.index]
        if phase == PHASES - 1:
            is_inner_tuple = end_group.kind is Kind.TUPLE and end_group.find().kind <= Kind.INJECTIVE
            return _TO_INJECTIVE if group.kind <= Kind.INJECTIVE and is_inner_tuple else None
        if end_group.kind is Kind.TUPLE:
            self.miss(domination.node, "it goes into a tuple", end.expr)
            return None
        match group.kind:
            case Kind.OUT_FUSABLE if phase == 0:
                if domination.kind is Kind.ELEMENTWISE:
                    return _TO_BROADCAST
            case Kind.ELEMENTWISE | Kind.BROADCAST:
                if domination.kind <= Kind.INJECTIVE or domination.kind is Kind.REDUCE:
                    return _TO_ANCHOR
            case Kind.INJECTIVE | Kind.TUPLE:
                return _TO_INJECTIVE if phase == 1 else None
            case _:
                if phase == 0:
                    self.miss(domination.node, "a reduction takes in what is before it, not what follows", end.expr)
                return None
        if phase == 0:
            shown = domination.kind.name.lower().replace("_", " ")
            self.miss(domination.node, f"the use by {words(end.expr)} is {shown}", end.expr)
        return None

    def miss(self, node: FusionNode, reason: str, *because: Node) -> None:
        self.missed[node.expr] = Missed(reason, because)

    def count_until(self, start: FusionNode, end: FusionNode) -> int:
        """Count the values on the ways from `start` to `end`, with all that joined them."""
        return sum(self.groups[node.index].count for node in _between(start, end))

    def join(self, start: FusionNode, end: FusionNode, condition: Condition) -> None:
        """Make one group of all from `start` to `end` if `condition` holds on the way."""
        between = _between(start, end)
        for node in (*between[1:], end):
            kind = self.groups[node.index].find().kind
            if not condition.allows(kind, is_end=node is end):
                shown = kind.name.lower().replace("_", " ")
                self.miss(start, f"{words(node.expr)} on the way is {shown}", node.expr)
                return
        target = self.groups[end.index]
        for node in between:
            self.merge(self.groups[node.index], target)
            self.missed.pop(node.expr, None)

    def merge(self, child: FusionGroup, parent: FusionGroup) -> None:
        child, parent = child.find(), parent.find()
        if child is parent:
            return
        parent.count += child.count
        child.parent = parent
        if child.kind is Kind.OUT_FUSABLE:
            parent.kind = max(child.kind, parent.kind)


def _between(start: FusionNode, end: FusionNode) -> list[FusionNode]:
    """List the values on the ways from `start` to `end`, which all its ways lead to; `start` is the first."""
    found: dict[FusionNode, None] = {}
    stack = [start]
    while stack:
        node = stack.pop()
        if node is not end and node not in found:
            found[node] = None
            stack.extend(user for user, _ in node.uses)
    return list(found)


def words(expr: Node) -> str:
    """Name a value for a remark."""
    match expr:
        case Call(op=Op(name=name)) | Binding(var=Var(name=name)):
            return f"`{name}`"
        case _:
            return type(expr).__name__.lower()
