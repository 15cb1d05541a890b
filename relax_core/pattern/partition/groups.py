"""Groups: the disjoint matches of a pattern that can be outlined, each with its inputs and members."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain
from typing import Literal, cast

from relax_core.analysis.regions import open_values
from relax_core.ir.expr import Call, Constant, DataflowVar, Expr, Function, GlobalVar, If, Op, Tuple, TupleGetItem, Var
from relax_core.ir.node import Node, postorder
from relax_core.ir.relay import Let, PatternVar
from relax_core.ir.slots import set_by_slots
from relax_core.ir.values import value_parts
from relax_core.pattern.language.nodes import (
    AltPattern,
    AndPattern,
    AttrPattern,
    CallPattern,
    ConstantPattern,
    DataflowVarPattern,
    DataTypePattern,
    DominatorPattern,
    ExprPattern,
    ExternFuncPattern,
    GlobalVarPattern,
    NotPattern,
    Pattern,
    PrimArrPattern,
    ScalarPattern,
    ShapePattern,
    SubtypePattern,
    TuplePattern,
    TypePattern,
    VarPattern,
    WildcardPattern,
    subpatterns,
)
from relax_core.pattern.matching.binders import bound_by, bound_inside
from relax_core.pattern.matching.facts import MatchContext, operator_name
from relax_core.pattern.matching.matcher import Match, match
from relax_core.pattern.matching.variants import root_operators
from relax_core.pattern.matching.work import Work
from relax_core.pattern.partition.cuts import Cuts, is_unit

Check = Callable[[Match], bool]
Obstacle = Literal["overlap", "inner use", "predicate", "nothing inside", "capture", "branch", "effect"]
Order = dict[Expr, tuple[Node, ...]]
"""The expressions of a function except operators, operands first, each with its value operands."""


@set_by_slots
@dataclass(frozen=True, slots=True, eq=False)
class Group:
    """A match that can be outlined: `args` are its inputs, `members` what is replaced, the root included.

    `number` counts from the function's result backwards. A match that constrains its root only from outside, such as
    one of `is_var()` or `wildcard().has_dtype("float32")`, has neither `args` nor `members`.
    """

    number: int
    match: Match
    args: tuple[Expr, ...]
    members: tuple[Expr, ...]

    @property
    def root(self) -> Expr:
        """The node whose value the group computes."""
        return self.match.root

    @property
    def name(self) -> str:
        """The operators of the group in order, each with `_` behind: "nn.conv2d_nn.relu_"."""
        return "".join(map(_label, self.members))


@dataclass(frozen=True, slots=True, eq=False)
class Refusal:
    """A match that cannot be outlined: `node` is where the obstacle shows, `because` the nodes behind it."""

    match: Match
    obstacle: Obstacle
    node: Expr
    because: tuple[Node, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Grouping:
    """The groups of a function, last in the text first, and the matches that were refused."""

    groups: tuple[Group, ...]
    refusals: tuple[Refusal, ...]


def accept(_: Match) -> bool:
    """Accept every match."""
    return True


def group(
    pattern: Pattern, root: Expr, facts: MatchContext, check: Check = accept, *, into_functions: bool = False
) -> Grouping:
    """Group the matches of `pattern` below `root`, from the result backwards; they do not overlap.

    A match is refused if it shares a node with a group, if a node inside it is used outside, or if `check` says so.
    A use outside is none if all of it flows back into the match: then what is used is computed twice.

    With `into_functions` each group is to become a function that is called in its place. Then `root` and composite and
    external functions are units that are neither matched nor looked into. A match is refused, too, if nothing in it is
    computed, which is so of a function literal that is not called, or if the call would not give the same value
    (`relax_core/pattern/partition/cuts.py`).

    Complexity: linear in the nodes, times the size of the pattern.

    Raises:
        CompileError: PT006 or PT007, as `match` does.
    """
    nodes = open_values(root).items() if into_functions else ((node, value_parts(node)) for node in postorder(root))
    order: Order = {node: parts for node, parts in nodes if isinstance(node, Expr) and type(node) is not Op}
    seeker = _Seeker(pattern, _Uses(order), check, Cuts(root, order) if into_functions else None)
    work = Work()
    for node in _candidates(order, root_operators(pattern), facts):
        if node in seeker.taken or node in facts.value_of or (into_functions and is_unit(node, root)):
            continue
        found = match(pattern, node, facts, work)
        if found is not None:
            seeker.add(found)
    return Grouping(tuple(seeker.groups), tuple(seeker.refusals))


class _Seeker:
    """Turns the matches of a pattern in a function into groups and refusals; `taken` are the members so far."""

    def __init__(self, pattern: Pattern, uses: "_Uses", check: Check, cuts: Cuts | None) -> None:
        self.groups: list[Group] = []
        self.refusals: list[Refusal] = []
        self.taken: set[Node] = set()
        self._leaves = tuple(filter(_takes_inputs, subpatterns(pattern)))
        self._fixed = tuple(filter(_is_taken_in, subpatterns(pattern)))
        self._uses = uses
        self._check = check
        self._cuts = cuts

    def add(self, found: Match) -> None:
        """Make a group of a match, or refuse it."""
        extent = _extent(found)
        refusal = _refusal(found, extent, self.taken, self._uses)
        if refusal is None and self._cuts is not None and (not extent.parts_of or isinstance(found.root, Function)):
            refusal = Refusal(found, "nothing inside", found.root)
        if refusal is None and not self._check(found):
            refusal = Refusal(found, "predicate", found.root)
        args = _inputs(found, self._leaves, self._fixed, extent) if refusal is None and extent.parts_of else ()
        if refusal is None and self._cuts is not None:
            obstacle = self._cuts.obstacle(extent.parts_of, args, lambda node: bool(self._uses.outside(node, extent)))
            refusal = None if obstacle is None else Refusal(found, *obstacle)
        if refusal is not None:
            self.refusals.append(refusal)
            return
        self.groups.append(Group(len(self.groups), found, args, extent.members))
        self.taken.update(extent.parts_of)


def _candidates(order: Order, roots: frozenset[str] | None, facts: MatchContext) -> Iterator[Expr]:
    """Yield, from the result backwards, the nodes that a pattern with root operators `roots` can match.

    A node that is no call of an operator qualifies only if it may stand for such a call.
    """
    for node in reversed(order):
        name = operator_name(node.op) if roots is not None and isinstance(node, Call) else None
        if roots is None or (facts.looks_through if name is None else name in roots):
            yield node


class _Uses:
    """Use counts and users of a function's nodes, each computed when first asked for."""

    def __init__(self, order: Order) -> None:
        self._order = order
        self._counts: Counter[Node] | None = None
        self._users: dict[Node, list[Expr]] | None = None

    def outside(self, node: Expr, extent: "_Extent") -> tuple[Expr, ...]:
        """Return the users of a member that are not members."""
        if self._counts is None:
            self._counts = Counter(chain.from_iterable(self._order.values()))
        if self._counts[node] == extent.use_count(node):
            return ()
        return tuple(user for user in self._of(node) if user not in extent.parts_of)

    def lead_to(self, root: Expr, users: tuple[Expr, ...]) -> bool:
        """Tell whether everything that depends on `users` flows into `root`, and nothing past it."""
        seen: set[Node] = {root}
        stack = list(users)
        while stack:
            node = stack.pop()
            if node not in seen:
                seen.add(node)
                behind = self._of(node)
                if not behind:
                    return False
                stack += behind
        return True

    def _of(self, node: Node) -> list[Expr]:
        if self._users is None:
            self._users = _users(self._order)
        return self._users.get(node, [])


