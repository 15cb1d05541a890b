"""rewrite_call: what a pattern matches among the values of bindings becomes what a callback returns.

See: tvm/python/tvm/relax/dpl/rewrite.py
"""

from collections.abc import Callable
from dataclasses import replace
from typing import TypeAlias

from relax_core.diagnostics import CompileError
from relax_core.ir.equality import structural_equal
from relax_core.ir.expr import BindingBlock, Call, DataflowBlock, Expr, Function, SeqExpr, Var
from relax_core.ir.module import IRModule
from relax_core.ir.node import preorder
from relax_core.ir.rewriting.builder import names_in, normalize
from relax_core.ir.rewriting.rewrite import RewriteLog
from relax_core.pattern.language.nodes import Pattern
from relax_core.pattern.matching.facts import operator_name
from relax_core.pattern.matching.matcher import match
from relax_core.pattern.matching.results import Match
from relax_core.pattern.matching.variants import root_operators
from relax_core.pattern.rewriting.callbacks import (
    as_expression,
    behind,
    called,
    droppable,
    endless,
    require_relax,
    require_sound,
    require_type,
)
from relax_core.pattern.rewriting.emission import Emission, shares
from relax_core.pattern.rewriting.rounds import FunctionRound, Replacing, rewrite_values

CallCallback: TypeAlias = Callable[[Expr, Match], Expr | None]


def rewrite_call(pattern: Pattern, callback: CallCallback, module: IRModule, log: RewriteLog) -> IRModule:
    """Return a Relax module in A-normal form with each value that the pattern matches as `callback(value, match)`.

    Values are tried in the order of the program, in rounds until nothing changes; `None`, or an equal value, leaves
    one as it is. There is no match through variables that are visible only in another dataflow block, or where a call
    with an effect may run in between. What replaced values were computed from goes if nothing uses it and it has no
    effect.

    Complexity: a round is linear in the module, times the size of the pattern.

    Raises:
        CompileError: PS010 for Relay; PT004: it does not end; PT008, PT012, PT014, PT015 or an error of an operator:
            the callback returns what does not fit; PT006, PT007: looking for the pattern takes too long.
    """
    require_relax(module)
    before = normalize(module, log)
    after = rewrite_values(before, _CallRewriter(pattern, callback, log), log)
    require_sound(before, after)
    return module if after is before else after


class _CallRewriter:
    """The calls of one callback in one module, over its rounds."""

    def __init__(self, pattern: Pattern, callback: CallCallback, log: RewriteLog) -> None:
        self._pattern = pattern
        self._callback = callback
        self._log = log
        self._operators = root_operators(pattern)
        self._scope: _Scope | None = None

    def begin(self) -> None:
        """Nothing is kept from round to round."""

    def skip(self, function: Function) -> None:
        """A function that handles memory explicitly stays as it is."""

    def endless(self) -> CompileError:
        """Return the error of a callback whose results match again and again."""
        return endless()

    def replacing(self, value: Expr, block: BindingBlock, around: FunctionRound) -> Replacing | None:
        """Return what the callback makes of a value that matches."""
        found = match(self._pattern, value, around.facts) if self._may_match(value) else None
        if found is None or not all(around.scopes.is_visible(node, block) for node in found.node_of.values()):
            return None
        described = around.aliases(node for part, node in found.node_of.items() if part.PARTS)
        if not all(around.scopes.is_undisturbed(var, block) for var in described):
            return None
        place = self._log.locate(value)
        result = called(self._callback, value, found, place=place)
        if result is None or result is value:
            return None
        new = as_expression(result, place)
        if structural_equal(new, value):
            return None
        require_type(new, around.types.get(value), around.types, place)
        return self._replacing(value, new, described, block, around)

    def _replacing(
        self, value: Expr, new: Expr, described: tuple[Var, ...], block: BindingBlock, around: FunctionRound
    ) -> Replacing:
        scope = self._scope
        if scope is None or scope.function is not around.function:
            scope = self._scope = _Scope(around.function)
        around.behind.update(dict.fromkeys(scope.behind(value)))
        known = tuple(node for node in preorder(new) if isinstance(node, Var))
        if shares(new):
            emission = Emission(scope.names, around.types, is_dataflow=isinstance(block, DataflowBlock))
            body = emission.value(new)
            new = SeqExpr((replace(block, bindings=tuple(emission.bindings), span=None),), body)
        return Replacing("rewrite_call", new, known, tuple(var for var in described if var in scope.droppable))

    def _may_match(self, value: Expr) -> bool:
        """Tell by the operator whether it is worth while to look at a value; another name of a variable is none."""
        if isinstance(value, Var):
            return False
        if self._operators is None:
            return True
        return isinstance(value, Call) and operator_name(value.op) in self._operators


class _Scope:
    """What is known of a function in a round: the bindings that may go, and the names that are taken."""

    def __init__(self, function: Function) -> None:
        self.function = function
        self.droppable = droppable(function)
        self.names = names_in(function)
        self._seen: set[Var] = set()

    def behind(self, value: Expr) -> list[Var]:
        """Return what `value` is computed from and may go, but for what was returned before."""
        return list(behind((value,), self.droppable, self._seen))
