"""rewrite_bindings: what patterns of several bindings match is rewritten at once, by what a callback returns.

See: tvm/python/tvm/relax/dpl/rewrite.py
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TypeAlias, cast

from relax_core.check.infer import infer
from relax_core.diagnostics import CompileError, Diagnostic
from relax_core.ir.equality import structural_equal
from relax_core.ir.expr import LEAVES, Binding, BindingBlock, DataflowBlock, Expr, Function, Type, Var, VarBinding
from relax_core.ir.module import Definition, IRModule
from relax_core.ir.node import Node, map_children, postorder, preorder
from relax_core.ir.prim import PrimVar
from relax_core.ir.rewriting.builder import Names, names_in, normalize
from relax_core.ir.rewriting.rewrite import RewriteLog
from relax_core.ir.rewriting.substitute import free_symbols
from relax_core.pattern.graph.plan import Step
from relax_core.pattern.graph.search import GraphMatch, GraphSearch
from relax_core.pattern.graph.uses import BlockUses
from relax_core.pattern.language.nodes import Pattern
from relax_core.pattern.matching.facts import MatchContext
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
from relax_core.pattern.rewriting.emission import Emission
from relax_core.pattern.rewriting.rounds import APPLICATION_LIMIT, rebuilt
from relax_core.pattern.rewriting.scopes import has_effect, surroundings, without_unused
from relax_core.source import Span

BindingsCallback: TypeAlias = Callable[[Mapping[Pattern, Var], Mapping[Var, Expr]], Mapping[Var, Expr] | None]
_NAME = "rewrite_bindings"


def rewrite_bindings(
    steps: tuple[Step, ...], callback: BindingsCallback, module: IRModule, log: RewriteLog
) -> IRModule:
    """Return a Relax module in A-normal form with the values that `callback(variables, values)` gives to variables.

    It is called for each match in a block without effects, in order, with the variables of the patterns and the values
    of the block. After a change the search goes on at the same variable; it begins again until nothing changes. `None`,
    or values equal to those that are there, leave a match as it is. A value that is nested at several places is bound
    once, and what a value needs is computed before it. What replaced values were computed from goes if nothing uses it.

    Raises:
        CompileError: PS010 for Relay; PT004: it does not end; PT008, PT012 to PT015 or an error of an operator: the
            callback returns what does not fit; PT006, PT007: looking for the patterns takes too long.
    """
    require_relax(module)
    before = normalize(module, log)
    types = dict(infer(before).types)
    nodes = (node for _, function in before.relax_functions for node in preorder(function))
    count = sum(isinstance(node, Binding) for node in nodes)
    run = _Run(steps, callback, log, types, APPLICATION_LIMIT + 10 * count)
    changed: list[Definition] = []
    for item in before.definitions:
        if isinstance(item.function, Function) and not surroundings(item.function).writes_memory:
            after = _rewritten(item.function, run)
            if after is not item.function:
                changed.append(replace(item, function=after))
    if not changed:
        return module
    result = before.with_definitions(*changed)
    log.rebuilt(before, result)
    result = normalize(result, log)
    require_sound(before, result)
    return result


@dataclass(slots=True, eq=False)
class _Run:
    """One rewrite of a module; `left` is how often bindings may still be changed."""

    steps: tuple[Step, ...]
    callback: BindingsCallback
    log: RewriteLog
    types: dict[Node, Type]
    left: int
    symbols: tuple[PrimVar, ...] = ()
    """The symbolic sizes that the parameters of the function define, and those of functions in it."""


def _rewritten(function: Function, run: _Run) -> Function:
    """Return a function with its blocks rewritten, and without what only replaced values used."""
    names = names_in(function)
    inner = (node for node in preorder(function) if isinstance(node, Function))
    run.symbols = tuple(symbol for item in inner for var in item.params for symbol in free_symbols(var.annotation))
    unneeded: dict[Var, None] = {}

    def change(block: BindingBlock) -> BindingBlock:
        if not isinstance(block, DataflowBlock) and any(has_effect(item.value) for item in block.bindings):
            return block
        state = _Block(block, names, run)
        state.rewrite()
        unneeded.update(dict.fromkeys(state.unneeded))
        return state.made()

    after = _with_blocks(function, change, run.log)
    if after is function:
        return function
    may_go = droppable(after)
    dropped = without_unused(after, frozenset(var for var in unneeded if var in may_go))
    return rebuilt(after, {}, dropped, run.log) if dropped else after


def _with_blocks(function: Function, change: Callable[[BindingBlock], BindingBlock], log: RewriteLog) -> Function:
    """Return a function with its blocks changed, inner ones first."""
    new_of: dict[Node, Node] = {}
    for node in postorder(function):
        new = map_children(node, new_of.__getitem__)
        log.rebuilt(node, new)
        if isinstance(new, BindingBlock):
            changed = change(new)
            log.rebuilt(new, changed)
            new = changed
        new_of[node] = new
    result = new_of[function]
    assert isinstance(result, Function), "a function stays one"
    return result


class _Block:
    """One block while it is rewritten; `unneeded` are the variables that replaced values were computed from."""

    def __init__(self, block: BindingBlock, names: Names, run: _Run) -> None:
        self._block = block
        self._names = names
        self._run = run
        self._binding_of: Mapping[Var, Binding] = {item.var: item for item in block.bindings}
        self._uses = BlockUses(block, run.symbols)
        self._values: dict[Var, Expr] = {
            item.var: item.value for item in block.bindings if isinstance(item, VarBinding)
        }
        self._bound = {value: var for var, value in self._values.items() if not isinstance(value, LEAVES)}
        self._made: dict[Var, tuple[Expr, ...]] = {}
        """The variables whose values are other ones, with the values of the text that these stem from."""
        self._seen: set[Var] = set()
        self.unneeded: list[Var] = []

    def rewrite(self) -> None:
        """Rewrite until a search from the beginning changes nothing.

        Raises:
            CompileError: see `rewrite_bindings`.
        """
        # To move what stands before a function that uses it would take more than moving what is needed.
        place: int | None = None if self._uses.refers_ahead else 0
        is_changed = False
        while place is not None:
            place = self._next(place)
            is_changed = is_changed or place is not None
            if place is None and is_changed:
                place, is_changed = 0, False

    def made(self) -> BindingBlock:
        """Return the block as it is."""
        if not self._made:
            return self._block
        bindings = [self._binding(var) for var in self._uses.order if var in self._uses.value_of]
        return replace(self._block, bindings=tuple(bindings))

    def _binding(self, var: Var) -> Binding:
        known = self._binding_of.get(var)
        if var not in self._made:
            assert known is not None, "what was not made was there"
            return known
        value, origins = self._values[var], self._made[var]
        if known is None:
            new = VarBinding(var, value)
            self._run.log.derive(new, origins)
            return new
        new = replace(known, value=value)
        held = [node for node in preorder(value) if isinstance(node, Var)]
        self._run.log.replace(known.value, value, _NAME, held)
        self._run.log.rebuilt(known, new)
        return new

    def _next(self, place: int) -> int | None:
        """Rewrite the first match that begins at `place` or behind, and return where that one begins."""
        order = self._uses.order
        starts = (order[number] for number in range(place, len(order)))
        facts = MatchContext(self._run.types, self._values)
        search = GraphSearch(self._run.steps, self._uses, facts, starts=starts)
        for found in search.matches():
            if self._apply(found):
                return self._uses.place(found[self._run.steps[0].pattern])
        return None

    def _apply(self, found: GraphMatch) -> bool:
        """Ask the callback about a match, and tell whether that changed something."""
        place = next((span for var in found.variable_of.values() if (span := self._place(var)) is not None), None)
        result = called(self._run.callback, found.variable_of, MappingProxyType(self._values), place=place)
        given = self._given(result, place)
        news = {var: new for var, new in given if not structural_equal(new, self._values[var])}
        if not news:
            return False
        self._run.left -= 1
        if self._run.left < 0:
            raise endless()
        for var, new in news.items():
            require_type(new, self._run.types.get(self._values[var]), self._run.types, self._place(var))
        self._change(news)
        return True

    def _given(self, result: object, place: Span | None) -> list[tuple[Var, Expr]]:
        """Return what a callback gives to variables, in the order of the block.

        Raises:
            CompileError: PT008.
        """
        if result is None:
            return []
        if not isinstance(result, Mapping):
            message = f"a callback returns values of variables or None, not {type(result).__name__}"
            raise CompileError((Diagnostic("PT008", message, place),))
        given: list[tuple[Var, Expr]] = []
        for var, new in cast("Mapping[object, object]", result).items():
            if not isinstance(var, Var) or var not in self._values:
                shown = var.name if isinstance(var, Var) else type(var).__name__
                message = f"a callback gives values to variables that the block binds, not to {shown}"
                raise CompileError((Diagnostic("PT008", message, place),))
            given.append((var, as_expression(new, place)))
        return sorted(given, key=lambda item: self._uses.key_of[item[0]])

    def _change(self, news: Mapping[Var, Expr]) -> None:
        olds = tuple(self._values[var] for var in news)
        self.unneeded += behind(olds, self._values, self._seen)
        for old in olds:
            self._bound.pop(old, None)
        is_dataflow = isinstance(self._block, DataflowBlock)
        emission = Emission(self._names, self._run.types, self._bound, is_dataflow=is_dataflow)
        changed: list[Var] = []
        for var, new in news.items():
            start = len(emission.bindings)
            value = emission.value(new)
            for item in emission.bindings[start:]:
                self._uses.insert(item.var, item.value, var)
                self._set(item.var, item.value, olds)
                changed.append(item.var)
            self._uses.change(var, value)
            self._set(var, value, olds)
            changed.append(var)
        for var in changed:
            self._move_needed(var)

    def _set(self, var: Var, value: Expr, olds: tuple[Expr, ...]) -> None:
        self._values[var] = value
        self._made[var] = olds
        if not isinstance(value, LEAVES):
            self._bound[value] = var

    def _move_needed(self, var: Var) -> None:
        """Let what the value of `var` needs be bound before it, in the order that it is in."""
        uses = self._uses
        needed = {var: None}
        for item in needed_by(var, uses):
            if item is var:
                message = f"the new value of {var.name} needs what is computed from {var.name}"
                raise CompileError((Diagnostic("PT013", message, self._place(var)),))
            needed[item] = None
        for item in sorted(needed, key=uses.key_of.__getitem__):
            if uses.key_of[item] > uses.key_of[var]:
                uses.move(item, var)

    def _place(self, var: Var) -> Span | None:
        known = self._binding_of.get(var)
        return None if known is None else self._run.log.locate(known)


def needed_by(var: Var, uses: BlockUses) -> Iterator[Var]:
    """Yield what is bound behind `var` although its value needs it, and `var` itself if it needs its own value."""
    limit = uses.key_of[var]
    seen: set[Var] = set()
    stack = uses.needed(var)
    while stack:
        item = stack.pop()
        if item in seen or item not in uses.value_of or (uses.key_of[item] < limit and item is not var):
            continue
        seen.add(item)
        yield item
        stack += uses.needed(item) if item is not var else ()
