"""Replace the values of bindings in rounds, until nothing is replaced."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Protocol

from relax_core.check.check import check
from relax_core.check.infer import infer
from relax_core.diagnostics import CompileError, Diagnostic
from relax_core.ir.expr import BindingBlock, Expr, Function, Type, Var, VarBinding
from relax_core.ir.module import Definition, IRModule
from relax_core.ir.node import Node, children, map_children
from relax_core.ir.rewriting.builder import normalize
from relax_core.ir.rewriting.rewrite import RewriteLog
from relax_core.pattern.matching.facts import MatchContext
from relax_core.pattern.rewriting.scopes import Surroundings, surroundings, without_unused

ROUND_LIMIT = 100
APPLICATION_LIMIT = 1000
"""How often values may be replaced in one module, besides ten times for each of its bindings."""


@dataclass(frozen=True, slots=True, eq=False)
class Replacing:
    """A replacement: `known` are nodes of the program in it, `behind` the variables inside of what it stands for.

    Those of `behind` that nothing uses then go.
    """

    name: str
    new: Expr
    known: tuple[Expr, ...]
    behind: tuple[Var, ...]


class ValueRewriter(Protocol):
    """Says what becomes of values."""

    def begin(self) -> None:
        """Hear that a round begins."""
        ...

    def skip(self, function: Function) -> None:
        """Hear of a function that handles memory explicitly: what a value is may change before it is read."""
        ...

    def replacing(self, value: Expr, block: BindingBlock, around: "FunctionRound") -> Replacing | None:
        """Return what takes the place of a value that `block` binds, `None` if nothing does."""
        ...

    def endless(self) -> CompileError:
        """Return the error of replacements without end."""
        ...


def rewrite_values(module: IRModule, rewriter: ValueRewriter, log: RewriteLog, *, once: bool = False) -> IRModule:
    """Return a Relax module in A-normal form with the values of its bindings replaced, in rounds until none is.

    With `once` there is a single round, over the values that were there before it.

    Complexity: a round is linear in the module, times what `rewriter` takes for a value.

    Raises:
        CompileError: `rewriter.endless()`: it does not end.
    """
    rounds = _Rounds(rewriter, log)
    for _ in range(1 if once else ROUND_LIMIT):
        after = rounds.round(module)
        if after is module:
            return module
        module = after
    if not once:
        raise rewriter.endless()
    return module


def ill_formed(before: IRModule, after: IRModule) -> Diagnostic | None:
    """Return an error of a kind that `after` has and `before` has not."""
    if before is after:
        return None
    known = {item.code for item in check(before) if item.severity == "error"}
    return next((item for item in check(after) if item.severity == "error" and item.code not in known), None)


class _Rounds:
    def __init__(self, rewriter: ValueRewriter, log: RewriteLog) -> None:
        self._rewriter = rewriter
        self._log = log
        self._left: int | None = None

    def round(self, module: IRModule) -> IRModule:
        """Ask once for every value; the same module if none was replaced."""
        types = dict(infer(module).types)
        self._rewriter.begin()
        changed: list[Definition] = []
        around = {item: surroundings(item.function) for item in module if isinstance(item.function, Function)}
        if self._left is None:
            self._left = APPLICATION_LIMIT + 10 * sum(len(item.bindings) for item in around.values())
        for item, scopes in around.items():
            assert isinstance(item.function, Function), "only functions of Relax have surroundings"
            if scopes.writes_memory:
                self._rewriter.skip(item.function)
                continue
            state = FunctionRound(item.function, scopes, types)
            after = self._rewritten(state)
            if after is not item.function:
                changed.append(replace(item, function=after))
        if not changed:
            return module
        result = module.with_definitions(*changed)
        self._log.rebuilt(module, result)
        return normalize(result, self._log)

    def _rewritten(self, state: "FunctionRound") -> Function:
        """Return the function with its values replaced, and without those that only matches used."""
        assert self._left is not None, "a round has begun"
        for binding, block in state.scopes.bindings:
            if binding.value in state.replaced:
                continue
            made = self._rewriter.replacing(binding.value, block, state)
            if made is not None:
                self._left -= 1
                if self._left < 0:
                    raise self._rewriter.endless()
                state.replace(binding, made)
        if not state.replaced:
            return state.function
        after = rebuilt(state.function, state.replaced, frozenset(), self._log)
        unused = without_unused(after, frozenset(state.behind))
        return rebuilt(after, {}, unused, self._log) if unused else after


class FunctionRound:
    """One function in one round: what is bound to its variables, and what its values become meanwhile.

    `behind` are the variables that matches looked through. `types` takes the types of what is made.
    """

    def __init__(self, function: Function, scopes: Surroundings, types: dict[Node, Type]) -> None:
        self.function = function
        self.scopes = scopes
        self.types = types
        self.replaced: dict[Node, tuple[Replacing, tuple[Expr, ...]]] = {}
        """For each value what takes its place, and the values inside of what that stands for."""
        self.behind: dict[Var, None] = {}
        self._value_of: dict[Var, Expr] = {item.var: item.value for item, _ in scopes.bindings}
        self.facts = MatchContext(types, self._value_of)

    def aliases(self, nodes: Iterable[Node]) -> tuple[Var, ...]:
        """Return the variables among `nodes`, and those that they are other names of."""
        found: list[Var] = []
        for node in nodes:
            while isinstance(node, Var):
                found.append(node)
                node = self._value_of.get(node)
        return tuple(found)

    def replace(self, binding: VarBinding, made: Replacing) -> None:
        """Put something in the place of the value of a binding."""
        self.behind.update(dict.fromkeys(made.behind))
        self.replaced[binding.value] = (made, tuple(self.facts.value(var) for var in made.behind))
        self._value_of[binding.var] = made.new


def rebuilt(
    root: Function,
    replaced: Mapping[Node, tuple[Replacing, tuple[Expr, ...]]],
    dropped: frozenset[Var],
    log: RewriteLog,
) -> Function:
    """Return a function with values replaced and bindings dropped; what is new is recorded."""
    new_of: dict[Node, Node | tuple[Node, ...]] = {}
    stack: list[tuple[Node, bool]] = [(root, False)]
    while stack:
        node, is_ready = stack.pop()
        if node in new_of:
            continue
        if (found := replaced.get(node)) is not None:
            made, absorbed = found
            log.replace(node, made.new, made.name, made.known)
            for value in absorbed:
                log.share((made.new,), value)
            new_of[node] = made.new
        elif isinstance(node, VarBinding) and node.var in dropped:
            log.replace(node, (), "value that nothing uses -> nothing")
            new_of[node] = ()
        elif is_ready:
            new = map_children(node, new_of.__getitem__)
            log.rebuilt(node, new)
            new_of[node] = new
        else:
            stack.append((node, True))
            stack += [(item, False) for item in reversed(children(node)) if item not in new_of]
    result = new_of[root]
    assert isinstance(result, Function), "a function stays one"
    return result
