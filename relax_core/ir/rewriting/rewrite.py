"""Rewriting that records itself: replacements, origins, and the way back to the user's text."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, Final, TypeAlias, TypeVar, cast

from relax_core.diagnostics import CompileError, Diagnostic
from relax_core.ir.expr import LEAVES
from relax_core.ir.node import Node, children, map_children, preorder
from relax_core.ir.tir import PrimFunc
from relax_core.source import Span

N = TypeVar("N", bound=Node)

_PATIENCE: Final = 20
"""So often a pass may ask for an application that is declined, in one and the same node that it rewrites."""

Rewritten: TypeAlias = Node | tuple[Node, ...]
R = TypeVar("R", bound=Rewritten)
Rule: TypeAlias = Callable[[Node], "Rewritten | None"]
Takes: TypeAlias = Callable[[int], bool]
"""Tells of an application of a rule, by its number in the order of time from 1 on, whether it is made."""


@dataclass(frozen=True, slots=True)
class Replacement:
    """One application of a rule: `before` was replaced by `after`, for which the nodes `made` were made."""

    before: Node
    after: tuple[Node, ...]
    made: tuple[Node, ...]
    rule: str
    application: int = 0
    """Its number among the applications of rules; 0: the pass made the change in a way of its own."""


class RewriteLog:
    """What a pass replaced, and from which nodes each node it made stems.

    A pass only notes what it does; what stems from what is worked out in the order of the notes when the log is read.
    With `takes` only some applications of rules are made, as a debug counter of LLVM does.
    """

    def __init__(self, takes: Takes | None = None) -> None:
        self._takes = takes
        self._applications = 0
        self._declined: dict[tuple[Node, str], Counter[Node | None]] = {}
        """How often what is declined was asked for, by the node that was rewritten."""
        self._noted: list[tuple[Any, ...]] = []
        """What is not worked out yet: one of the methods for that, with its arguments."""
        self._replacements: list[Replacement] = []
        self._origins: dict[Node, Sequence[Node]] = {}
        self._shared: dict[Node, tuple[Node, ...]] = {}
        """What a node that stayed does besides its own work."""
        self._input: Node | None = None
        self._given: frozenset[Node] = frozenset()
        """The nodes of the input, while it is worked out what stems from what."""

    def read(self, root: Node) -> None:
        """Tell what the pass starts from: of what is in it nothing is made, wherever it is used again."""
        self._input = root

    def replace(self, before: Node, after: Rewritten, rule: str, known: Iterable[Node] = ()) -> None:
        """Record that `rule` put `after` in the place of `before`; nodes in `known` are not new."""
        self._noted.append((RewriteLog._work_out_replacement, before, after, rule, tuple(known), 0))

    def apply(
        self, before: Node, after: R, rule: str, known: Iterable[Node] = (), root: Node | None = None
    ) -> "Node | R":
        """Record that `rule` puts `after` in the place of `before`, and return `after`; `before` if it is declined.

        Nodes in `known` are not new; `root` is what is rewritten. What was declined once stays so, wherever the node is
        met again.

        Raises:
            CompileError: PS020: the pass asks without end.
        """
        if (before, rule) in self._declined:
            return self._declines(before, rule, root)
        self._applications += 1
        if self._takes is not None and not self._takes(self._applications):
            return self._declines(before, rule, root)
        self._noted.append((RewriteLog._work_out_replacement, before, after, rule, tuple(known), self._applications))
        return after

    def _declines(self, before: Node, rule: str, root: Node | None) -> Node:
        asked = self._declined.setdefault((before, rule), Counter())
        asked[root] += 1
        if asked[root] > _PATIENCE:
            message = f"the pass goes on until this is made, so that it cannot be left out: {rule}"
            raise CompileError((Diagnostic("PS020", message, before.span),))
        return before

    def derive(self, new: Node, from_: Sequence[Node], rule: str = "") -> None:
        """Record that `new`, with every node below it that has no place yet, was built from the nodes `from_`.

        More may be added to a list `from_` until the log is read: a prim func serves calls that come later.
        """
        self._noted.append((RewriteLog._work_out_derivation, new, from_, rule))

    def rebuilt(self, old: Node, new: Node) -> None:
        """Record that `new` is `old` with other children."""
        if new is not old:
            self._noted.append((RewriteLog._work_out_copy, old, new))

    def copied(self, pairs: "Iterable[tuple[Node, Node]]") -> None:
        """Record that of each pair the second is the first with other children, or the same.

        The pairs are asked for when the log is read: more may be added to a list until then.
        """
        self._noted.append((RewriteLog._work_out_copies, pairs))

    def share(self, kept: Iterable[Node], absorbed: Node) -> None:
        """Record that the nodes `kept`, which stay as they are, also do what `absorbed` did, which goes."""
        self._noted.append((RewriteLog._work_out_share, tuple(kept), absorbed))

    @property
    def replacements(self) -> list[Replacement]:
        """The applications of rules, in order."""
        self._work_out()
        return self._replacements

    def _work_out(self) -> dict[Node, Sequence[Node]]:
        """Return the origins with what was noted since they were last asked for."""
        noted, self._noted = self._noted, []
        if noted and self._input is not None:
            self._given = frozenset(preorder(self._input))
        for note, *arguments in noted:
            note(self, *arguments)
        self._given = frozenset()
        return self._origins

    def _work_out_replacement(
        self, before: Node, after: Rewritten, rule: str, known: tuple[Node, ...], application: int
    ) -> None:
        result = after if isinstance(after, tuple) else (after,)
        made = self._made(result, (before,), {before, *children(before), *known})
        for new in made:
            self._origins.setdefault(new, (before,))
        self._same_place(result, (before,))
        self._replacements.append(Replacement(before, result, made, rule, application))

    def _work_out_derivation(self, new: Node, from_: Sequence[Node], rule: str) -> None:
        made = self._made((new,), from_, set(from_))
        for item in made:
            self._origins.setdefault(item, from_)
        self._same_place((new,), from_)
        if rule:
            self._replacements.append(Replacement(from_[0], (new,), made, rule))

    def _work_out_copy(self, old: Node, new: Node) -> None:
        if new not in self._given:
            self._origins.setdefault(new, (old,))

    def _work_out_copies(self, pairs: "Iterable[tuple[Node, Node]]") -> None:
        for old, new in pairs:
            if new is not old and new not in self._given:
                self._origins.setdefault(new, (old,))

    def _work_out_part(self, log: "RewriteLog") -> None:
        self._replacements.extend(log.replacements)
        for new, old in log._work_out().items():
            self._origins.setdefault(new, old)
        for kept, absorbed in log._shared.items():
            self._shared[kept] = (*self._shared.get(kept, ()), *absorbed)

    def _work_out_share(self, kept: tuple[Node, ...], absorbed: Node) -> None:
        for node in kept:
            self._shared[node] = (*self._shared.get(node, ()), absorbed)

    def _made(self, after: tuple[Node, ...], from_: Sequence[Node], known: set[Node]) -> tuple[Node, ...]:
        """Return what is neither known nor located of `after`, or is in a node with the very span of an old one."""
        spans = {id(old.span) for old in from_ if old.span is not None}
        made: dict[Node, None] = {}
        stack = list(reversed(after))
        while stack:
            current = stack.pop()
            if current in known or current in made or current in self._origins or current in self._given:
                continue
            if current.span is None:
                made[current] = None
            else:
                # A graph shares nodes: each is looked into once.
                known.add(current)
            stack.extend(item for item in reversed(children(current)) if item.span is None or id(item.span) in spans)
        return tuple(made)

    def _same_place(self, made: tuple[Node, ...], from_: Sequence[Node]) -> None:
        """Record that a node with the very span of an old one, as `dataclasses.replace` makes it, stems from it."""
        for new in made:
            if new.span is not None and new not in from_ and any(new.span is old.span for old in from_):
                self._origins.setdefault(new, from_)

    def origins_of(self, node: Node) -> tuple[Node, ...]:
        """Return the nodes that `node` directly stems from, empty for a node of the input."""
        return (*self._work_out().get(node, ()), *self._shared.get(node, ()))

    def ancestry(self, node: Node) -> tuple[Node, ...]:
        """Return `node` and all that it stems from, nearest first."""
        return self.ancestry_of((node,))

    def ancestry_of(self, nodes: Iterable[Node]) -> tuple[Node, ...]:
        """Return `nodes` and all that they stem from, nearest first."""
        found = dict.fromkeys(nodes)
        origins = self._work_out()
        queue = list(found)
        for current in queue:
            for origin in chain(origins.get(current, ()), self._shared.get(current, ())):
                if origin not in found:
                    found[origin] = None
                    queue.append(origin)
        return tuple(found)

    def descendants(self, nodes: Iterable[Node]) -> frozenset[Node]:
        """Return `nodes` and all that was made from them; linear in the size of the log."""
        made_from: defaultdict[Node, list[Node]] = defaultdict(list)
        for new, old in chain(self._work_out().items(), self._shared.items()):
            for origin in old:
                made_from[origin].append(new)
        found = set(nodes)
        queue = list(found)
        while queue:
            for new in made_from.get(queue.pop(), ()):
                if new not in found:
                    found.add(new)
                    queue.append(new)
        return frozenset(found)

    def locate(self, node: Node) -> Span | None:
        """Return the nearest place in the user's text that `node` stems from."""
        if node.span is not None:
            return node.span
        origins = self._work_out()
        queue, seen = [node], {node}
        for current in queue:
            if current.span is not None:
                return current.span
            fresh = [origin for origin in origins.get(current, ()) if origin not in seen]
            queue += fresh
            seen.update(fresh)
        return None

    @staticmethod
    def merged(logs: "Iterable[RewriteLog]") -> "RewriteLog":
        """Return one log that leads through all of `logs`, which are read when it is."""
        result = RewriteLog()
        result._noted.extend((RewriteLog._work_out_part, log) for log in logs)
        return result


