"""What came of matching: what each part of a pattern stands for, or what did not fit."""

from collections.abc import Mapping
from dataclasses import dataclass

from relax_core.ir.expr import Expr, Type
from relax_core.ir.node import Node
from relax_core.ir.slots import set_by_slots
from relax_core.pattern.language.nodes import Pattern


@set_by_slots
@dataclass(frozen=True, slots=True, eq=False)
class Match:
    """A successful match: `node_of` maps the parts of the pattern to expressions.

    `path_nodes` are the nodes on the paths of a dominator pattern, and, for a pattern that holds itself, those of the
    levels below the outermost one.
    """

    pattern: Pattern
    root: Expr
    node_of: Mapping[Pattern, Expr]
    path_nodes: tuple[Expr, ...]
    types: Mapping[Node, Type]

    def __getitem__(self, part: Pattern) -> Expr:
        return self.node_of[part]

    def type_of(self, part: Pattern) -> Type | None:
        """Return the type of the expression for `part`, `None` if it is not known, such as in what a rewrite made."""
        return self.types.get(self.node_of[part])


@dataclass(frozen=True, slots=True, eq=False)
class Miss:
    """A failed match: `part` met `node`, after `matched_count` other parts had matched.

    Of several ways to match it is the one that came furthest. `trail` leads from the whole pattern to `part`.
    """

    part: Pattern
    node: Expr
    reason: str
    matched_count: int
    trail: tuple[Pattern, ...]
