"""Index-set splitting of loops of any sizes: cut at a computed value, as where an operand of a concatenation ends."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise

from relax_core.ir.integer.bounds import Bounds
from relax_core.ir.integer.polynomial import Polynomial, add, constant, constant_of, split
from relax_core.ir.node import postorder
from relax_core.ir.prim import Binary, IntImm, PrimExpr, Select, binary, dtype_of
from relax_core.ir.tir import Block, BufferStore, For, SeqStmt, Stmt
from relax_core.jit.lowering.state import State
from relax_core.jit.transforms.loops.choices import comparisons, has_chosen_sizes, resolved, stops_or_reads
from relax_core.jit.transforms.loops.split import MODES, MOST_NODES, PIECE_LIMIT
from relax_core.jit.transforms.origins import note_pieces
from relax_core.jit.transforms.transform import Plan, Refusal, Transform

Place = Polynomial[int]


@dataclass(frozen=True, slots=True)
class AnyChoice:
    """Loops around one store, outermost first, whose value chooses."""

    loops: tuple[For, ...]
    block: Block | None
    store: BufferStore


def plan_split_any(state: State, loop: For) -> Plan | Refusal | None:
    """Plan loops, one of which has no constant extent, around a store whose value chooses by the position."""
    choice = _read(state, loop)
    if choice is None:
        return None
    pieces = _AnySplitting(state.bounds, choice).split((), choice.store.value)
    stores = [item for piece in pieces or () for item in postorder(piece) if isinstance(item, BufferStore)]
    if pieces is None or len(stores) > PIECE_LIMIT:
        return Refusal(f"there are more than {PIECE_LIMIT} pieces")
    if len(stores) > 1 and len(stores) * len([*postorder(choice.store)]) > MOST_NODES:
        return Refusal("its value is too large to be written out for each piece")
    if all(item.value is choice.store.value for item in stores):
        return None
    note_pieces(state, pieces, choice.loops, choice.store if choice.block is None else choice.block)
    reason = f"{len(stores)} pieces of any sizes, in each of which the choice is made"
    return Plan(reason, partial(_emit, state, pieces), lambda: pieces)


# Why the bits stay: as of `split`, the pieces of a loop cover its values once each, in ascending order, inside of the
# same outer iteration. That a cut lies between the one before it and the end of the loop is proven from what holds
# around the loop, not in its body, so that it holds for a loop without iterations as well; one that is not proven to
# is left out, and so is one whose value is more than sums and products of sizes, which are the same throughout a call.
# A condition is replaced by its value only where that is proven of the machine's integers for all values of a piece.
SPLIT_ANY = Transform(
    "split_any", "Loops of any sizes are split where a comparison with a size turns", MODES, plan_split_any
)


def _read(state: State, loop: For) -> AnyChoice | None:
    loops = [loop]
    while isinstance(inner := loops[-1].body, For):
        loops.append(inner)
    block = inner if isinstance(inner, Block) else None
    store = inner if block is None else block.body
    if not isinstance(store, BufferStore) or all(state.bounds.constant(item.extent) is not None for item in loops):
        return None
    if not any(isinstance(item, Select) for item in postorder(store.value)) or has_chosen_sizes(store):
        return None
    if any(item.step is not None or item.kind == "thread_binding" for item in loops):
        return None
    if block is not None and (
        block.init is not None
        or block.predicate is not None
        or block.matches
        or block.alloc_buffers
        or any(item.start is not None for item in block.iter_vars)
    ):
        return None
    return AnyChoice(tuple(loops), block, store)


@dataclass(slots=True)
class _AnySplitting:
    """Splits the loops of a choice; `count` is how many pieces there are so far."""

    bounds: Bounds
    choice: AnyChoice
    count: int = 0

    def split(self, outer: tuple[For, ...], value: PrimExpr) -> tuple[Stmt, ...] | None:
        """Return the loops inside of `outer`, each cut where a comparison along it turns, with what is chosen there.

        `None` as soon as they are more than the limit.
        """
        depth = len(outer)
        if depth == len(self.choice.loops):
            self.count += 1
            if self.count > PIECE_LIMIT:
                return None
            block, store = self.choice.block, replace(self.choice.store, value=value)
            return (store if block is None else replace(block, body=store),)
        made: list[Stmt] = []
        for piece in self._pieces(outer, value):
            mark = self._enter((*outer, piece))
            chosen = resolved(value, self._decide)
            self.bounds.leave(mark)
            body = self.split((*outer, piece), chosen)
            if body is None:
                return None
            made.append(replace(piece, body=body[0] if len(body) == 1 else SeqStmt(body)))
        return tuple(made)

    def _enter(self, outer: Sequence[For]) -> int:
        """Declare the variables of all loops, of which the outer ones are pieces, and those of the block."""
        bounds, choice = self.bounds, self.choice
        mark = bounds.mark()
        for item in (*outer, *choice.loops[len(outer) :]):
            bounds.enter_loop(item)
        for item in () if choice.block is None else choice.block.iter_vars:
            bounds.bind_let(item.var, item.binding)
        return mark

    def _pieces(self, outer: tuple[For, ...], value: PrimExpr) -> list[For]:
        """Return the loop inside of `outer` in pieces between the cuts that are proven to lie in it, in their order."""
        bounds, loop = self.bounds, self.choice.loops[len(outer)]
        mark = self._enter(outer)
        found = [*self._turns(loop, value)]
        bounds.leave(mark)
        first = bounds.poly(loop.start)
        places = [first, add(first, bounds.poly(loop.extent))]
        for place in found:
            at = next((at for at, other in enumerate(places) if bounds.is_nonnegative(add(other, place, -1))), 0)
            if at > 0 and place != places[at] and bounds.is_nonnegative(add(place, places[at - 1], -1)):
                places.insert(at, place)
        pieces: list[For] = []
        for low, high in pairwise(places):
            start, extent = (self._written(place, loop) for place in (low, add(high, low, -1)))
            if start is None or extent is None:
                return [loop]
            pieces.append(replace(loop, start=start, extent=extent))
        return pieces if len(pieces) > 1 else [loop]

    def _turns(self, loop: For, value: PrimExpr) -> Iterator[Place]:
        """Yield the values of a loop's variable from which on a comparison has another result."""
        ((variable,),) = self.bounds.poly(loop.var)
        for item in comparisons(value):
            parts = None if (distance := self._distance(item)) is None else split(distance, variable)
            factor = None if parts is None else constant_of(parts[0])
            if parts is None or factor not in (1, -1) or not self._is_fixed(parts[1]):
                continue
            # `factor * v + rest` is 0 at `zero`; from there on, or behind it, it is on the other side of 0.
            zero = add({}, parts[1], -factor)
            behind = add(zero, constant(1))
            if item.op in ("==", "!="):
                yield from (zero, behind)
            else:
                yield zero if (item.op in ("<", ">=")) == (factor == 1) else behind

    def _is_fixed(self, place: Place) -> bool:
        """Tell whether a value is computed from sizes alone."""
        return all(self.bounds.atoms[number].is_symbol for monomial in place for number in monomial)

    def _written(self, place: Place, loop: For) -> PrimExpr | None:
        """Return a value as an expression of the loop's dtype, `None` if it is more than sizes, or may wrap around."""
        dtype = loop.var.dtype
        if not self._is_fixed(place):
            return None
        total: PrimExpr | None = None
        for monomial, coefficient in sorted(place.items(), key=lambda item: (-item[1], item[0])):
            term: PrimExpr = IntImm(abs(coefficient), dtype, span=loop.extent.span)
            for number in monomial:
                factor = self.bounds.atoms[number].expr
                if dtype_of(factor) != dtype:
                    return None
                term = factor if isinstance(term, IntImm) and term.value == 1 else binary("*", term, factor)
            if total is None:
                total = term if coefficient > 0 else binary("-", IntImm(0, dtype), term)
            else:
                total = binary("+" if coefficient > 0 else "-", total, term)
        total = IntImm(0, dtype, span=loop.extent.span) if total is None else total
        return total if self.bounds.poly(total) == place else None

    def _distance(self, comparison: Binary) -> Place | None:
        """Return `a - b` of a comparison of integers that have a sign, which reads no memory and cannot stop."""
        a, b = comparison.a, comparison.b
        if dtype_of(a) != dtype_of(b) or dtype_of(a) not in ("int32", "int64") or stops_or_reads(comparison):
            return None
        return add(self.bounds.poly(a), self.bounds.poly(b), -1)

    def _decide(self, comparison: Binary) -> bool | None:
        """Return the result of a comparison where the bounds stand, if it is proven."""
        distance = self._distance(comparison)
        if distance is None:
            return None

        def is_at_least(least: int, factor: int = 1) -> bool:
            return self.bounds.is_nonnegative(add(constant(-least), distance, factor))

        match comparison.op:
            case "<" | ">=":
                found = True if is_at_least(0) else False if is_at_least(1, -1) else None
                return found if found is None or comparison.op == ">=" else not found
            case ">" | "<=":
                found = True if is_at_least(1) else False if is_at_least(0, -1) else None
                return found if found is None or comparison.op == ">" else not found
            case "==" | "!=":
                is_equal = is_at_least(0) and is_at_least(0, -1)
                found = True if is_equal else False if is_at_least(1) or is_at_least(1, -1) else None
                return found if found is None or comparison.op == "==" else not found
            case _:
                return None


def _emit(state: State, pieces: tuple[Stmt, ...]) -> None:
    """Lower each piece as loops of its own."""
    for piece in pieces:
        state.lower_stmt(piece)