def _users(order: Order) -> dict[Node, list[Expr]]:
    users: dict[Node, list[Expr]] = {}
    for node, parts in order.items():
        for part in dict.fromkeys(parts):
            users.setdefault(part, []).append(node)
    return users


_PLACES = frozenset(
    (
        WildcardPattern,
        VarPattern,
        DataflowVarPattern,
        GlobalVarPattern,
        ExternFuncPattern,
        PrimArrPattern,
        ConstantPattern,
        ScalarPattern,
        ExprPattern,
        NotPattern,
    )
)
_NAMED = frozenset((Op, Function))
_SHARED = frozenset((Function, Constant, GlobalVar, Var, DataflowVar))
_HELD = (Constant, GlobalVar)
_REPEATABLE = (Tuple, TupleGetItem, Constant)
_FIXED = frozenset((ConstantPattern, ScalarPattern, ExprPattern))
_FEW = 64
"""Up to so many parts a linear scan counts occurrences."""
_BINDERS = frozenset((Function, Let, PatternVar))
_CONSTRAINTS = (
    AltPattern,
    AndPattern,
    AttrPattern,
    TypePattern,
    SubtypePattern,
    DataTypePattern,
    ShapePattern,
    DominatorPattern,
)
_OUTSIDE = frozenset((*_PLACES, *_CONSTRAINTS))


