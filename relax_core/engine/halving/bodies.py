"""What a pass changed in the body of a Relax function, binding by binding, and bodies with a part of it.

Variables of the two bodies that are matched take each other's place, so that each change can be made without the
others. What comes of it need not be well-formed.
"""

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from relax_core.analysis.matching.modules import match_outlines
from relax_core.analysis.matching.outlines import outline_of
from relax_core.ir.equality import structural_equal
from relax_core.ir.expr import Binding, BindingBlock, Expr, Function, SeqExpr, Var
from relax_core.ir.module import Definition
from relax_core.ir.prim import PrimExpr, PrimVar
from relax_core.ir.rewriting.substitute import free_symbols, free_vars, substitute


@dataclass(frozen=True, slots=True, eq=False)
class BodyPart:
    """Bindings in a row of the body before, and what is in their place behind the pass; equal ones stand in both."""

    old: tuple[Binding, ...]
    new: tuple[Binding, ...]
    is_changed: bool = True


class ChangedBody:
    """A Relax function before and behind a pass, which has kept its parameters."""

    def __init__(self, before: Definition, after: Definition) -> None:
        assert isinstance(before.function, Function)
        assert isinstance(after.function, Function)
        self._before, self._after = before.function, after.function
        self._was, self._is = _bindings(self._before), _bindings(self._after)
        self._counterpart = _counterparts(before, after, self._was, self._is)
        symbols = {symbol.name: symbol for symbol in free_symbols(self._before)}
        self._symbols: dict[PrimVar, PrimExpr] = {
            symbol: symbols[symbol.name] for symbol in free_symbols(self._after) if symbol.name in symbols
        }
        self._var_of = dict(zip(self._after.params, self._before.params, strict=True))
        self._var_of |= {new.var: old.var for new, old in self._counterpart.items()}
        self.parts = self._aligned()
        """The changes and what stays, in the order of the text; the last one holds what is returned."""
        self.changes = tuple(part for part in self.parts if part.is_changed)

    def with_changes(self, chosen: frozenset[int]) -> Function:
        """Return the function before the pass with some of the changes, by their positions in `changes`."""
        made = frozenset(self.changes[number] for number in chosen)
        bindings = [item for part in self.parts for item in (part.new if part in made else part.old)]
        fresh = {self._canonical(item.var): Var(item.var.name, span=item.var.span) for item in bindings}
        var_of: dict[Var, Expr] = {}
        for var in (*(item.var for item in (*self._was, *self._is)), *self._after.params):
            var_of[var] = fresh.get(self._canonical(var), self._canonical(var))
        returns = _result(self._after if self.parts[-1] in made else self._before)
        body = substitute(SeqExpr((BindingBlock(tuple(bindings)),), returns), var_of, self._symbols)
        is_pure = self._before.is_pure and self._after.is_pure
        return replace(self._before, body=body, attrs=self._after.attrs, is_pure=is_pure)

    def _canonical(self, var: Var) -> Var:
        return self._var_of.get(var, var)

    def _aligned(self) -> tuple[BodyPart, ...]:
        parts: list[BodyPart] = []
        old_at = new_at = 0
        for old_end, new_end in self._anchors():
            gap = self._was[old_at:old_end], self._is[new_at:new_end]
            pair = self._was[old_end], self._is[new_end]
            old_at, new_at = old_end + 1, new_end + 1
            if not self._is_equal(*pair):
                parts.append(BodyPart((*gap[0], pair[0]), (*gap[1], pair[1])))
                continue
            if any(gap):
                parts.append(BodyPart(*gap))
            parts.append(BodyPart(pair[:1], pair[:1], is_changed=False))
        gap = self._was[old_at:], self._is[new_at:]
        returns_same = self._is_equal_value(_result(self._before), _result(self._after))
        parts.append(BodyPart(*gap, is_changed=any(gap) or not returns_same))
        return tuple(parts)

    def _anchors(self) -> Sequence[tuple[int, int]]:
        """Return the positions of matched bindings, as many as are in the same order in both bodies."""
        place = {item: number for number, item in enumerate(self._was)}
        pairs = [(place[self._counterpart[item]], at) for at, item in enumerate(self._is) if item in self._counterpart]
        ends: list[int] = []
        tails: list[int] = []
        before: list[int] = []
        for number, (old, _) in enumerate(pairs):
            length = bisect_left(ends, old)
            before.append(tails[length - 1] if length else -1)
            ends[length : length + 1] = [old]
            tails[length : length + 1] = [number]
        kept: list[tuple[int, int]] = []
        at = tails[-1] if tails else -1
        while at >= 0:
            kept.append(pairs[at])
            at = before[at]
        return kept[::-1]

    def _is_equal(self, old: Binding, new: Binding) -> bool:
        return type(old) is type(new) and self._is_equal_value(old.value, new.value)

    def _is_equal_value(self, old: Expr, new: Expr) -> bool:
        """Tell whether two expressions are equal, whose free variables are the same and not only alike."""
        other = substitute(new, self._var_of, self._symbols)
        used = tuple(dict.fromkeys((*free_vars(old), *free_vars(other))))
        return structural_equal(Function(used, old), Function(used, other))


def can_be_parted(before: Definition, after: Definition) -> bool:
    """Tell whether both are Relax functions in normal form with as many parameters."""
    match before.function, after.function:
        case Function(params=was, body=SeqExpr()), Function(params=params, body=SeqExpr()):
            return len(was) == len(params)
        case _:
            return False


def _bindings(function: Function) -> tuple[Binding, ...]:
    assert isinstance(function.body, SeqExpr)
    return tuple(item for block in function.body.blocks for item in block.bindings)


def _result(function: Function) -> Expr:
    assert isinstance(function.body, SeqExpr)
    return function.body.body


def _counterparts(
    before: Definition, after: Definition, was: tuple[Binding, ...], is_: tuple[Binding, ...]
) -> Mapping[Binding, Binding]:
    """Return the bindings of the body before by those behind that are matched with them, or have their given name."""
    behind = outline_of(after)
    links = match_outlines({before.var.name: outline_of(before)}, {after.var.name: behind})
    free, left = dict.fromkeys(was), dict.fromkeys(is_)
    found: dict[Binding, Binding] = {}
    for part, old in links.counterpart.items():
        match part.node, old.node:
            case Binding() as new, Binding() as known if new in left and known in free:
                if links.of[part][old].confidence != "guess":
                    found[new] = known
                    del left[new], free[known]
            case _:
                pass
    # With another operator on its right, a name that a person gave is still that of the same binding.
    known_as = {item.var.name: item for item in free}
    named = frozenset(part.node for part in behind.parts if part.is_named)
    return found | {item: known_as[item.var.name] for item in left if item in named and item.var.name in known_as}
