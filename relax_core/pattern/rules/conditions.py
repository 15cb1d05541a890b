"""Whether a match meets the conditions of its rule, and what its names stand for."""

import ast
from collections.abc import Mapping
from dataclasses import dataclass

from relax_core.ir.expr import Call, Expr, Type
from relax_core.ir.node import Node
from relax_core.pattern.matching.facts import MatchContext, is_same, literal
from relax_core.pattern.matching.matcher import Match
from relax_core.pattern.rules.rule import Attribute, Rule
from relax_core.pattern.rules.split import place_of
from relax_core.pattern.rules.text import bound_by
from relax_core.pattern.rules.values import Datum, Matched, Names, Truth, Unknown, equal, evaluate, show, truth
from relax_core.source import Span

_LONGEST = 200


@dataclass(frozen=True, slots=True)
class Unmet:
    """A condition that does not hold: where it stands in the rule, why, and how many before it held."""

    span: Span
    reason: str
    met: int


@dataclass(frozen=True, slots=True)
class Met:
    """All conditions hold: what the names stand for, and the arguments that names of attributes stand for."""

    names: Names
    given: Mapping[str, Expr]


def judge(rule: Rule, match: Match, facts: MatchContext, types: Mapping[Node, Type]) -> Met | Unmet:
    """Judge a match by the conditions of its rule, in their order."""
    names: dict[str, Datum] = {}
    given: dict[str, Expr] = {}
    for name, part in rule.values.items():
        expr = match[part]
        value = facts.value(expr)
        names[name] = Matched(expr, types.get(expr) or types.get(value), value)
    for name, places in rule.attributes.items():
        first = given[name] = _argument(match, places[0], facts)
        names[name] = _datum(first)
        for place in places[1:]:
            other = _argument(match, place, facts)
            if not is_same(first, other) and equal(names[name], _datum(other)) is not True:
                reason = f"`{name}` is {show(names[name])} at one place and {show(_datum(other))} at another"
                return Unmet(rule.span_of[place.call], reason, 0)
    for met, condition in enumerate(rule.conditions):
        new = bound_by(condition, names)
        held = _bound(condition, new, names) if new else truth(evaluate(condition, names))
        if held is not True:
            return Unmet(place_of(rule.source, condition), _reason(rule, condition, names, held), met)
    return Met(names, given)


def _argument(match: Match, item: Attribute, facts: MatchContext) -> Expr:
    value = facts.value(match[item.call])
    assert isinstance(value, Call), "the part of the pattern matched a call"
    return value.args[item.place]


def _datum(argument: Expr) -> Datum:
    found = literal(argument)
    return Unknown("it is computed when the program runs") if found is None else found[0]


def _bound(condition: ast.expr, new: frozenset[str], names: dict[str, Datum]) -> bool | Unknown:
    """Give sizes to the new names of `x.shape == (n, k)` or `x.shape[0] == n`, and tell whether the rest is equal."""
    assert isinstance(condition, ast.Compare), "only a comparison binds names"
    found, expected = evaluate(condition.left, names), condition.comparators[0]
    if isinstance(found, Unknown):
        return found
    if isinstance(expected, ast.Name):
        names[expected.id] = found
        return True
    assert isinstance(expected, ast.Tuple | ast.List), "the other form that binds names"
    if not isinstance(found, tuple) or len(found) != len(expected.elts):
        return False
    for size, item in zip(found, expected.elts, strict=True):
        if isinstance(item, ast.Name) and item.id in new:
            names.setdefault(item.id, size)
    return equal(found, evaluate(expected, names))


def _reason(rule: Rule, condition: ast.expr, names: Names, held: Truth) -> str:
    """Say why a condition does not hold, with the value that its first operand has."""
    text = " ".join(place_of(rule.source, condition).text.split())
    if isinstance(held, Unknown):
        words = f"`{text}` is not known: {held.reason}"
    elif isinstance(condition, ast.Compare):
        left = " ".join(place_of(rule.source, condition.left).text.split())
        words = f"`{text}` does not hold: {left} is {show(evaluate(condition.left, names))}"
    else:
        words = f"`{text}` does not hold"
    return words if len(words) <= _LONGEST else f"{words[: _LONGEST - 1]}…"