@dataclass(slots=True, eq=False)
class _Extent:
    """The nodes that a match covers, operands first, each with its value operands."""

    parts_of: Mapping[Node, tuple[Node, ...]]
    parts: tuple[Node, ...]
    _counts: dict[Node, int] = field(default_factory=dict[Node, int])

    @property
    def members(self) -> tuple[Expr, ...]:
        """The nodes themselves."""
        return cast("tuple[Expr, ...]", tuple(self.parts_of))

    def use_count(self, node: Node) -> int:
        """Return how often `node` is among the parts."""
        if len(self.parts) < _FEW:
            return self.parts.count(node)
        if not self._counts:
            self._counts.update(Counter(self.parts))
        return self._counts[node]


def _extent(found: Match) -> _Extent:
    """Return what a match covers: what some part of the pattern describes from inside."""
    described: set[Node] = {node for part, node in found.node_of.items() if type(part) not in _OUTSIDE}
    described.update(found.path_nodes)
    if not _BINDERS.isdisjoint(map(type, described)):
        described |= bound_inside(described)
    parts_of = _within(found.root, described)
    return _Extent(parts_of, tuple(chain.from_iterable(parts_of.values())))


def _within(root: Expr, inside: set[Node]) -> Mapping[Node, tuple[Node, ...]]:
    """Return the nodes of `inside` reachable from `root` within it, operands first, with their operands."""
    found: dict[Node, tuple[Node, ...]] = {}
    waiting: list[tuple[Node, tuple[Node, ...]]] = []
    # `None` says that the last of `waiting` has had its parts.
    stack: list[Node | None] = [root] if root in inside else []
    while stack:
        node = stack.pop()
        if node is None:
            member, parts = waiting.pop()
            found[member] = parts
        elif node not in found:
            parts = value_parts(node)
            waiting.append((node, parts))
            stack.append(None)
            stack += [part for part in parts[::-1] if part in inside]
    return found


def _takes_inputs(part: Pattern) -> bool:
    """Tell whether `part` takes inputs: what it matched, or the operands of that, flow into the match."""
    match part:
        case WildcardPattern() | VarPattern() | DataflowVarPattern() | NotPattern():
            return True
        case CallPattern(args=None) | CallPattern(takes_more=True) | TuplePattern(fields=None):
            return True
        case _:
            return False


def _is_taken_in(part: Pattern) -> bool:
    """Tell whether what `part` matches, a literal or a global, is part of the group and not an input."""
    return isinstance(part, ConstantPattern | ScalarPattern | GlobalVarPattern) or (
        isinstance(part, ExprPattern) and isinstance(part.expr, _HELD)
    )


def _inputs(found: Match, leaves: tuple[Pattern, ...], fixed: tuple[Pattern, ...], extent: _Extent) -> tuple[Expr, ...]:
    """Return the inputs of a match, once each: what its leaves matched, in the pattern's order, then the rest.

    `leaves` are the sub-patterns that take inputs, `fixed` those whose matches are part of the group.
    """
    node_of, inside = found.node_of, extent.parts_of
    kept: set[Node] = {node_of[part] for part in fixed if part in node_of}
    if not _BINDERS.isdisjoint(map(type, inside)):
        kept.update(chain.from_iterable(bound_by(member) for member in inside if type(member) in _BINDERS))
    given: list[Node] = []
    for part in leaves:
        node = node_of.get(part)
        if node is not None and type(part) in _PLACES:
            given.append(node)
        elif isinstance(node, Call):
            given += node.args
        elif isinstance(node, Tuple):
            given += node.fields
    inputs = dict.fromkeys((*given, *extent.parts))
    return tuple([
        node for node in inputs
        if node not in inside and node not in kept and isinstance(node, Expr) and type(node) not in _NAMED
    ])  # fmt: skip


def _refusal(found: Match, extent: _Extent, taken: set[Node], uses: _Uses) -> Refusal | None:
    if not taken.isdisjoint(extent.parts_of):
        return Refusal(found, "overlap", next(node for node in extent.members if node in taken))
    for node in extent.members:
        if node is not found.root and type(node) not in _SHARED:
            outside = uses.outside(node, extent)
            if outside and not (_can_repeat(extent) and uses.lead_to(found.root, outside)):
                return Refusal(found, "inner use", node, outside)
    return None


def _can_repeat(extent: _Extent) -> bool:
    """Tell whether a match may be duplicated: it covers only operators, tuples and projections."""
    return all(
        isinstance(member.op, Op) if isinstance(member, Call) else isinstance(member, _REPEATABLE)
        for member in extent.members
    )


def _label(node: Expr) -> str:
    match node:
        case Call(op=Op(name=name)):
            return f"{name}_"
        case TupleGetItem(index=index):
            return f"TupleGetItem{index}_"
        case Function():
            return "Function"
        case Call() | Tuple() | Let() | If():
            return f"{type(node).__name__}_"
        case _:
            return ""
