"""The matches of a composite's pattern in a dataflow block: which become units of it, and which cannot."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal

from relax_core.ir.expr import Binding, Call, Expr, GlobalVar, Op, Tuple, Var
from relax_core.ir.node import Node
from relax_core.pattern.language.nodes import (
    AndPattern,
    CallPattern,
    DominatorPattern,
    OperatorPattern,
    Pattern,
    TupleGetItemPattern,
    TuplePattern,
    UnorderedTuplePattern,
    subpatterns,
)
from relax_core.pattern.matching.facts import MatchContext, operator_name
from relax_core.pattern.matching.matcher import Match, Miss, try_match
from relax_core.pattern.matching.variants import root_operators
from relax_core.pattern.matching.work import Work
from relax_core.pattern.partition.dataflow import BindingUnit, DataflowGroups
from relax_core.pattern.partition.tables import Check

Obstacle = Literal["overlap", "cycle", "another block", "predicate"]
REASONS = MappingProxyType(
    {
        "overlap": "a part of it belongs to another composite",
        "cycle": "a value leaves it and comes back, so that each would wait for the other",
        "another block": "a part of it is bound outside of this dataflow block",
        "predicate": "the table's predicate refuses it",
    }
)
_INSIDE = (CallPattern, OperatorPattern, TuplePattern, UnorderedTuplePattern, TupleGetItemPattern)


@dataclass(frozen=True, slots=True, eq=False)
class Refusal:
    """A match that becomes no unit: `because` are the nodes that are in its way."""

    root: Binding
    obstacle: Obstacle
    because: tuple[Node, ...]


@dataclass(slots=True, eq=False)
class CompositeMatches:
    """What a pattern matches in a block, in the order of the bindings; `groups` are the units so far.

    A match that holds all of a unit before takes its place, and one that shares a part of it is refused. Values in a
    match may be used outside of it: the unit gives them, too. A tuple that is bound is a part of the match if one of
    its fields is; TVM leaves each tuple outside, and stops where the match holds a field of one.
    """

    groups: DataflowGroups
    pattern: Pattern
    check: Check
    facts: MatchContext
    work: Work = field(default_factory=Work)
    units: dict[BindingUnit, Match] = field(default_factory=dict[BindingUnit, Match])
    refusals: list[Refusal] = field(default_factory=list[Refusal])
    misses: list[tuple[Binding, Miss]] = field(default_factory=list[tuple[Binding, Miss]])

    def find(self) -> "CompositeMatches":
        """Try the pattern at every call of the block that it may match a part of, and return this."""
        roots = _first_operators(self.pattern)
        for binding in tuple(self.groups.place_of):
            match binding.value:
                case Call(op=GlobalVar()) | Call(op=Var()):
                    pass
                case Call(op=Op() as op) if roots is not None and operator_name(op) not in roots:
                    pass
                case Call() as call:
                    self._try(binding, call)
                case _:
                    pass
        return self

    def _try(self, binding: Binding, call: Call) -> None:
        found = try_match(self.pattern, call, self.facts, self.work)
        if isinstance(found, Miss):
            self.misses.append((binding, found))
            return
        obstacle = self._add(binding, found)
        if obstacle is not None:
            self.refusals.append(obstacle)

    def _add(self, root: Binding, found: Match) -> Refusal | None:
        """Make a unit of a match, or say what is in its way."""
        vars_ = tuple(dict.fromkeys(self._described(found)))
        outside = tuple(var for var in vars_ if var not in self.groups.binding_of)
        if outside:
            return Refusal(root, "another block", outside)
        if not self.check(found):
            return Refusal(root, "predicate", ())
        members = dict.fromkeys((*(self.groups.binding_of[var] for var in vars_), root))
        members = dict.fromkeys(item for item in members if not self._is_made_of_inputs(item, members))
        before = {unit for item in members if (unit := self.groups.unit_of[item]) in self.units}
        shared = tuple(item for unit in before for item in unit.bindings if item not in members)
        if shared:
            return Refusal(root, "overlap", tuple(item for unit in before for item in unit.bindings if item in members))
        way = self.groups.detour(members)
        if way:
            return Refusal(root, "cycle", way)
        for unit in before:
            del self.units[unit]
        self.units[self.groups.join(members)] = found
        return None

    def _is_made_of_inputs(self, member: Binding, members: Mapping[Binding, None]) -> bool:
        """Tell whether a member is a tuple of values that all come from outside: it does not belong to the match."""
        return isinstance(member.value, Tuple) and not any(item in members for item in self.groups.inputs[member])

    def _described(self, found: Match) -> Iterator[Var]:
        """Yield the variables of what parts of the pattern describe from inside: calls, tuples and their fields."""
        parts = found.node_of.items()
        values = {
            self.facts.value(node) for part, node in parts if isinstance(part, _INSIDE) and node is not found.root
        }
        for _, node in parts:
            if isinstance(node, Var) and self.facts.value(node) in values:
                yield from self._aliases(node)

    def _aliases(self, var: Expr) -> Iterator[Var]:
        """Yield the variables between `var` and the value behind it."""
        while isinstance(var, Var) and var in self.facts.value_of:
            yield var
            var = self.facts.value_of[var]


def _first_operators(pattern: Pattern) -> frozenset[str] | None:
    """Return the operators of `root_operators` if no part of the pattern matches a call of another one, else `None`.

    A conjunction may match in part before its operator is looked at.
    """
    has_more = any(isinstance(part, AndPattern | DominatorPattern) for part in subpatterns(pattern))
    return None if has_more else root_operators(pattern)
