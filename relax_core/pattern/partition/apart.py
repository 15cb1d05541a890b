"""Explain why two neighbouring regions of one target were not merged: exactly one reason per pair.

Two units of a target are neighbours if one uses a value of the other, directly or through a let, or if it is the
nearest of the target on a path over other units. Removing the named obstacle would merge them.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from relax_core.analysis.regions import is_annotation
from relax_core.analysis.relay_effects import Effects, effects_of
from relax_core.ir.attrs import attr
from relax_core.ir.expr import Call, Expr, Function, GlobalVar, If, Op, Var
from relax_core.ir.module import IRModule
from relax_core.ir.node import Node
from relax_core.ir.relay import Let, Match, RefCreate, RefRead, RefWrite
from relax_core.pattern.language.show import show_pattern
from relax_core.pattern.matching.facts import MatchContext
from relax_core.pattern.matching.matcher import Miss, try_match
from relax_core.pattern.matching.reasons import Reason, ReasonKind
from relax_core.pattern.matching.search import facts_of
from relax_core.pattern.matching.variants import root_operators
from relax_core.pattern.partition.offload import Unit, chain_over, offload_graph
from relax_core.pattern.partition.tables import NO_TABLES, Tables, target_of

_SUPPORT_KINDS = frozenset[ReasonKind](("unsupported operator", "predicate", "failed pattern"))
"""Reasons that vanish if the target supports an operator: several such operators are reported as a path."""


NEAREST_LIMIT = 8
"""How many equally near regions are kept for one unit."""


@dataclass(frozen=True, slots=True)
class _Nearest:
    """The nearest regions of a target behind a unit, and how many units are in between."""

    distance: int
    regions: tuple[Unit, ...]


_Found = Mapping[Unit, Mapping[str, _Nearest]]
_Links = Mapping[Unit, tuple[Unit, ...]]


def neighbours(units: tuple[Unit, ...]) -> Mapping[Unit, tuple[Unit, ...]]:
    """Return for each unit the neighbours that it uses values of, both in the order of evaluation.

    A unit is a neighbour of the units of its target whose values it uses. On every other path into it or out of it its
    neighbour is the nearest unit of its target. Complexity: edges times targets.
    """
    inputs: dict[Unit, tuple[Unit, ...]] = {unit: tuple(unit.lets_to) for unit in units}
    users: dict[Unit, list[Unit]] = {unit: [] for unit in units}
    for unit, producers in inputs.items():
        for producer in producers:
            users[producer].append(unit)
    outputs = {unit: tuple(items) for unit, items in users.items()}
    order = _inputs_first(units, inputs)
    before, behind = _nearest(order, inputs), _nearest(order[::-1], outputs)
    found: dict[Unit, set[Unit]] = {unit: set() for unit in units}
    for unit in units:
        if unit.target is not None:
            found[unit].update(_reached(unit, inputs, before))
            for user in _reached(unit, outputs, behind):
                found[user].add(unit)
    return {
        user: tuple(sorted(producers - {user}, key=lambda item: item.order))
        for user, producers in found.items()
        if producers - {user}
    }


def _reached(unit: Unit, links: _Links, found: _Found) -> Iterator[Unit]:
    """Yield those of the target of `unit` that are linked to it, and the nearest on each other way."""
    target = unit.target or ""
    for item in links[unit]:
        if item.target == target:
            yield item
        elif target in found[item]:
            yield from found[item][target].regions


def _nearest(order: Iterable[Unit], links: _Links) -> _Found:
    """Find the nearest units of each target behind every unit; `order` has what a unit is linked to before it."""
    found: dict[Unit, dict[str, _Nearest]] = {}
    for unit in order:
        nearest = found[unit] = {}
        for item in links[unit]:
            if item.target is not None:
                _add(nearest, item.target, _Nearest(0, (item,)))
            for target, known in found.get(item, {}).items():
                if target != item.target:
                    _add(nearest, target, _Nearest(known.distance + 1, known.regions))
    return found


def _add(nearest: dict[str, _Nearest], target: str, more: _Nearest) -> None:
    known = nearest.get(target)
    if known is None or more.distance < known.distance:
        nearest[target] = more
    elif more.distance == known.distance:
        regions = tuple(dict.fromkeys((*known.regions, *more.regions)))
        nearest[target] = _Nearest(known.distance, regions[:NEAREST_LIMIT])


def _inputs_first(units: tuple[Unit, ...], inputs: _Links) -> tuple[Unit, ...]:
    """Return the units in topological order; regions that were written in a cycle, in some order."""
    done: dict[Unit, None] = {}
    entered: set[Unit] = set()
    stack = [(unit, False) for unit in reversed(units)]
    while stack:
        unit, is_ready = stack.pop()
        if is_ready:
            done[unit] = None
        elif unit not in entered:
            entered.add(unit)
            stack.append((unit, True))
            stack.extend((item, False) for item in inputs[unit] if item not in entered)
    return tuple(done)


@dataclass(frozen=True, slots=True, eq=False)
class Apart:
    """Two units of `target` that were not merged, and why.

    `between` are the units on all paths from one to the other, `lets` the lets on these paths; `obstacles` and the lets
    are what prevents the merge.
    """

    function: str
    target: str
    producer: Unit
    user: Unit
    kind: ReasonKind
    message: str
    between: tuple[Unit, ...]
    lets: tuple[Let, ...]

    @property
    def obstacles(self) -> tuple[Unit, ...]:
        """The units between the two that are not of their target."""
        return _obstacles(self.target, self.between, self.lets)

    @property
    def because(self) -> tuple[Node, ...]:
        """The nodes that stand between the two."""
        return (*(node for unit in self.obstacles for node in unit.nodes), *self.lets)

    @property
    def path(self) -> tuple[str, ...]:
        """The names of the two, and of what stands between."""
        names = (*(unit_name(unit) for unit in self.between), *(f"let %{let.var.name}" for let in self.lets))
        return (unit_name(self.producer), *names, unit_name(self.user))


def apart(module: IRModule, tables: Tables = NO_TABLES) -> tuple[Apart, ...]:
    """Return the unmerged pairs of neighbouring units of one target, in all functions of a module."""
    effects = effects_of(module)
    facts = replace(facts_of(module, *(entry[1] for entry in tables.patterns)), is_annotated=True)
    found: list[Apart] = []
    for item in module.definitions:
        if isinstance(item.function, Function) and not attr(item.function.attrs, "Compiler"):
            graph = offload_graph(module, item.function)
            judge = _Judge(item.var.name, tables, effects, facts)
            for user, producers in neighbours(graph.units).items():
                for producer, between in graph.between(producers, user).items():
                    crossed = lets_between(producer, user, between)
                    lets = tuple(dict.fromkeys((*crossed, *graph.lets_over(producer, user, crossed))))
                    found.append(judge.pair(producer, user, between, lets))
    return tuple(found)


@dataclass(frozen=True, slots=True)
class _Judge:
    function: str
    tables: Tables
    effects: Effects
    facts: MatchContext

    def pair(self, producer: Unit, user: Unit, between: tuple[Unit, ...], lets: tuple[Let, ...]) -> Apart:
        """Return the reason why one pair was not merged."""
        kind, message = self._reason(producer, user, between, lets)
        if lets and kind not in ("let", "effect"):
            message += f"; besides, {self._let_words(lets)}"
        return Apart(self.function, user.target or "", producer, user, kind, message, between, lets)

    def _reason(self, producer: Unit, user: Unit, between: tuple[Unit, ...], lets: tuple[Let, ...]) -> Reason:
        if producer.scope is not user.scope:
            return "branch", "one of the two is computed only in a branch or a function of its own"
        obstacles = _obstacles(user.target or "", between, lets)
        if obstacles:
            return self._path(producer, user, between, obstacles)
        if any(not self.effects.is_pure(let.value) for let in lets):
            return "effect", self._let_words(lets)
        if lets:
            return "let", self._let_words(lets)
        open_ = next((unit for unit in (user, producer) if all(map(is_annotation, unit.nodes))), None)
        if open_ is not None:
            return "let", f"{unit_name(open_)} is a begin around the value of a let, and nothing ends it"
        return "not merged yet", "nothing stands between them: MergeCompilerRegions merges them"

    def _path(self, producer: Unit, user: Unit, between: tuple[Unit, ...], obstacles: tuple[Unit, ...]) -> Reason:
        """Describe a single unit in between by what it is; several, or one beside a direct edge, as a path."""
        is_direct = producer in user.lets_to
        reasons = dict.fromkeys(self._obstacle(user.target or "", unit) for unit in obstacles)
        if not is_direct and len(obstacles) == 1:
            return next(iter(reasons))
        chain = chain_over(producer, user, between)
        on_chain = {*chain}
        beside = [unit for unit in between if unit not in on_chain]
        words = " -> ".join((unit_name(producer), *_shortened(chain), unit_name(user)))
        if beside:
            words += f", and beside it {', '.join(_shortened(beside))}"
        if is_direct:
            return "blocking path", f"{words}: a value leaves and comes back"
        kinds: set[ReasonKind] = {kind for kind, _ in reasons}
        words += f": {'; '.join(message for _, message in reasons)}"
        if len(kinds) > 1 or not kinds.isdisjoint(_SUPPORT_KINDS):
            return "blocking path", words
        return kinds.pop(), words

    def _let_words(self, lets: tuple[Let, ...]) -> str:
        names = ", ".join(f"%{let.var.name}" for let in lets)
        impure = ", ".join(f"%{let.var.name}" for let in lets if not self.effects.is_pure(let.value))
        kept = f"let {names} stays in its place, and keeps the order of the program"
        if len(lets) > 1:
            kept = f"the lets {names} stay in their places, and keep the order of the program"
        return f"{kept}; the value of {impure} may have an effect" if impure else kept

    def _obstacle(self, target: str, unit: Unit) -> Reason:
        """Return why a unit between two others is not of their target."""
        name = unit_name(unit)
        if unit.target is not None:
            return "another target", f"{name} goes to {unit.target}"
        node = unit.nodes[-1]
        match node:
            case Call(op=Op()):
                return self._operator(target, node, name)
            case Call(op=Function(attrs=attrs)) if isinstance(composite := attr(attrs, "Composite"), str):
                return "another target", f"{composite} goes to {target_of(composite)}"
            case If() | Match():
                return "branch", "a conditional stands between them"
            case RefCreate() | RefRead() | RefWrite():
                return "effect", f"{name} has an effect, and its place in the order"
            case Call():
                return "unsupported operator", f"{name} is a call of a function, which no target takes"
            case _:
                return "multi-output rule", f"{name} holds values of several places"

    def _operator(self, target: str, call: Call, name: str) -> Reason:
        for composite, pattern, *check in self.tables.patterns:
            roots = root_operators(pattern)
            if target_of(composite) != target or (roots is not None and name not in roots):
                continue
            found = try_match(pattern, call, self.facts)
            if isinstance(found, Miss):
                if roots is None:
                    continue
                part = show_pattern(found.part).splitlines()[-1]
                place = node_name(self.facts.value(found.node))
                return "failed pattern", f"{composite}: {part} did not match {place}: {found.reason}"
            if check and not check[0](found):
                return "predicate", f"{composite} matches {name}, and its predicate refuses it"
            return "multi-output rule", f"{composite} matches {name}, and a value inside it is used outside"
        if self.tables.names(target, call) and not self.tables.supports(target, call):
            return "predicate", f"{target} knows {name}, and its predicate refuses this call"
        return "unsupported operator", f"{target} does not support {name}"


def _obstacles(target: str, between: tuple[Unit, ...], lets: tuple[Let, ...]) -> tuple[Unit, ...]:
    """Return the units that prevent the merge; units of the target itself only if nothing else does."""
    others = tuple(unit for unit in between if unit.target != target)
    return others if others or lets else between


_SHOWN_COUNT = 24


def _shortened(units: Sequence[Unit]) -> list[str]:
    """Name the units and their targets; the first and last of very many, with the number in between."""
    if len(units) <= _SHOWN_COUNT:
        return [*map(_way_words, units)]
    half = _SHOWN_COUNT // 2
    return [*map(_way_words, units[:half]), f"{len(units) - 2 * half:,} more", *map(_way_words, units[-half:])]


def _way_words(unit: Unit) -> str:
    return f"{unit_name(unit)} ({unit.target or 'default'})"


def lets_between(producer: Unit, user: Unit, between: tuple[Unit, ...]) -> tuple[Let, ...]:
    """Return the lets on all paths from one unit to another."""
    inside = {producer, *between}
    crossed = (
        let for unit in (*between, user) for item, lets in unit.lets_to.items() if item in inside for let in lets
    )
    return tuple(dict.fromkeys(crossed))


def unit_name(unit: Unit) -> str:
    """Name a unit: by region or function, by operator, or by the kind of its node."""
    return unit.name or node_name(unit.nodes[-1])


def node_name(node: Expr) -> str:
    """Return the operator or function that a node calls, or the kind of node."""
    match node:
        case Call(op=Op(name=name)) | Op(name=name):
            return name
        case Call(op=GlobalVar(name=name)):
            return f"@{name}"
        case Call(op=Var(name=name)):
            return f"%{name}"
        case Call(op=Function(attrs=attrs)) if isinstance(composite := attr(attrs, "Composite"), str):
            return composite
        case _:
            return type(node).__name__
