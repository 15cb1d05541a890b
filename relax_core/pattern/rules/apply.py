"""Apply rewrite rules to a module until none fits, and keep what came closest to a match."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from relax_core.diagnostics import CompileError, Diagnostic
from relax_core.ir.expr import BindingBlock, Call, Expr, Function, Op, TupleGetItem, Var
from relax_core.ir.module import IRModule
from relax_core.ir.node import Node
from relax_core.ir.rewriting.rewrite import RewriteLog
from relax_core.pattern.language.nodes import WildcardPattern
from relax_core.pattern.matching.facts import MatchContext
from relax_core.pattern.matching.matcher import Miss, try_match
from relax_core.pattern.rewriting.rounds import ROUND_LIMIT, FunctionRound, Replacing, ill_formed, rewrite_values
from relax_core.pattern.rules.conditions import Unmet, judge
from relax_core.pattern.rules.instantiate import Instantiation
from relax_core.pattern.rules.rule import Rule, Rules
from relax_core.source import Span

Locate: TypeAlias = Callable[[Node], Span | None]

MISS_LIMIT = 3
"""How many near misses are kept of a rule."""


@dataclass(frozen=True, slots=True, eq=False)
class NearMiss:
    """A call that a rule does not fit: the first thing that does not, and where it stands in program and rule.

    `progress` is how many parts of the pattern fitted, and, if all did, how many conditions held.
    """

    root: Expr
    node: Node
    reason: str
    span: Span
    progress: tuple[int, int]


@dataclass(slots=True, eq=False)
class Outcome:
    """What came of one rule: the values that it replaced, in order, and what it did not fit in the end."""

    rule: Rule
    replaced: list[Node] = field(default_factory=list[Node])
    misses: list[NearMiss] = field(default_factory=list[NearMiss])

    def miss(self, found: NearMiss) -> None:
        """Keep a near miss if it is among the nearest."""
        self.misses.append(found)
        self.misses.sort(key=lambda item: item.progress, reverse=True)
        del self.misses[MISS_LIMIT:]


@dataclass(frozen=True, slots=True, eq=False)
class Applied:
    """The module that rules left, and what came of each of them."""

    module: IRModule
    outcomes: tuple[Outcome, ...]
    skipped: tuple[Function, ...] = ()
    """Functions that handle memory explicitly, in which nothing was looked for."""


def apply_rules(
    module: IRModule, rules: Rules, log: RewriteLog, *, once: bool = False, locate: Locate | None = None
) -> Applied:
    """Apply `rules` to the functions of a Relax module in A-normal form, in rounds until none fits any more.

    Of several rules that fit a value the first is applied. Values inside of a match stay bound if something else uses
    them, and go if nothing does. With `once` there is a single round, over the values that were there before it.
    `locate` finds the place in the user's text of a node.

    Complexity: a round is linear in the module, times the size of the patterns.

    Raises:
        CompileError: RW105, RW106, or an error of an operator: a replacement does not fit its match. RW107: it does not
            end. RW109: the result is ill-formed. PT006, PT007: looking for a pattern takes too long.
    """
    rewriter = _RuleRewriter(rules, locate or log.locate)
    after = rewrite_values(module, rewriter, log, once=once)
    found = ill_formed(module, after)
    if found is not None:
        message = f"the rules would leave a module that is ill-formed: {found.message} ({found.code})"
        hint = "say behind `where` for which matches the rule holds"
        raise CompileError((Diagnostic("RW109", message, found.span, hint),))
    return Applied(after, tuple(rewriter.outcomes.values()), tuple(rewriter.skipped))


class _RuleRewriter:
    """The application of rules to one module, over its rounds."""

    def __init__(self, rules: Rules, locate: Locate) -> None:
        self.outcomes = {rule: Outcome(rule) for rule in rules.rules}
        self.skipped: dict[Function, None] = {}
        self._locate = locate
        self._last: Rule | None = None
        self._rules_of: defaultdict[str, list[Rule]] = defaultdict(list)
        for rule in rules.rules:
            self._rules_of[rule.operator].append(rule)

    def begin(self) -> None:
        """Forget what did not fit in the round before."""
        self.skipped.clear()
        for outcome in self.outcomes.values():
            outcome.misses.clear()

    def skip(self, function: Function) -> None:
        """Note a function in which nothing is looked for."""
        self.skipped[function] = None

    def endless(self) -> CompileError:
        """Return the error of rules that are applied again and again."""
        assert self._last is not None, "only an application takes a round"
        message = f"{self._last.name} is still applied after {ROUND_LIMIT} rounds, or makes the module grow without end"
        hint = "exclude by `where` what a replacement holds, or apply the rules with once=True"
        return CompileError((Diagnostic("RW107", message, self._last.span, hint),))

    def replacing(self, value: Expr, block: BindingBlock, around: FunctionRound) -> Replacing | None:
        """Return what the first rule that fits makes of a value."""
        for rule in self._candidates(value, around.facts):
            made = self._tried(rule, value, block, around)
            if not isinstance(made, NearMiss):
                self.outcomes[rule].replaced.append(value)
                self._last = rule
                return made
            self.outcomes[rule].miss(made)
        return None

    def _candidates(self, value: Expr, facts: MatchContext) -> Sequence[Rule]:
        """Return the rules for calls of the operator that a value is a call of, or a field of."""
        while isinstance(value, TupleGetItem):
            value = facts.value(value.tuple_value)
        return self._rules_of.get(value.op.name, ()) if isinstance(value, Call) and isinstance(value.op, Op) else ()

    def _tried(self, rule: Rule, value: Expr, block: BindingBlock, around: FunctionRound) -> Replacing | NearMiss:
        found = try_match(rule.pattern, value, around.facts)
        if isinstance(found, Miss):
            return _near(rule, value, found)
        part_count = len(found.node_of)
        judged = judge(rule, found, around.facts, around.types)
        if isinstance(judged, Unmet):
            return NearMiss(value, value, judged.reason, judged.span, (part_count, judged.met))
        inner = [node for part, node in found.node_of.items() if not isinstance(part, WildcardPattern)]
        held = [node for part, node in found.node_of.items() if isinstance(part, WildcardPattern)]
        for node in (*held, *judged.given.values()):
            if not around.scopes.is_visible(node, block):
                reason = "what it holds is visible only in another dataflow block"
                return NearMiss(value, node, reason, rule.span, (part_count, len(rule.conditions)))
        behind = around.aliases(inner)
        if not all(around.scopes.is_undisturbed(var, block) for var in behind):
            reason = "a call with an effect may run between its values"
            return NearMiss(value, value, reason, rule.span, (part_count, len(rule.conditions)))
        place = self._locate(value)
        expected = around.types.get(value)
        new = Instantiation(rule, judged.names, judged.given, place).expression(around.types, expected)
        return Replacing(rule.name, new, (*held, *judged.given.values()), behind)


def _near(rule: Rule, value: Expr, miss: Miss) -> NearMiss:
    span = rule.span_of.get(miss.part, rule.span)
    text = " ".join(span.text.split())
    what = f"`{miss.node.name}` " if isinstance(miss.node, Var) else "what stands there "
    return NearMiss(value, miss.node, f"`{text}` does not fit: {what}{miss.reason}", span, (miss.matched_count, 0))
