"""Match a pattern against an expression, or explain why it does not match."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from itertools import islice
from types import MappingProxyType
from typing import Any, TypeAlias, assert_never, cast

from relax_core.check.unify import is_subtype
from relax_core.ir.equality import same_type
from relax_core.ir.expr import (
    Call,
    Constant,
    DataflowVar,
    Expr,
    ExternFunc,
    Function,
    GlobalVar,
    If,
    Op,
    ShapeExpr,
    TensorType,
    Tuple,
    TupleGetItem,
    Var,
)
from relax_core.ir.relay import Let
from relax_core.ops.show import show_type
from relax_core.pattern.language.nodes import (
    AltPattern,
    AndPattern,
    AnyPattern,
    AttrPattern,
    CallPattern,
    ConstantPattern,
    DataflowVarPattern,
    DataTypePattern,
    DominatorPattern,
    ExprPattern,
    ExternFuncPattern,
    FunctionPattern,
    GlobalVarPattern,
    IfPattern,
    LetPattern,
    NotPattern,
    OperatorPattern,
    Pattern,
    PrimArrPattern,
    ScalarPattern,
    ShapePattern,
    SubtypePattern,
    TupleGetItemPattern,
    TuplePattern,
    TypePattern,
    UnorderedTuplePattern,
    VarPattern,
    WildcardPattern,
)
from relax_core.pattern.matching.compare import are_sizes, has_shape, is_equal, is_value, sizes_text, words
from relax_core.pattern.matching.facts import (
    MatchContext,
    attributes_of,
    is_exactly,
    is_same,
    is_scalar,
    literal,
    operator_name,
    value_arguments,
    written_arguments,
)
from relax_core.pattern.matching.paths import candidates, nodes_between
from relax_core.pattern.matching.results import Match, Miss
from relax_core.pattern.matching.variants import COMMUTATIVE, regrouped
from relax_core.pattern.matching.work import Noted, Work, too_deep

NO_FACTS = MatchContext()
NO_ANSWERS: "Mapping[Question, Match | Miss]" = MappingProxyType({})


def match(pattern: Pattern, expr: Expr, facts: MatchContext = NO_FACTS, work: Work | None = None) -> Match | None:
    """Return how `pattern` fits `expr`, `None` if it does not. Raises what `try_match` does."""
    found = try_match(pattern, expr, facts, work)
    return found if isinstance(found, Match) else None


def explain(pattern: Pattern, expr: Expr, facts: MatchContext = NO_FACTS, work: Work | None = None) -> Miss | None:
    """Return why `pattern` does not fit `expr`, `None` if it does. Raises what `try_match` does."""
    found = try_match(pattern, expr, facts, work)
    return found if isinstance(found, Miss) else None


def try_match(pattern: Pattern, expr: Expr, facts: MatchContext = NO_FACTS, work: Work | None = None) -> Match | Miss:
    """Match `pattern` against `expr`.

    An operator's arguments are those of its schema that are values; `add` and `multiply` match either order, and
    products and quotients either grouping. `work` is the budget of the search that this is a part of; matching one
    expression has a whole one.

    Raises:
        CompileError: PT006 if it takes too many steps, PT007 if the pattern is nested too deeply.
    """
    work = work or Work()
    attempt = Attempt(facts, work)
    try:
        return attempt.outcome(pattern, expr)
    except _AskedError:
        return _by_levels(pattern, expr, facts, work)
    except RecursionError:
        too_deep(pattern)


Question: TypeAlias = tuple[Pattern, Expr]


class _AskedError(Exception):
    """An attempt depends on whether another pattern matches another expression, which is answered first."""

    def __init__(self, question: Question) -> None:
        super().__init__()
        self.question = question


def _by_levels(pattern: Pattern, expr: Expr, facts: MatchContext, work: Work) -> Match | Miss:
    """Match a pattern that holds itself: each question of an attempt is answered before it is repeated.

    So the recursion is never as deep as the chain that is matched.
    """
    answers: dict[Question, Match | Miss] = {}
    inner_of: dict[Match, tuple[Match, ...]] = {}
    asked: list[Question] = [(pattern, expr)]
    open_ = set(asked)
    while True:
        question = asked[-1]
        attempt = Attempt(facts, work, answers)
        try:
            found = attempt.outcome(*question)
        except RecursionError:
            too_deep(pattern)
        except _AskedError as error:
            part, node = error.question
            if error.question in open_:
                answers[error.question] = Miss(part, node, "stands for itself", 0, (part,))
            else:
                asked.append(error.question)
                open_.add(error.question)
            continue
        if isinstance(found, Match):
            inner_of[found] = tuple(attempt.inner)
        open_.discard(asked.pop())
        if not asked:
            return _with_levels(found, inner_of) if isinstance(found, Match) else found
        answers.setdefault(question, found)


def _with_levels(outer: Match, inner_of: Mapping[Match, tuple[Match, ...]]) -> Match:
    """Add the nodes of the levels below to a match, as those of a path."""
    nodes = dict.fromkeys(outer.path_nodes)
    seen: set[Match] = set()
    stack = [*inner_of[outer]]
    while stack:
        level = stack.pop()
        if level not in seen:
            seen.add(level)
            nodes.update(dict.fromkeys(node for part, node in level.node_of.items() if isinstance(part, _TAKEN)))
            nodes.update(dict.fromkeys(level.path_nodes))
            stack += inner_of[level]
    return replace(outer, path_nodes=tuple(nodes))


_PLAIN_STEPS = 2000
"""After so many steps an attempt starts to memoise; most take fewer, and are faster without."""


class Attempt:
    """One attempt: the matches so far, in order, and the miss that came furthest.

    The recursion is as deep as the pattern, never as the program.
    """

    def __init__(
        self, facts: MatchContext, work: Work, answers: "Mapping[Question, Match | Miss]" = NO_ANSWERS
    ) -> None:
        self.facts = facts
        self.work = work
        self.answers = answers
        self.inner: dict[Match, None] = {}
        self.node_of: dict[Pattern, Expr] = {}
        self.path_nodes: dict[Expr, None] = {}
        self.miss: Miss | None = None
        self._trail: list[Pattern] = []
        self._looks_through = bool(facts.value_of) or facts.is_annotated
        self._noted: dict[Question, Noted | None] = {}
        self._steps = 0

    def outcome(self, pattern: Pattern, expr: Expr) -> Match | Miss:
        """Make the attempt."""
        is_match = self.visit(pattern, expr)
        self.work.spend(self._steps, pattern)
        if is_match:
            return Match(pattern, expr, MappingProxyType(self.node_of), tuple(self.path_nodes), self.facts.types)
        assert self.miss is not None, "a failed attempt knows why"
        return self.miss

    def miss_of(self, pattern: Pattern, expr: Expr) -> Miss | None:
        """Match one of several patterns together with those before it; return why it does not, and forget it then.

        Raises:
            CompileError: PT006, PT007.
        """
        self.miss = None
        mark = len(self.node_of)
        try:
            return None if self.visit(pattern, expr) else self.miss
        except RecursionError:
            too_deep(pattern)
        except _AskedError:
            self._trail.clear()
            self.forget(mark)
        found = _by_levels(pattern, expr, self.facts, self.work)
        if isinstance(found, Miss):
            return found
        for part, node in found.node_of.items():
            if not is_same(self.node_of.setdefault(part, node), node):
                self.forget(mark)
                reason = "this part matched another expression before"
                return Miss(part, node, reason, mark, (pattern, part))
        return None

    def forget(self, mark: int) -> None:
        """Go back to when so many parts were matched."""
        _forget(self.node_of, mark)

    def visit(self, pattern: Pattern, expr: Expr) -> bool:
        """Match one part, and backtrack to the state before if it fails."""
        known = self.node_of.get(pattern)
        if known is None and _fits_at_once(pattern, expr):
            self.node_of[pattern] = expr
            return True
        self._steps += 1
        if self._steps > _PLAIN_STEPS:
            self._steps = 0
            self.work.spend(_PLAIN_STEPS, pattern)
            self.work.is_long = True
        if known is not None:
            self._trail.append(pattern)
            is_match = is_same(known, expr) or self._fail(pattern, expr, "this part matched another expression before")
            self._trail.pop()
            return is_match
        return self._remembered(pattern, expr) if self.work.is_long else self._visit(pattern, expr)

    def _visit(self, pattern: Pattern, expr: Expr) -> bool:
        """Match a part that is not bound to an expression yet."""
        self._trail.append(pattern)
        noted, walked, levels = len(self.node_of), len(self.path_nodes), len(self.inner)
        value = self._value(pattern, expr) if self._looks_through else expr
        is_match = self._match(cast("AnyPattern", pattern), value)
        if is_match:
            self.node_of[pattern] = expr
        else:
            _forget(self.node_of, noted)
            _forget(self.path_nodes, walked)
            _forget(self.inner, levels)
        self._trail.pop()
        return is_match

    def _remembered(self, pattern: Pattern, expr: Expr) -> bool:
        """Match a part by its memoised outcome, which holds as long as nothing in it is bound."""
        inside = self.work.inside(pattern)
        if not self.node_of.keys().isdisjoint(inside.parts):
            return self._visit(pattern, expr)
        question = (pattern, expr)
        if question in self.work.missed:
            return self._fail(pattern, expr, "does not match")
        if question in self._noted:
            before = self._noted[question]
            if before is not None:
                self._steps += len(before)
                self.node_of.update(before)
            return before is not None
        noted = len(self.node_of)
        is_match = self._visit(pattern, expr)
        if is_match and inside.notes_parts:
            self._noted[question] = tuple(islice(self.node_of.items(), noted, None))
            self._steps += len(self.node_of)
        elif not is_match and inside.recurs:
            self.work.missed.add(question)
        elif not is_match:
            self._noted[question] = None
        return is_match

    def _value(self, pattern: Pattern, expr: Expr) -> Expr:
        """Return the value behind a variable, if `pattern` asks for more than a variable."""
        return expr if isinstance(pattern, _OF_VARIABLES) else self.facts.value(expr)

    def _match(self, pattern: AnyPattern, expr: Expr) -> bool:
        match pattern:
            case CallPattern():
                return self._call(pattern, expr)
            case ExprPattern(expr=expected):
                return is_equal(expected, expr) or self._fail(pattern, expr, f"is not {words(expected)}")
            case WildcardPattern(targets=targets):
                return self._level(pattern, expr, (targets[0], expr))
            case OperatorPattern():
                return self._operator(pattern, expr)
            case ScalarPattern(value=value):
                return is_scalar(expr, value) or self._fail(pattern, expr, f"is not the number {value!r}")
            case ConstantPattern():
                return isinstance(expr, Constant) or self._fail(pattern, expr, "is no constant")
            case VarPattern() | DataflowVarPattern() | GlobalVarPattern() | ExternFuncPattern():
                return self._named(pattern, expr)
            case PrimArrPattern(values=values):
                is_match = isinstance(expr, ShapeExpr) and are_sizes(expr.values, values)
                return is_match or self._fail(pattern, expr, f"is not the shape {sizes_text(values)}")
            case AltPattern() | AndPattern() | NotPattern():
                return self._combined(pattern, expr)
            case UnorderedTuplePattern(fields=expected):
                return self._unordered(pattern, expr, expected)
            case TuplePattern() | TupleGetItemPattern() | FunctionPattern() | IfPattern() | LetPattern():
                return self._compound(pattern, expr)
            case AttrPattern() | TypePattern() | SubtypePattern() | DataTypePattern() | ShapePattern():
                return self._constraint(pattern, expr)
            case DominatorPattern():
                return self._dominated(pattern, expr)
            case _:
                assert_never(pattern)

    def _named(
        self, pattern: VarPattern | DataflowVarPattern | GlobalVarPattern | ExternFuncPattern, expr: Expr
    ) -> bool:
        kind, what = _NAMED[type(pattern)]
        is_match = isinstance(expr, kind) and pattern.name in ("", expr.name)
        return is_match or self._fail(pattern, expr, f"is no {what} {pattern.name}".rstrip())

    def _combined(self, pattern: AltPattern | AndPattern | NotPattern, expr: Expr) -> bool:
        match pattern:
            case AltPattern(options=options):
                return any(self.visit(option, expr) for option in options)
            case AndPattern(options=options):
                return all(self.visit(option, expr) for option in options)
            case NotPattern(pattern=inner):
                # Why `inner` does not match is no reason why this would not.
                miss = self.miss
                is_inner = self.visit(inner, expr)
                self.miss = miss
                return not is_inner or self._fail(pattern, expr, "matches what it must not")

    def _unordered(self, pattern: Pattern, expr: Expr, expected: tuple[Pattern, ...]) -> bool:
        """Match each of `expected` with a field of its own; the first way that fits, in the order of the fields."""
        if not isinstance(expr, Tuple):
            return self._fail(pattern, expr, "is no tuple")
        fields = expr.fields
        if len(fields) != len(expected):
            return self._fail(pattern, expr, f"has {len(fields)} parts, not {len(expected)}")
        taken: list[int] = []
        marks: list[int] = []
        start = 0
        while len(taken) < len(expected):
            part, mark = expected[len(taken)], len(self.node_of)
            free = (place for place in range(start, len(fields)) if place not in taken)
            found = next((place for place in free if self.visit(part, fields[place])), None)
            if found is not None:
                taken.append(found)
                marks.append(mark)
                start = 0
            elif taken:
                start = taken.pop() + 1
                _forget(self.node_of, marks.pop())
            else:
                return False
        return True

    def _level(self, pattern: Pattern, expr: Expr, question: Question) -> bool:
        """Match a wildcard that stands for a pattern around it by the answer to `question`."""
        answer = self.answers.get(question)
        if answer is None:
            raise _AskedError(question)
        if isinstance(answer, Miss):
            return self._fail(answer.part, answer.node, answer.reason)
        self.inner[answer] = None
        for part, node in answer.node_of.items():
            is_free = isinstance(part, _LEAVES) and not (isinstance(part, WildcardPattern) and part.targets)
            if is_free and not is_same(self.node_of.setdefault(part, node), node):
                return self._fail(pattern, expr, "a part of it matched another expression before")
        return True

    def _compound(
        self,
        pattern: TuplePattern | TupleGetItemPattern | FunctionPattern | IfPattern | LetPattern,
        expr: Expr,
    ) -> bool:
        match pattern, expr:
            case TuplePattern(fields=None), Tuple():
                return True
            case TuplePattern(fields=tuple(expected)), Tuple(fields=fields):
                return self._all(pattern, expr, expected, fields)
            case TupleGetItemPattern(tuple_value=part, index=index), TupleGetItem(tuple_value=value):
                if index not in (None, expr.index):
                    return self._fail(pattern, expr, f"takes field {expr.index}, not {index}")
                return self.visit(part, value)
            case FunctionPattern(params=None, body=part), Function(body=body):
                return self.visit(part, body)
            case FunctionPattern(params=tuple(expected), body=part), Function(params=params, body=body):
                return self._all(pattern, expr, expected, params) and self.visit(part, body)
            case IfPattern(), If():
                expected = (pattern.condition, pattern.true_branch, pattern.false_branch)
                return self._all(pattern, expr, expected, (expr.condition, expr.true_branch, expr.false_branch))
            case LetPattern(), Let():
                expected = (pattern.var, pattern.value, pattern.body)
                return self._all(pattern, expr, expected, (expr.var, expr.value, expr.body))
            case _:
                return self._fail(pattern, expr, f"is no {_KINDS[type(pattern)]}")

    def _call(self, pattern: CallPattern, expr: Expr) -> bool:
        if not isinstance(expr, Call):
            return self._fail(pattern, expr, "is no call")
        noted = len(self.node_of)
        if self.visit(pattern.op, expr.op):
            args = value_arguments(expr)
            if pattern.args is not None and len(args) < len(pattern.args):
                args = max(args, written_arguments(expr), key=len)
            if pattern.args is not None and pattern.takes_more:
                args = args[: len(pattern.args)]
            if pattern.args is None or self._all(pattern, expr, pattern.args, args):
                return True
            if operator_name(expr.op) in COMMUTATIVE and self._all(pattern, expr, pattern.args[::-1], args):
                return True
        _forget(self.node_of, noted)
        return any(self.visit(variant, expr) for variant in regrouped(pattern, expr))

    def _operator(self, pattern: OperatorPattern, expr: Expr) -> bool:
        if not isinstance(expr, Call) or not isinstance(expr.op, Op):
            return self._fail(pattern, expr, f"is no call of R.{operator_name(Op(pattern.name))}")
        name = operator_name(expr.op) or ""
        if expr.op.name != pattern.name:
            return self._fail(pattern, expr, f"is a call of R.{name}, not of R.{operator_name(Op(pattern.name))}")
        if max(pattern.places, default=-1) >= len(expr.args):
            return self._fail(pattern, expr, f"has {len(expr.args)} arguments")
        args = tuple(expr.args[place] for place in pattern.places)
        if not self._all(pattern, expr, pattern.args, args):
            is_swapped = name in COMMUTATIVE and self._all(pattern, expr, pattern.args[::-1], args)
            if not is_swapped:
                return False
        return self._literals(pattern, expr)

    def _literals(self, pattern: OperatorPattern, expr: Call) -> bool:
        for place, name, expected in pattern.attrs:
            found = literal(expr.args[place]) if place < len(expr.args) else (None,)
            if found is None:
                return self._fail(pattern, expr, f"has a {name} that is no literal, not {expected!r}")
            if not is_exactly(found[0], expected):
                return self._fail(pattern, expr, f"has {name} = {found[0]!r}, not {expected!r}")
        return True

    def _all(self, pattern: Pattern, expr: Expr, parts: tuple[Pattern, ...], nodes: tuple[Expr, ...]) -> bool:
        if len(parts) != len(nodes):
            return self._fail(pattern, expr, f"has {len(nodes)} parts, not {len(parts)}")
        noted = len(self.node_of)
        for part, node in zip(parts, nodes, strict=True):
            if not self.visit(part, node):
                _forget(self.node_of, noted)
                return False
        return True

    def _constraint(
        self, pattern: AttrPattern | TypePattern | SubtypePattern | DataTypePattern | ShapePattern, expr: Expr
    ) -> bool:
        if not self.visit(pattern.pattern, expr):
            return False
        if isinstance(pattern, AttrPattern):
            return self._attributes(pattern, expr)
        type_ = self.facts.types.get(expr)
        match pattern:
            case TypePattern(type=expected):
                return same_type(type_, expected) or self._fail(pattern, expr, "has another type")
            case SubtypePattern(type=expected):
                is_match = type_ is not None and is_subtype(type_, expected)
                return is_match or self._fail(pattern, expr, f"is not known to be of type {show_type(expected)}")
            case DataTypePattern(dtype=dtype):
                found = type_.dtype if isinstance(type_, TensorType) else None
                return found == dtype or self._fail(pattern, expr, f"has dtype {found}, not {dtype}")
            case ShapePattern(shape=shape):
                return has_shape(type_, shape) or self._fail(pattern, expr, f"has not the shape {sizes_text(shape)}")
            case _:
                assert_never(pattern)

    def _attributes(self, pattern: AttrPattern, expr: Expr) -> bool:
        found = attributes_of(expr)
        for key, expected in pattern.attrs:
            if key not in found:
                return self._fail(pattern, expr, f"has no attribute {key}")
            if not is_value(found[key], expected):
                return self._fail(pattern, expr, f"has {key} = {found[key]!r}, not {expected!r}")
        return True

    def _dominated(self, pattern: DominatorPattern, expr: Expr) -> bool:
        if not self.visit(pattern.child, expr):
            return False
        miss = self.miss
        fits = partial(self._fits_alone, pattern.path)
        for parent in candidates(expr, fits):
            noted = len(self.node_of)
            if self.visit(pattern.parent, parent):
                between = nodes_between(expr, parent, fits)
                if between is not None:
                    self.path_nodes.update(dict.fromkeys(between))
                    return True
                _forget(self.node_of, noted)
        # The miss of one node on the path says less than that no node is the parent.
        self.miss = miss
        return self._fail(pattern, expr, "not all of its inputs lead to one parent over nodes that fit the path")

    def _fits_alone(self, pattern: Pattern, expr: Expr) -> bool:
        """Match a node of a path by itself: nothing that it binds is kept."""
        self.work.spend(1, pattern)
        question = (pattern, expr)
        found = self.work.fits.get(question)
        if found is None:
            found = self.work.fits[question] = isinstance(try_match(pattern, expr, self.facts, self.work), Match)
        return found

    def _fail(self, pattern: Pattern, expr: Expr, reason: str) -> bool:
        """Keep a miss if it came further than the one before. Always false."""
        if self.miss is None or len(self.node_of) > self.miss.matched_count:
            self.miss = Miss(pattern, expr, reason, len(self.node_of), tuple(self._trail))
        return False


_LEAVES = (
    WildcardPattern,
    VarPattern,
    DataflowVarPattern,
    GlobalVarPattern,
    ExternFuncPattern,
    PrimArrPattern,
    ConstantPattern,
    ScalarPattern,
    ExprPattern,
)
_TAKEN = (
    CallPattern,
    OperatorPattern,
    FunctionPattern,
    IfPattern,
    LetPattern,
    TuplePattern,
    UnorderedTuplePattern,
    TupleGetItemPattern,
)
_OF_VARIABLES = (WildcardPattern, VarPattern, DataflowVarPattern, AltPattern, AndPattern, NotPattern)
"""What a variable itself may match; these look at its value only through their parts."""
_NAMED: Mapping[type[Pattern], tuple[type[Var | GlobalVar | ExternFunc], str]] = MappingProxyType(
    {
        VarPattern: (Var, "variable"),
        DataflowVarPattern: (DataflowVar, "variable of a dataflow block"),
        GlobalVarPattern: (GlobalVar, "function of the module"),
        ExternFuncPattern: (ExternFunc, "packed function"),
    }
)
_KINDS: Mapping[type[Pattern], str] = MappingProxyType(
    {
        TuplePattern: "tuple",
        TupleGetItemPattern: "projection of a tuple",
        FunctionPattern: "function",
        IfPattern: "conditional",
        LetPattern: "let",
    }
)


def _fits_at_once(pattern: Pattern, expr: Expr) -> bool:
    """Tell whether a wildcard, or an operator by its name, matches: most parts of most patterns are these."""
    if type(pattern) is ExprPattern:
        expected = pattern.expr
        return type(expr) is Op and type(expected) is Op and expr.name == expected.name
    return type(pattern) is WildcardPattern and not pattern.targets


def _forget(noted: dict[Any, Any], count: int) -> None:
    """Drop what was noted after the first `count` entries."""
    while len(noted) > count:
        noted.popitem()
