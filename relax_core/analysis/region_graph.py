"""The graph of compiler regions: which may be merged without a cycle, and the path that forbids it.

A vertex is a region, or a node outside of all regions. Merging two vertices with an edge between them is sound if no
other path leads from one to the other; such a path would leave the merged region and come back.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from relax_core.analysis.regions import RegionSets, Values, is_begin, is_closed, is_end
from relax_core.ir.expr import Constant, Expr, Function, GlobalVar, Op, Var
from relax_core.ir.node import Node
from relax_core.ir.relay import Clause, Constructor, Let


@dataclass(slots=True)
class RegionGraph:
    """Vertices are numbers; `parent` leads from one to the one that it was merged into.

    `producers` are the vertices that one takes values from. `first` and `last` are the places in the function of the
    first and the last node of a vertex, begins left out, which compute nothing; `needs` is the place where the last let
    is bound that it takes values through.
    """

    parent: list[int]
    vertex_of: dict[Node, int]
    producers: list[set[int]]
    first: list[int]
    last: list[int]
    needs: list[int]

    def find(self, number: int) -> int:
        """Return the vertex that `number` was merged into."""
        while self.parent[number] != number:
            self.parent[number] = self.parent[self.parent[number]]
            number = self.parent[number]
        return number

    def inputs(self, number: int) -> set[int]:
        """Return the vertices that `number` takes values from."""
        parent = self.parent
        found = {item if parent[item] == item else self.find(item) for item in self.producers[number]}
        found.discard(number)
        self.producers[number] = found
        return found

    def blocking_path(self, producer: int, user: int) -> tuple[int, ...]:
        """Return a path from `producer` to `user` over other vertices, both ends included; empty if there is none.

        Only vertices behind the first part of `producer` are looked at.
        """
        came_from: dict[int, int] = {}
        stack: list[int] = []
        for item in self.inputs(user):
            if item != producer:
                came_from[item] = user
                stack.append(item)
        while stack:
            current = stack.pop()
            if current == producer:
                return tuple(_trace(current, user, came_from))
            if self.last[current] < self.first[producer]:
                continue
            for item in self.inputs(current):
                if item not in came_from and item != user:
                    came_from[item] = current
                    stack.append(item)
        return ()

    def crosses_let(self, producer: int, user: int) -> bool:
        """Tell whether one of two is computed before a let that the other takes values through."""
        return max(self.needs[producer], self.needs[user]) > min(self.first[producer], self.first[user])

    def merge(self, producer: int, user: int) -> None:
        """Make one vertex of two; the caller has seen that no other path connects them."""
        self.parent[producer] = user
        self.producers[user] = (self.inputs(user) | self.inputs(producer)) - {user, producer}
        self.first[user] = min(self.first[user], self.first[producer])
        self.last[user] = max(self.last[user], self.last[producer])
        self.needs[user] = max(self.needs[user], self.needs[producer])


def _trace(start: int, end: int, came_from: dict[int, int]) -> Iterator[int]:
    current = start
    yield current
    while current != end:
        current = came_from[current]
        yield current


def region_graph(order: Values, sets: RegionSets) -> RegionGraph:
    """Build the graph of a function; a variable that a let binds leads to its value. Complexity: linear.

    `order` are the function's `open_values`, and `sets` the regions among them.
    """
    parent = sets.roots()
    vertex_of: dict[Node, int] = {node: parent[number] for node, number in sets.number_of.items()}
    for node, parts in order.items():
        if parts and node not in vertex_of and is_vertex(node):
            vertex_of[node] = len(parent)
            parent.append(len(parent))
    count = len(parent)
    graph = RegionGraph(
        parent, vertex_of, [set() for _ in range(count)], [NOWHERE] * count, [NOWHERE] * count, [NOWHERE] * count
    )
    bound = {node.var: node.value for node in order if type(node) is Let}
    _connect(graph, order, bound)
    if bound:
        needs, needs_of = graph.needs, let_places(order).needs_of
        for node, vertex in vertex_of.items():
            # What the end of a let's variable closes is computed before the let.
            if needs_of[node] > needs[vertex] and not is_end(node):
                needs[vertex] = needs_of[node]
    return graph


def _connect(graph: RegionGraph, order: Values, bound: dict[Var, Expr]) -> None:
    """Note the places of the vertices, and from which ones each takes values."""
    vertex_of, first, last, producers = graph.vertex_of, graph.first, graph.last, graph.producers
    for place, (node, parts) in enumerate(order.items()):
        own = vertex_of.get(node)
        if own is None:
            continue
        if first[own] < 0 and not is_begin(node):
            first[own] = place
        last[own] = place
        for part in parts:
            producer = vertex_of.get(value_behind(part, bound) if part in bound else part)
            if producer is not None and producer != own:
                producers[own].add(producer)


NOWHERE = -1


@dataclass(frozen=True, slots=True)
class LetPlaces:
    """Where nodes are computed first, and where the last let is bound that each takes values through.

    Places count the nodes in the order of evaluation. `bound_at` gives where lets are bound, by variable, and `used_at`
    where a variable is used first.
    """

    start_of: Mapping[Node, int]
    needs_of: Mapping[Node, int]
    bound_at: Mapping[Node, int]
    used_at: Mapping[Node, int]


def let_places(order: Values) -> LetPlaces:
    """Find the places of the nodes of a function, whose `open_values` are `order`. Complexity: linear."""
    start_of = {node: place for place, node in enumerate(order)}
    lets = [node for node in order if isinstance(node, Let)]
    # A value that was computed before is bound where its variable stands.
    bound_at: dict[Node, int] = {let.var: max(start_of[let.var], start_of[let.value]) for let in lets}
    used_at: dict[Node, int] = {let.value: start_of[let.var] for let in reversed(lets) if isinstance(let.value, Var)}
    needs_of: dict[Node, int] = {}
    for place, (node, parts) in enumerate(order.items()):
        if isinstance(node, Let):
            needs_of[node] = needs_of.get(node.body, NOWHERE)
            continue
        needs = bound_at.get(node, NOWHERE)
        for part in parts:
            before = needs_of.get(part, NOWHERE)
            if before > needs:
                needs = before
            if part not in used_at and isinstance(part, Var):
                used_at[part] = place
        needs_of[node] = needs
    return LetPlaces(start_of, needs_of, bound_at, used_at)


def value_behind(node: Node, bound: dict[Var, Expr]) -> Node:
    """Return what a let-bound variable stands for, through other variables."""
    while isinstance(node, Var) and node in bound:
        node = bound[node]
    return node


_ATOMS = (Op, GlobalVar, Var, Constant, Constructor)


def is_vertex(node: Node) -> bool:
    """Tell whether `node` computes something; a clause of a match gives what its body computes."""
    if isinstance(node, Function):
        return not is_closed(node)
    return isinstance(node, Clause) or (isinstance(node, Expr) and not isinstance(node, _ATOMS))
