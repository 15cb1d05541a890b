"""The graph of compiler regions: which may be merged without a cycle, and the path that forbids it.

A vertex is a region, or a node outside of all regions. Merging two vertices with an edge between them is sound if no
other path leads from one to the other; such a path would leave the merged region and come back.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from relax_core.analysis.regions import Region, Regions, is_closed, open_values
from relax_core.ir.expr import Constant, Expr, Function, GlobalVar, Op, Var
from relax_core.ir.node import Node
from relax_core.ir.relay import Constructor, Let
from relax_core.ir.values import value_parts


@dataclass(slots=True)
class RegionGraph:
    """Vertices are numbers in the order of evaluation. `producers` and `users` are edges of vertices that still stand.

    `first` and `last` are the least and greatest number of what was merged into a vertex. `start` is the place in the
    function where it is computed first, `needs` the place where the last let is bound that it takes values through.
    """

    vertex_of: dict[Node, int] = field(default_factory=dict[Node, int])
    node_of: list[Node] = field(default_factory=list[Node])
    producers: list[set[int]] = field(default_factory=list[set[int]])
    first: list[int] = field(default_factory=list[int])
    last: list[int] = field(default_factory=list[int])
    start: list[int] = field(default_factory=list[int])
    needs: list[int] = field(default_factory=list[int])
    _parent: list[int] = field(default_factory=list[int])

    def add(self, node: Node) -> int:
        """Add a vertex that is shown as `node`."""
        number = len(self.node_of)
        self.node_of.append(node)
        self.producers.append(set())
        self.first.append(number)
        self.last.append(number)
        self.start.append(0)
        self.needs.append(NOWHERE)
        self._parent.append(number)
        return number

    def find(self, number: int) -> int:
        """Return the vertex that `number` was merged into."""
        while self._parent[number] != number:
            self._parent[number] = self._parent[self._parent[number]]
            number = self._parent[number]
        return number

    def inputs(self, number: int) -> set[int]:
        """Return the vertices that `number` takes values from."""
        found = {self.find(item) for item in self.producers[number]}
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
        return max(self.needs[producer], self.needs[user]) > min(self.start[producer], self.start[user])

    def merge(self, producer: int, user: int) -> None:
        """Make one vertex of two; the caller has seen that no other path connects them."""
        self._parent[producer] = user
        self.producers[user] = (self.inputs(user) | self.inputs(producer)) - {user, producer}
        self.first[user] = min(self.first[user], self.first[producer])
        self.last[user] = max(self.last[user], self.last[producer])
        self.start[user] = min(self.start[user], self.start[producer])
        self.needs[user] = max(self.needs[user], self.needs[producer])


def _trace(start: int, end: int, came_from: dict[int, int]) -> Iterator[int]:
    current = start
    yield current
    while current != end:
        current = came_from[current]
        yield current


def region_graph(function: Function, regions: Regions, nodes: Sequence[Node] = ()) -> RegionGraph:
    """Build the graph of a function; a variable that a let binds leads to its value. Complexity: linear.

    Without lets there are no places: nothing is computed before a let, or needs one.
    `nodes` are the function's `open_values` if they are known.
    """
    nodes = nodes or open_values(function)
    graph = RegionGraph()
    order = [node for node in nodes if is_vertex(node)]
    bound = {node.var: node.value for node in order if isinstance(node, Let)}
    _add_vertices(graph, order, regions)
    vertex_of = graph.vertex_of
    for node in order:
        own = vertex_of[node]
        for part in value_parts(node):
            number = vertex_of.get(value_behind(part, bound) if bound else part)
            if number is not None and number != own:
                graph.producers[own].add(number)
    if bound:
        _place(graph, order, let_places(nodes))
    return graph


def _add_vertices(graph: RegionGraph, order: Sequence[Node], regions: Regions) -> None:
    first_of: dict[Region, int] = {}
    for node in order:
        region = regions.of.get(node)
        number = None if region is None else first_of.get(region)
        if number is None:
            number = graph.add(node)
            if region is not None:
                first_of[region] = number
        else:
            graph.last[number] = len(graph.node_of) - 1
        graph.vertex_of[node] = number


def _place(graph: RegionGraph, order: Sequence[Node], places: "LetPlaces") -> None:
    for node in reversed(order):
        own = graph.vertex_of[node]
        graph.start[own] = places.start_of[node]
        graph.needs[own] = max(graph.needs[own], places.needs_of.get(node, NOWHERE))


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


def let_places(nodes: Sequence[Node]) -> LetPlaces:
    """Find the places of the nodes of a function, which come in the order of `open_values`. Complexity: linear."""
    start_of = {node: place for place, node in enumerate(nodes)}
    lets = [node for node in nodes if isinstance(node, Let)]
    # A value that was computed before is bound where its variable stands.
    bound_at: dict[Node, int] = {let.var: max(start_of[let.var], start_of[let.value]) for let in lets}
    needs_of: dict[Node, int] = {}
    used_at: dict[Node, int] = {let.value: start_of[let.var] for let in reversed(lets) if isinstance(let.value, Var)}
    for node in nodes:
        if not isinstance(node, Let):
            for part in value_parts(node):
                if isinstance(part, Var):
                    used_at.setdefault(part, start_of[node])
        parts = (node.body,) if isinstance(node, Let) else value_parts(node)
        needs = max((needs_of.get(part, NOWHERE) for part in parts), default=NOWHERE)
        needs_of[node] = max(needs, bound_at.get(node, NOWHERE))
    return LetPlaces(start_of, needs_of, bound_at, used_at)


def value_behind(node: Node, bound: dict[Var, Expr]) -> Node:
    """Return what a let-bound variable stands for, through other variables."""
    while isinstance(node, Var) and node in bound:
        node = bound[node]
    return node


_ATOMS = (Op, GlobalVar, Var, Constant, Constructor)


def is_vertex(node: Node) -> bool:
    """Tell whether `node` computes something."""
    if isinstance(node, Function):
        return not is_closed(node)
    return isinstance(node, Expr) and not isinstance(node, _ATOMS)
