"""Why two neighbouring regions of one target stayed apart: for each pair exactly one reason.

Two units of a target are neighbours if one takes a value of the other, directly or through a let, or if one other
unit stands between them. Taking the named obstacle away makes them one.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

from relax_core.analysis.regions import is_annotation
from relax_core.analysis.relay_effects import Effects, effects_of
from relax_core.ir.attrs import attr
from relax_core.ir.expr import Call, Expr, Function, GlobalVar, If, Op
from relax_core.ir.module import IRModule
from relax_core.ir.node import Node
from relax_core.ir.relay import Let, Match, RefCreate, RefRead, RefWrite
from relax_core.pattern.facts import Facts, operator_name
from relax_core.pattern.matcher import Miss, try_match
from relax_core.pattern.nodes import (
    AltPattern,
    AttrPattern,
    CallPattern,
    DataTypePattern,
    DominatorPattern,
    ExprPattern,
    Pattern,
    ShapePattern,
    TypePattern,
)
from relax_core.pattern.offload import Unit, offload_graph
from relax_core.pattern.search import facts_of
from relax_core.pattern.show import show_pattern
from relax_core.pattern.tables import NO_TABLES, Tables, target_of

ReasonKind = Literal[
    "blocking path",
    "another target",
    "let",
    "effect",
    "unsupported operator",
    "predicate",
    "multi-output rule",
    "failed pattern",
    "branch",
    "not merged yet",
]
Reason = tuple[ReasonKind, str]


@dataclass(frozen=True, slots=True, eq=False)
class Apart:
    """Two units of `target` that stayed apart, and why.

    `between` are the units on all paths from one to the other, `lets` those on the way. What is in the way are those of
    `obstacles`, and the lets.
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
        """The units between them that do not go to their target."""
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
    """Return the pairs of neighbouring units of one target in the functions of a module."""
    effects = effects_of(module)
    facts = replace(facts_of(module, *(entry[1] for entry in tables.patterns)), is_annotated=True)
    found: list[Apart] = []
    for item in module.definitions:
        if isinstance(item.function, Function) and not attr(item.function.attrs, "Compiler"):
            graph = offload_graph(module, item.function)
            judge = _Judge(item.var.name, tables, effects, facts)
            for producer, user in _neighbours(graph.units):
                between = graph.between(producer, user)
                crossed = lets_between(producer, user, between)
                lets = tuple(dict.fromkeys((*crossed, *graph.lets_over(producer, user, crossed))))
                found.append(judge.pair(producer, user, between, lets))
    return tuple(found)


def _neighbours(units: tuple[Unit, ...]) -> Iterator[tuple[Unit, Unit]]:
    for user in units:
        if user.target is None:
            continue
        direct = [item for item in user.lets_to if item.target == user.target]
        over_one = [
            item
            for middle in user.lets_to
            if middle.target != user.target
            for item in middle.lets_to
            if item.target == user.target and item is not user
        ]
        yield from ((item, user) for item in dict.fromkeys((*direct, *over_one)))


@dataclass(frozen=True, slots=True)
class _Judge:
    function: str
    tables: Tables
    effects: Effects
    facts: Facts

    def pair(self, producer: Unit, user: Unit, between: tuple[Unit, ...], lets: tuple[Let, ...]) -> Apart:
        """Give the reason for one pair."""
        kind, message = self._reason(producer, user, between, lets)
        if lets and kind not in ("let", "effect"):
            message += f"; besides, {self._let_words(lets)}"
        return Apart(self.function, user.target or "", producer, user, kind, message, between, lets)

    def _reason(self, producer: Unit, user: Unit, between: tuple[Unit, ...], lets: tuple[Let, ...]) -> Reason:
        if producer.scope is not user.scope:
            return "branch", "one of the two is computed only in a branch or a function of its own"
        obstacles = _obstacles(user.target or "", between, lets)
        if user.lets_to.get(producer) is None and obstacles:
            reasons = dict.fromkeys(self._obstacle(user.target or "", unit) for unit in obstacles)
            return next(iter(reasons))[0], "; ".join(message for _, message in reasons)
        if obstacles:
            inner = " -> ".join(f"{unit_name(unit)} ({unit.target or 'default'})" for unit in between)
            return "blocking path", f"{producer.name} -> {inner} -> {user.name}: a value leaves and comes back"
        if any(not self.effects.is_pure(let.value) for let in lets):
            return "effect", self._let_words(lets)
        if lets:
            return "let", self._let_words(lets)
        open_ = next((unit for unit in (user, producer) if all(map(is_annotation, unit.nodes))), None)
        if open_ is not None:
            return "let", f"{unit_name(open_)} is a begin around the value of a let, and nothing ends it"
        return "not merged yet", "nothing stands between them: MergeCompilerRegions merges them"

    def _let_words(self, lets: tuple[Let, ...]) -> str:
        names = ", ".join(f"%{let.var.name}" for let in lets)
        impure = ", ".join(f"%{let.var.name}" for let in lets if not self.effects.is_pure(let.value))
        kept = f"let {names} stays in its place, and keeps the order of the program"
        if len(lets) > 1:
            kept = f"the lets {names} stay in their places, and keep the order of the program"
        return f"{kept}; the value of {impure} may have an effect" if impure else kept

    def _obstacle(self, target: str, unit: Unit) -> Reason:
        """Say why a unit that stands between two others is not of their target."""
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
            if target_of(composite) != target or name not in root_operators(pattern):
                continue
            found = try_match(pattern, call, self.facts)
            if isinstance(found, Miss):
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
    """Return the units that are in the way; those of the target itself are so only if neither others nor lets are."""
    others = tuple(unit for unit in between if unit.target != target)
    return others if others or lets else between


def lets_between(producer: Unit, user: Unit, between: tuple[Unit, ...]) -> tuple[Let, ...]:
    """Return the lets on all paths from one unit to another."""
    inside = {producer, *between}
    crossed = (
        let for unit in (*between, user) for item, lets in unit.lets_to.items() if item in inside for let in lets
    )
    return tuple(dict.fromkeys(crossed))


def root_operators(pattern: Pattern) -> frozenset[str]:
    """Return the operators whose calls `pattern` may match."""
    match pattern:
        case CallPattern(op=ExprPattern(expr=expr)):
            name = operator_name(expr)
            return frozenset(() if name is None else (name,))
        case AltPattern(options=options):
            return frozenset(name for option in options for name in root_operators(option))
        case AttrPattern() | TypePattern() | DataTypePattern() | ShapePattern():
            return root_operators(pattern.pattern)
        case DominatorPattern(child=child):
            return root_operators(child)
        case _:
            return frozenset()


def unit_name(unit: Unit) -> str:
    """Return what a unit is called: its region or function, its operator, or the kind of its node."""
    return unit.name or node_name(unit.nodes[-1])


def node_name(node: Expr) -> str:
    """Return the operator or function that a node calls, or the kind of node."""
    match node:
        case Call(op=Op(name=name)) | Op(name=name):
            return name
        case Call(op=GlobalVar(name=name)):
            return f"@{name}"
        case Call(op=Function(attrs=attrs)) if isinstance(composite := attr(attrs, "Composite"), str):
            return composite
        case _:
            return type(node).__name__
