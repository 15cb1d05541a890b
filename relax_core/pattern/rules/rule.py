"""Rewrite rules as they were read."""

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field

from relax_core.pattern.language.nodes import Pattern
from relax_core.source import Source, Span


@dataclass(frozen=True, slots=True, eq=False)
class Attribute:
    """An argument that a name of the pattern stands for: that at `place` of the call which `call` matches."""

    call: Pattern
    place: int
    param: str


@dataclass(frozen=True, slots=True, eq=False)
class Rule:
    """One rule: what `pattern` matches becomes `replacement`, where every one of `conditions` holds.

    `values` maps names to the parts of the pattern that they stand for, `attributes` to the arguments of its calls.
    `span_of` says where each part of the pattern stands in the text.
    """

    name: str
    operator: str
    """The full name of the operator whose calls the pattern matches; that of the tuple's, for one of its fields."""
    pattern: Pattern
    values: Mapping[str, Pattern]
    attributes: Mapping[str, tuple[Attribute, ...]]
    conditions: tuple[ast.expr, ...]
    replacement: ast.expr
    span_of: Mapping[Pattern, Span]
    span: Span

    @property
    def source(self) -> Source:
        """The text that the rule stands in."""
        return self.span.source


@dataclass(frozen=True, slots=True, eq=False)
class Rules:
    """The rules of one text, in its order: the first that fits is applied."""

    rules: tuple[Rule, ...] = ()
    text: str = ""
    named: Mapping[str, Rule] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "named", {rule.name: rule for rule in self.rules})
