"""Looks for a pattern of several bindings in a block, and says how near it came.

Backtracking in the order of a plan. Where nothing fits, the search goes back to the latest step that has to do with it:
the others cannot help. Hence two parts of a pattern that have nothing to do with each other do not multiply.

See: Prosser, Hybrid Algorithms for the Constraint Satisfaction Problem, 1993
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from relax_core.ir.equality import same_type
from relax_core.ir.expr import Expr, ShapeType, TensorType, Var
from relax_core.pattern.graph.plan import Step
from relax_core.pattern.graph.uses import BlockUses
from relax_core.pattern.language.edges import ANYWHERE, Edge
from relax_core.pattern.language.nodes import Pattern
from relax_core.pattern.matching.facts import MatchContext
from relax_core.pattern.matching.matcher import Attempt
from relax_core.pattern.matching.results import Miss
from relax_core.pattern.matching.work import Work


@dataclass(frozen=True, slots=True, eq=False)
class GraphMatch:
    """A match: `variable_of` maps the patterns of the graph to variables, `node_of` their parts to expressions."""

    variable_of: Mapping[Pattern, Var]
    node_of: Mapping[Pattern, Expr]

    def __getitem__(self, pattern: Pattern) -> Var:
        return self.variable_of[pattern]


@dataclass(frozen=True, slots=True, eq=False)
class GraphMiss:
    """Of all attempts the one that came furthest: `variable_of` are the patterns that were found until then.

    `pattern` was looked for next, and did not fit `variable` because of `reason`; `None`: there was no variable to try.
    `part` of it met `node`.
    """

    pattern: Pattern
    variable: Var | None
    part: Pattern
    node: Expr | None
    reason: str
    variable_of: Mapping[Pattern, Var]
    progress: tuple[int, int, int]
    """How many patterns were found; whether no variable was left, the parts of the pattern did not match, or only its
    edges and shapes did not fit; and how many parts had matched."""


_TAKEN, _PARTS, _EDGES = range(3)


@dataclass(slots=True)
class _Level:
    """A step with what is left to try; `conflicts` are the steps before it that decide what fits."""

    candidates: Iterator[Var]
    conflicts: set[int]
    mark: int
    """How many parts were matched before the step."""


@dataclass(slots=True, eq=False)
class GraphSearch:
    """One search of a block. `starts` are the variables that the first pattern may match, all if it is `None`."""

    steps: tuple[Step, ...]
    uses: BlockUses
    facts: MatchContext
    work: Work = field(default_factory=Work)
    starts: Iterable[Var] | None = None
    miss: GraphMiss | None = None
    _found: dict[Pattern, Var] = field(default_factory=dict[Pattern, Var])
    _step_of: dict[Var, int] = field(default_factory=dict[Var, int])
    _levels: list[_Level] = field(default_factory=list[_Level])

    def matches(self) -> Iterator[GraphMatch]:
        """Yield all matches, in the order of the variables that the steps match.

        Raises:
            CompileError: PT006 if it takes too many steps, PT007 if a pattern is nested too deeply.
        """
        attempt = Attempt(self.facts, self.work)
        if self.steps:
            self._enter(attempt)
        while self._levels:
            number = len(self._levels) - 1
            level, step = self._levels[-1], self.steps[number]
            variable = next(level.candidates, None)
            if variable is None:
                self._go_back(attempt)
            elif self._fits(step, variable, level, attempt):
                self._found[step.pattern] = variable
                self._step_of[variable] = number
                if len(self._levels) < len(self.steps):
                    self._enter(attempt)
                    continue
                yield GraphMatch(MappingProxyType(dict(self._found)), MappingProxyType(dict(attempt.node_of)))
                for place, item in enumerate(self._levels):
                    item.conflicts.update(range(place))
                self._leave(step, level, attempt)

    def _enter(self, attempt: Attempt) -> None:
        step = self.steps[len(self._levels)]
        first = self.starts if not self._levels else None
        candidates = self._candidates(step) if first is None else ()
        tried = iter(candidates if first is None else first)
        self._levels.append(_Level(tried, set(step.depends), len(attempt.node_of)))
        if first is None and not candidates:
            self._note(step, None, self._none_left(step), (_TAKEN, len(attempt.node_of)))

    def _leave(self, step: Step, level: _Level, attempt: Attempt) -> None:
        """Take back what a step matched."""
        del self._step_of[self._found.pop(step.pattern)]
        attempt.forget(level.mark)

    def _go_back(self, attempt: Attempt) -> None:
        """Go back to the latest step that decides what fits here; to none if there is none."""
        conflicts = self._levels.pop().conflicts
        back = max(conflicts, default=-1)
        while len(self._levels) > back + 1:
            place = len(self._levels) - 1
            self._leave(self.steps[place], self._levels.pop(), attempt)
        if back >= 0:
            level = self._levels[back]
            level.conflicts |= conflicts - {back}
            self._leave(self.steps[back], level, attempt)

    def _candidates(self, step: Step) -> Sequence[Var]:
        """Return the variables that may fit: the users or inputs of one that was found, else all."""
        for edge in step.edges:
            producer = self._variable(edge.producer)
            if producer is not None:
                return tuple(self.uses.users(producer))
        for edge in step.edges:
            consumer = self._variable(edge.consumer)
            if consumer is not None:
                return self.uses.inputs(consumer)
        return self.uses.by_first_use()

    def _none_left(self, step: Step) -> str:
        for edge in step.edges:
            if (producer := self._variable(edge.producer)) is not None:
                return f"nothing in the block uses {producer.name}"
            if (consumer := self._variable(edge.consumer)) is not None:
                return f"the value of {consumer.name} uses no variable"
        return "the block has no variables"

    def _variable(self, pattern: object) -> Var | None:
        return self._found.get(pattern) if isinstance(pattern, Pattern) else None

    def _fits(self, step: Step, variable: Var, level: _Level, attempt: Attempt) -> bool:
        """Tell whether a variable fits beside those that were found; what it matches is kept then."""
        self.work.spend(1, step.pattern)
        miss = attempt.miss_of(step.pattern, variable)
        if miss is not None:
            self._note(step, variable, miss.reason, (_PARTS, miss.matched_count), miss)
            return False
        reason = self._obstacle(step, variable) or self._other_shape(step, variable)
        nearness = _EDGES
        # The last that is asked: only what fits otherwise is in the way of the step that has it.
        if not reason and variable in self._step_of:
            level.conflicts.add(self._step_of[variable])
            reason, nearness = "another pattern matches it already", _TAKEN
        if reason:
            self._note(step, variable, reason, (nearness, len(attempt.node_of)))
            attempt.forget(level.mark)
        return not reason

    def _other_shape(self, step: Step, variable: Var) -> str:
        """Say whose shape a variable does not have, "" if it has all that it is to have."""
        others = (self._found[item] for item in step.shapes)
        other = next((item for item in others if not self._have_one_shape(variable, item)), None)
        return "" if other is None else f"is not known to have the shape of {other.name}"

    def _obstacle(self, step: Step, variable: Var) -> str:
        """Say which edge to what was found is not there, "" if none."""
        for edge in step.edges:
            producer = variable if edge.producer is step.pattern else self._variable(edge.producer)
            consumer = variable if edge.consumer is step.pattern else self._variable(edge.consumer)
            assert producer is not None, "a step has the edges to steps before it"
            assert consumer is not None, "a step has the edges to steps before it"
            reason = self._missing(edge, producer, consumer)
            if reason:
                return reason
        return ""

    def _missing(self, edge: Edge, producer: Var, consumer: Var) -> str:
        operands = self.uses.operands_of.get(consumer, ())
        places = [place for place, item in enumerate(operands) if item is producer]
        if not places:
            return f"{consumer.name} does not use {producer.name}"
        if edge.index not in (ANYWHERE, *places):
            shown = " and ".join(map(str, places))
            return f"{consumer.name} uses {producer.name} as argument {shown}, not {edge.index}"
        users = self.uses.users_of[producer]
        if edge.is_only and len(users) > 1:
            other = next(item for item in users if item is not consumer)
            return f"{other.name} uses {producer.name} as well"
        return ""

    def _have_one_shape(self, a: Var, b: Var) -> bool:
        shapes = [_shape(self.facts.types.get(item)) for item in (a, b)]
        return None not in shapes and same_type(shapes[0], shapes[1])

    def _note(
        self, step: Step, variable: Var | None, reason: str, nearness: tuple[int, int], miss: Miss | None = None
    ) -> None:
        """Keep a miss if it came further than the one before."""
        progress = (len(self._found), *nearness)
        if self.miss is None or progress > self.miss.progress:
            part, node = (step.pattern, variable) if miss is None else (miss.part, miss.node)
            found = MappingProxyType(dict(self._found))
            self.miss = GraphMiss(step.pattern, variable, part, node, reason, found, progress)


def _shape(type_: object) -> ShapeType | None:
    dims = type_.dims if isinstance(type_, TensorType) else None
    return None if dims is None else ShapeType(dims, len(dims))