def rule_name(rule: Rule) -> str:
    """Return the name that the log shows for `rule`: the first line of its docstring, or its name."""
    words = (rule.__doc__ or "").strip().split("\n")[0].removeprefix("Rule:").strip(" .")
    return words or getattr(rule, "__name__", "rule").strip("_")


_WITHOUT_EXPRESSIONS: Final = (*LEAVES, PrimFunc)
"""Nodes in which no compound expression of Relax, no binding and no block stands."""


def rewrite(root: N, *rules: Rule, log: RewriteLog, kinds: tuple[type[Node], ...] = ()) -> N:
    """Return `root` with `rules` applied bottom-up to every node, each node once however often it occurs.

    A rule sees a node whose children are rewritten already, and returns the node that takes its place, a tuple of
    nodes to splice into the parent's tuple field, or `None`. The rules are tried in order on the result of the one
    before. Unchanged parts stay the same objects. No recursion: depth is not limited.

    Rules that change nodes of a few classes only, all of them compound expressions, bindings or blocks of Relax, are
    tried sooner if `kinds` names these: no other node is handed to them, and leaves and prim funcs are not entered.
    """
    memo: dict[Node, Rewritten] = {}
    changed = memo.__getitem__
    tried, closed = (kinds, _WITHOUT_EXPRESSIONS) if kinds else (Node, ())
    # `None` says that what is under it on the stack has had its children.
    stack: list[Node | None] = [root]
    while stack:
        current = stack.pop()
        if current is None:
            current = cast("Node", stack.pop())
            rebuilt = map_children(current, changed)
            log.rebuilt(current, rebuilt)
        elif current in memo:
            continue
        elif not isinstance(current, closed) and (parts := current.PARTS(current)):
            stack += (current, None)
            stack += parts[::-1]
            continue
        else:
            rebuilt = current
        memo[current] = _apply(rebuilt, rules, log, root) if isinstance(rebuilt, tried) else rebuilt
    result = memo[root]
    assert isinstance(result, Node), "the root cannot become several nodes"
    return cast("N", result)


def _apply(rebuilt: Node, rules: tuple[Rule, ...], log: RewriteLog, root: Node) -> Rewritten:
    result: Rewritten = rebuilt
    for rule in rules:
        if isinstance(result, tuple):
            break
        after = rule(result)
        if after is not None and after is not result:
            result = log.apply(result, after, rule_name(rule), root=root)
    return result
