"""The budget of a search in steps, and the memo that keeps it small."""

from dataclasses import dataclass, field
from typing import NoReturn, TypeAlias

from relax_core.diagnostics import CompileError, Diagnostic
from relax_core.ir.expr import Expr
from relax_core.pattern.language.nodes import DominatorPattern, Pattern, WildcardPattern, subpatterns
from relax_core.pattern.language.show import show_pattern

Noted: TypeAlias = tuple[tuple[Pattern, Expr], ...]
STEP_LIMIT = 2_000_000
"""How many steps looking for a pattern in one function may take.

A step is a part that is compared with an expression, or a node that is passed on a path.
"""
_SHOWN_LENGTH = 80


@dataclass(frozen=True, slots=True)
class _Inside:
    """The parts of a pattern, itself included; whether a match binds only these, and a miss always recurs."""

    parts: frozenset[Pattern]
    notes_parts: bool
    recurs: bool


@dataclass(slots=True, eq=False)
class Work:
    """The budget of one search in steps, and its memo.

    `fits` tells which nodes fit the path of a dominator pattern, and `missed` which parts do not match which
    expressions as long as nothing in them is bound. `is_long` says that an attempt of the search was long: the others
    memoise from their start.
    """

    left: int = STEP_LIMIT
    is_long: bool = False
    fits: dict[tuple[Pattern, Expr], bool] = field(default_factory=dict[tuple[Pattern, Expr], bool])
    missed: set[tuple[Pattern, Expr]] = field(default_factory=set[tuple[Pattern, Expr]])
    _inside: dict[Pattern, _Inside] = field(default_factory=dict[Pattern, _Inside])

    def spend(self, steps: int, pattern: Pattern) -> None:
        """Take `steps` from the budget.

        Raises:
            CompileError: PT006 if nothing is left.
        """
        self.left -= steps
        if self.left < 0:
            _fail("PT006", f"looking for it takes more than {STEP_LIMIT:,} steps", pattern, _LESS_HINT)

    def inside(self, pattern: Pattern) -> _Inside:
        """Return what is known of the parts of a pattern."""
        found = self._inside.get(pattern)
        if found is None:
            parts = frozenset(subpatterns(pattern))
            self.spend(len(parts), pattern)
            recurs = not any(isinstance(part, WildcardPattern) and part.targets for part in parts)
            has_path = any(isinstance(part, DominatorPattern) for part in parts)
            found = self._inside[pattern] = _Inside(parts, recurs and not has_path, recurs)
        return found


_LESS_HINT = "name the operators of paths and alternatives, and look in a smaller function"
_FLATTER_HINT = "match a smaller part of the program, or let a wildcard stand for a chain with redirect_to"


def too_deep(pattern: Pattern) -> NoReturn:
    """Stop because a pattern is nested too deeply.

    Raises:
        CompileError: PT007, always.
    """
    _fail("PT007", "it is nested too deeply to be matched", pattern, _FLATTER_HINT)


def _fail(code: str, message: str, pattern: Pattern, hint: str) -> NoReturn:
    text = show_pattern(pattern).splitlines()[-1]
    shown = text if len(text) <= _SHOWN_LENGTH else f"{text[:_SHOWN_LENGTH]}..."
    raise CompileError((Diagnostic(code, f"the pattern {shown} cannot be matched: {message}", hint=hint),))
