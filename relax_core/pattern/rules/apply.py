"""Apply rewrite rules to a module until none fits, and keep what came closest to a match."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from relax_core.check.check import check
from relax_core.check.infer import infer
from relax_core.diagnostics import CompileError, Diagnostic
from relax_core.ir.expr import BindingBlock, Call, Expr, Function, Op, TupleGetItem, Type, Var, VarBinding
from relax_core.ir.module import Definition, IRModule
from relax_core.ir.node import Node, children, map_children
from relax_core.ir.rewriting.builder import normalize
from relax_core.ir.rewriting.rewrite import RewriteLog
from relax_core.pattern.language.nodes import WildcardPattern
from relax_core.pattern.matching.facts import MatchContext
from relax_core.pattern.matching.matcher import Miss, try_match
from relax_core.pattern.rules.conditions import Unmet, judge
from relax_core.pattern.rules.instantiate import Instantiation
from relax_core.pattern.rules.rule import Rule, Rules
from relax_core.pattern.rules.scopes import Surroundings, surroundings, without_unused
from relax_core.source import Span

Locate: TypeAlias = Callable[[Node], Span | None]

ROUND_LIMIT = 100
APPLICATION_LIMIT = 1000
"""How often rules may be applied in one module, besides ten times for each of its bindings."""
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


@dataclass(frozen=True, slots=True, eq=False)
class _Replacing:
    """A replacement: `known` are nodes of the program in it, `absorbed` the values that it stands for besides."""

    rule: Rule
    new: Expr
    known: tuple[Expr, ...]
    absorbed: tuple[Expr, ...]


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
    run = _Run(rules, log, locate or log.locate)
    before = module
    for _ in range(1 if once else ROUND_LIMIT):
        after = run.round(module)
        if after is module:
            break
        module = after
    else:
        if not once:
            raise run.endless()
    if module is not before:
        _require_sound(before, module)
    return Applied(module, tuple(run.outcomes.values()), tuple(run.skipped))


def _require_sound(before: IRModule, after: IRModule) -> None:
    known = {item.code for item in check(before) if item.severity == "error"}
    found = next((item for item in check(after) if item.severity == "error" and item.code not in known), None)
    if found is not None:
        message = f"the rules would leave a module that is ill-formed: {found.message} ({found.code})"
        hint = "say behind `where` for which matches the rule holds"
        raise CompileError((Diagnostic("RW109", message, found.span, hint),))


class _Run:
    """The application of rules to one module, over its rounds."""

    def __init__(self, rules: Rules, log: RewriteLog, locate: Locate) -> None:
        self.outcomes = {rule: Outcome(rule) for rule in rules.rules}
        self.skipped: dict[Function, None] = {}
        self.locate = locate
        self._log = log
        self._left: int | None = None
        self._last: Rule | None = None
        self._rules_of: defaultdict[str, list[Rule]] = defaultdict(list)
        for rule in rules.rules:
            self._rules_of[rule.operator].append(rule)

    def endless(self) -> CompileError:
        """Return the error of rules that are applied again and again."""
        assert self._last is not None, "only an application takes a round"
        message = f"{self._last.name} is still applied after {ROUND_LIMIT} rounds, or makes the module grow without end"
        hint = "exclude by `where` what a replacement holds, or apply the rules with once=True"
        return CompileError((Diagnostic("RW107", message, self._last.span, hint),))

    def round(self, module: IRModule) -> IRModule:
        """Try the rules once at every value; the same module if none was applied."""
        types = dict(infer(module).types)
        self.skipped.clear()
        for outcome in self.outcomes.values():
            outcome.misses.clear()
        changed: list[Definition] = []
        around = {item: surroundings(item.function) for item in module if isinstance(item.function, Function)}
        if self._left is None:
            self._left = APPLICATION_LIMIT + 10 * sum(len(item.bindings) for item in around.values())
        for item, scopes in around.items():
            assert isinstance(item.function, Function), "only functions of Relax have surroundings"
            if scopes.writes_memory:
                self.skipped[item.function] = None
                continue
            after = _Function(self, item.function, scopes, types).rewritten(self._log)
            if after is not item.function:
                changed.append(replace(item, function=after))
        if not changed:
            return module
        result = module.with_definitions(*changed)
        self._log.rebuilt(module, result)
        return normalize(result, self._log)

    def candidates(self, value: Expr, facts: MatchContext) -> Sequence[Rule]:
        """Return the rules for calls of the operator that a value is a call of, or a field of."""
        while isinstance(value, TupleGetItem):
            value = facts.value(value.tuple_value)
        return self._rules_of.get(value.op.name, ()) if isinstance(value, Call) and isinstance(value.op, Op) else ()

    def applied(self, rule: Rule, value: Node) -> None:
        """Note an application.

        Raises:
            CompileError: RW107: there were too many.
        """
        assert self._left is not None, "a round has begun"
        self._left -= 1
        self._last = rule
        if self._left < 0:
            raise self.endless()
        self.outcomes[rule].replaced.append(value)


class _Function:
    """One function in one round: what its values become, and what is bound to its variables meanwhile."""

    def __init__(self, run: _Run, function: Function, scopes: Surroundings, types: dict[Node, Type]) -> None:
        self._run = run
        self._function = function
        self._scopes = scopes
        self._types = types
        self._value_of: dict[Var, Expr] = {item.var: item.value for item, _ in scopes.bindings}
        self._facts = MatchContext(types, self._value_of)
        self._replacing: dict[Node, _Replacing] = {}
        self._inner: dict[Var, None] = {}

    def rewritten(self, log: RewriteLog) -> Function:
        """Return the function with its values replaced, and without those that only matches used."""
        for binding, block in self._scopes.bindings:
            if binding.value not in self._replacing:
                self._visit(binding, block)
        if not self._replacing:
            return self._function
        after = _rebuilt(self._function, self._replacing, frozenset(), log)
        unused = without_unused(after, frozenset(self._inner))
        return _rebuilt(after, {}, unused, log) if unused else after

    def _visit(self, binding: VarBinding, block: BindingBlock) -> None:
        value = binding.value
        for rule in self._run.candidates(value, self._facts):
            made = self._tried(rule, value, block)
            if isinstance(made, NearMiss):
                self._run.outcomes[rule].miss(made)
                continue
            self._run.applied(rule, value)
            self._replacing[value] = made
            self._value_of[binding.var] = made.new
            return

    def _tried(self, rule: Rule, value: Expr, block: BindingBlock) -> _Replacing | NearMiss:
        found = try_match(rule.pattern, value, self._facts)
        if isinstance(found, Miss):
            return _near(rule, value, found)
        part_count = len(found.node_of)
        judged = judge(rule, found, self._facts, self._types)
        if isinstance(judged, Unmet):
            return NearMiss(value, value, judged.reason, judged.span, (part_count, judged.met))
        inner = [node for part, node in found.node_of.items() if not isinstance(part, WildcardPattern)]
        held = [node for part, node in found.node_of.items() if isinstance(part, WildcardPattern)]
        for node in (*held, *judged.given.values()):
            if not self._scopes.is_visible(node, block):
                reason = "what it holds is visible only in another dataflow block"
                return NearMiss(value, node, reason, rule.span, (part_count, len(rule.conditions)))
        behind = [var for node in inner if isinstance(node, Var) for var in self._aliases(node)]
        if not all(self._scopes.is_undisturbed(var, block) for var in behind):
            reason = "a call with an effect may run between its values"
            return NearMiss(value, value, reason, rule.span, (part_count, len(rule.conditions)))
        place = self._run.locate(value)
        expected = self._types.get(value)
        new = Instantiation(rule, judged.names, judged.given, place).expression(self._types, expected)
        self._inner.update(dict.fromkeys(behind))
        absorbed = tuple(self._facts.value(var) for var in behind)
        return _Replacing(rule, new, (*held, *judged.given.values()), absorbed)

    def _aliases(self, var: Var) -> list[Var]:
        """Return a variable and those that it is another name of."""
        found = [var]
        while isinstance(value := self._value_of.get(found[-1]), Var):
            found.append(value)
        return found


def _near(rule: Rule, value: Expr, miss: Miss) -> NearMiss:
    span = rule.span_of.get(miss.part, rule.span)
    text = " ".join(span.text.split())
    what = f"`{miss.node.name}` " if isinstance(miss.node, Var) else "what stands there "
    return NearMiss(value, miss.node, f"`{text}` does not fit: {what}{miss.reason}", span, (miss.matched_count, 0))


def _rebuilt(
    root: Function, replacing: Mapping[Node, _Replacing], dropped: frozenset[Var], log: RewriteLog
) -> Function:
    """Return a function with values replaced and bindings dropped; what is new is recorded."""
    new_of: dict[Node, Node | tuple[Node, ...]] = {}
    stack: list[tuple[Node, bool]] = [(root, False)]
    while stack:
        node, is_ready = stack.pop()
        if node in new_of:
            continue
        if (found := replacing.get(node)) is not None:
            log.replace(node, found.new, found.rule.name, found.known)
            for value in found.absorbed:
                log.share((found.new,), value)
            new_of[node] = found.new
        elif isinstance(node, VarBinding) and node.var in dropped:
            log.replace(node, (), "value that nothing uses -> nothing")
            new_of[node] = ()
        elif is_ready:
            rebuilt = map_children(node, new_of.__getitem__)
            log.rebuilt(node, rebuilt)
            new_of[node] = rebuilt
        else:
            stack.append((node, True))
            stack += [(item, False) for item in reversed(children(node)) if item not in new_of]
    result = new_of[root]
    assert isinstance(result, Function), "a function stays one"
    return result
