"""The offload graph: regions or calls of external functions, and the operators between them.

An annotated function and its partitioned form give the same graph, so that both are explained alike.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from relax_core.analysis.region_graph import NOWHERE, LetPlaces, is_vertex, let_places
from relax_core.analysis.regions import DEFAULT, find_regions, is_annotation, is_end, open_values
from relax_core.analysis.relay_scopes import Scope, scopes_of
from relax_core.ir.attrs import attr
from relax_core.ir.expr import Call, Expr, Function, GlobalVar, Var
from relax_core.ir.module import IRModule
from relax_core.ir.node import Node, children
from relax_core.ir.relay import Clause, Let


@dataclass(slots=True, eq=False)
class Unit:
    """A region, a call of an external function, or one other node, whose `target` is `None`.

    `lets_to` maps each unit whose value this one uses to the lets on the way.
    """

    order: int
    target: str | None
    name: str
    nodes: list[Expr]
    scope: Scope | None
    lets_to: "dict[Unit, tuple[Let, ...]]" = field(default_factory=dict["Unit", tuple[Let, ...]])
    last: int = 0


@dataclass(frozen=True, slots=True)
class OffloadGraph:
    """The units of a function, in the order of evaluation of their first nodes."""

    function: Function
    units: tuple[Unit, ...]
    lets: tuple[Let, ...] = ()
    places: LetPlaces = field(default_factory=lambda: let_places({}))

    def lets_over(self, producer: Unit, user: Unit, crossed: tuple[Let, ...]) -> tuple[Let, ...]:
        """Return the lets through which one of the two takes values and which are bound after the other is evaluated.

        Without the lets in `crossed`, what they bind would be evaluated at the first use. Regions without a call wait
        for nothing.
        """
        nodes = (*producer.nodes, *user.nodes)
        if not nodes:
            return ()
        start = min(self.places.start_of[node] for node in nodes)
        if crossed and start > min(self.places.start_of[let.var] for let in crossed):
            uses = (self.places.used_at[let.var] for let in crossed if let.var in self.places.used_at)
            start = min(uses, default=start)
        needs = max(self.places.needs_of[node] for node in nodes)
        if needs <= start:
            return ()
        late = {let.var: let for let in self.lets if start < self.places.bound_at[let.var] <= needs}
        reached: dict[Let, None] = {}
        stack: list[Node] = [*user.nodes, *producer.nodes]
        seen: set[Node] = set(stack)
        while stack:
            node = stack.pop()
            if isinstance(node, Var) and node in late:
                reached[late[node]] = None
                node = late[node].value
            for part in (node, *children(node)):
                if part not in seen and self.places.needs_of.get(part, NOWHERE) > start:
                    seen.add(part)
                    stack.append(part)
        return tuple(let for let in reversed(self.lets) if let in reached)

    def between(self, producers: tuple[Unit, ...], user: Unit) -> Mapping[Unit, tuple[Unit, ...]]:
        """Return for each of `producers` the units on all paths from it to `user`, inputs first."""
        users = self._users_before(user, min(item.order for item in producers))
        place_of = {unit: place for place, unit in enumerate(users)}
        found: dict[Unit, tuple[Unit, ...]] = {}
        for producer in producers:
            reached = {producer, user}
            stack = [producer]
            while stack:
                behind = [item for item in users.get(stack.pop(), ()) if item not in reached]
                reached.update(behind)
                stack += behind
            found[producer] = tuple(sorted(reached - {producer, user}, key=lambda item: place_of[item]))
        return found

    def _users_before(self, user: Unit, start: int) -> dict[Unit, list[Unit]]:
        """Return the units that reach `user`, in topological order, each with its users.

        Only units after position `start` are looked at.
        """
        order: dict[Unit, list[Unit]] = {}
        users: dict[Unit, list[Unit]] = {}
        stack = [(user, False)]
        while stack:
            unit, is_done = stack.pop()
            if is_done:
                order[unit] = users[unit]
            elif unit not in users and (unit.last >= start or unit is user):
                users[unit] = []
                stack.append((unit, True))
                stack.extend((item, False) for item in unit.lets_to)
        for unit in order:
            for item in unit.lets_to:
                if item in users:
                    users[item].append(unit)
        return order


def chain_over(producer: Unit, user: Unit, between: tuple[Unit, ...]) -> tuple[Unit, ...]:
    """Return a shortest path from `producer` to `user` over units of `between`."""
    inside = {*between}
    after: dict[Unit, Unit] = {item: user for item in user.lets_to if item in inside}
    queue = [*after]
    for unit in queue:
        if producer in unit.lets_to:
            chain = [unit]
            while (following := after[chain[-1]]) is not user:
                chain.append(following)
            return tuple(chain)
        for item in unit.lets_to:
            if item in inside and item not in after:
                after[item] = unit
                queue.append(item)
    return between


def offload_graph(module: IRModule, function: Function) -> OffloadGraph:
    """Build the graph of a function; annotations are looked through. Complexity: linear."""
    nodes = open_values(function)
    regions = find_regions(function, nodes)
    scopes = scopes_of(function)
    order = [node for node in nodes if is_vertex(node) and node is not function]
    lets = {node.var: node for node in order if isinstance(node, Let)}
    unit_of: dict[Node, Unit] = {}
    of_region: dict[object, Unit] = {}
    for place, node in enumerate(order):
        if isinstance(node, Let) or not isinstance(node, Expr):
            continue
        region = regions.of.get(node)
        if region is not None and region.target != DEFAULT:
            unit = of_region.get(region)
            if unit is None:
                name = f"{region.target} {region.number}"
                unit = of_region[region] = Unit(place, region.target, name, [], scopes.scope_of.get(node))
            unit_of[node] = unit
            unit.last = place
            if not is_annotation(node):
                unit.nodes.append(node)
        elif not is_annotation(node):
            target = _external_target(module, node)
            name = node.op.name if isinstance(node, Call) and isinstance(node.op, GlobalVar) and target else ""
            unit_of[node] = Unit(place, target, name, [node], scopes.scope_of.get(node), last=place)
    for node in order:
        unit = unit_of.get(node)
        if unit is not None:
            for child in children(node):
                _connect(unit, child, unit_of, lets)
    units = dict.fromkeys(unit_of.values())
    ordered = tuple(sorted(units, key=lambda item: item.order))
    return OffloadGraph(function, ordered, tuple(lets.values()), let_places(nodes))


def _connect(unit: Unit, child: Node, unit_of: dict[Node, Unit], lets: dict[Var, Let]) -> None:
    """Add the edge from the unit that an operand comes from, with the lets on the way."""
    crossed: list[Let] = []
    for node in _behind(child, lets, crossed):
        producer = unit_of.get(node)
        if producer is unit:
            return
        if producer is not None:
            unit.lets_to[producer] = tuple(dict.fromkeys((*unit.lets_to.get(producer, ()), *crossed)))
            return


def _behind(node: Node, lets: dict[Var, Let], crossed: list[Let]) -> Iterator[Node]:
    """Yield `node` and what it stands for: behind annotations, let-bound variables and bodies of lets."""
    while True:
        if is_end(node) and isinstance(node.args[0], Var) and node.args[0] in lets:
            crossed.append(lets[node.args[0]])
        yield node
        match node:
            case Var() if node in lets:
                crossed.append(lets[node])
                node = lets[node].value
            case Let(body=body) | Clause(body=body):
                node = body
            case Call(args=(value,)) if is_annotation(node):
                node = value
            case _:
                return


def _external_target(module: IRModule, node: Expr) -> str | None:
    match node:
        case Call(op=GlobalVar(name=name)) if name in module:
            function = module[name]
            target = attr(function.attrs, "Compiler") if isinstance(function, Function) else None
            return target if isinstance(target, str) else None
        case _:
            return None
