"""Groups of bindings of a dataflow block: what depends on what, and what a group gives to the others."""

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from relax_core.ir.expr import Binding, BindingBlock, DataflowVar, MatchCast, Var
from relax_core.ir.node import preorder
from relax_core.ir.prim import PrimVar
from relax_core.ir.rewriting.substitute import free_symbols


@dataclass(frozen=True, slots=True, eq=False)
class BindingUnit:
    """Bindings that are computed together, in the order of their block; most are one binding."""

    bindings: tuple[Binding, ...]


@dataclass(frozen=True, slots=True, eq=False)
class BlockDataflow:
    """What depends on what in a block, its bindings in their order.

    `inputs` are the bindings of the block whose values or dimensions a binding uses, `users` the other way round.
    """

    place_of: Mapping[Binding, int]
    binding_of: Mapping[Var, Binding]
    inputs: Mapping[Binding, tuple[Binding, ...]]
    users: Mapping[Binding, Sequence[Binding]]
    unit_of: Mapping[Binding, BindingUnit]
    """A unit for each binding."""


@lru_cache(maxsize=4)
def dataflow_of(block: BindingBlock) -> BlockDataflow:
    """Return what depends on what in a block, kept for the latest ones: each pattern of a table asks for it."""
    place_of = {item: number for number, item in enumerate(block.bindings)}
    binding_of: Mapping[Var, Binding] = {item.var: item for item in block.bindings}
    definer_of: dict[PrimVar, Binding] = {}
    for item in block.bindings:
        for symbol in free_symbols(item.type) if isinstance(item, MatchCast) else ():
            definer_of.setdefault(symbol, item)

    def inputs_of(binding: Binding) -> Iterable[Binding]:
        used = (item for item in preorder(binding.value) if isinstance(item, Var))
        found = dict.fromkeys(binding_of[item] for item in used if item in binding_of)
        if definer_of:
            definers = (definer_of.get(item, binding) for item in free_symbols(binding.value))
            found.update(dict.fromkeys(item for item in definers if place_of[item] < place_of[binding]))
        return found

    inputs = {item: tuple(inputs_of(item)) for item in block.bindings}
    users: dict[Binding, list[Binding]] = {item: [] for item in block.bindings}
    for item, producers in inputs.items():
        for producer in producers:
            users[producer].append(item)
    return BlockDataflow(place_of, binding_of, inputs, users, {item: BindingUnit((item,)) for item in block.bindings})


class DataflowGroups:
    """The units of a block: at first a binding each, then some of them joined. The rest is as in `BlockDataflow`."""

    def __init__(self, block: BindingBlock) -> None:
        flow = dataflow_of(block)
        self.place_of, self.binding_of = flow.place_of, flow.binding_of
        self.inputs, self.users = flow.inputs, flow.users
        self.unit_of = {**flow.unit_of}

    @property
    def units(self) -> tuple[BindingUnit, ...]:
        """The units in the order of their first bindings."""
        return tuple(dict.fromkeys(self.unit_of.values()))

    def join(self, members: Iterable[Binding]) -> BindingUnit:
        """Make one unit of the units of `members`."""
        whole = {item for member in members for item in self.unit_of[member].bindings}
        unit = BindingUnit(tuple(sorted(whole, key=self.place_of.__getitem__)))
        self.unit_of.update(dict.fromkeys(unit.bindings, unit))
        return unit

    def detour(self, members: Iterable[Binding]) -> tuple[Binding, ...]:
        """Return a way that leaves `members` and comes back to them, `()` if there is none: then they can be joined.

        It leads from a member over other units, a binding each, to a member. No unit may reach behind the last of
        `members`. Complexity: linear in the bindings up to that one, and constant if nothing leaves them before it.
        """
        inside = frozenset(item for member in members for item in self.unit_of[member].bindings)
        last = max(self.place_of[item] for item in inside)
        came_from: dict[BindingUnit, tuple[Binding, Binding]] = {}
        queue: deque[BindingUnit] = deque()

        def reach(producers: Iterable[Binding]) -> Iterator[tuple[Binding, Binding]]:
            for producer in producers:
                for user in self.users[producer]:
                    if self.place_of[user] <= last:
                        yield producer, user

        def visit(producers: Iterable[Binding], *, is_start: bool) -> tuple[Binding, ...]:
            for producer, user in reach(producers):
                if user in inside:
                    if not is_start:
                        return self._way(producer, user, came_from)
                elif self.unit_of[user] not in came_from:
                    came_from[self.unit_of[user]] = (producer, user)
                    queue.append(self.unit_of[user])
            return ()

        found = visit(sorted(inside, key=self.place_of.__getitem__), is_start=True)
        while queue and not found:
            found = visit(queue.popleft().bindings, is_start=False)
        return found

    def _way(
        self, producer: Binding, end: Binding, came_from: Mapping[BindingUnit, tuple[Binding, Binding]]
    ) -> tuple[Binding, ...]:
        """Return the way to `end`; of a unit on it, the binding that it is entered by and that it is left by."""
        way = [end, producer]
        while (step := came_from.get(self.unit_of[way[-1]])) is not None:
            before, entered = step
            way += (before,) if entered is way[-1] else (entered, before)
        return tuple(reversed(way))

    def outputs(self) -> Mapping[BindingUnit, tuple[Var, ...]]:
        """Return for each unit the variables that are used outside of it: what the block gives, then the others.

        The others are in the order in which their uses stand. A unit that nothing uses gives its last variable.
        """
        found: dict[BindingUnit, dict[Var, None]] = {unit: {} for unit in self.units}
        for binding, unit in self.unit_of.items():
            if not isinstance(binding.var, DataflowVar):
                found[unit][binding.var] = None
        for binding, inputs in self.inputs.items():
            for producer in inputs:
                if self.unit_of[producer] is not self.unit_of[binding]:
                    found[self.unit_of[producer]][producer.var] = None
        return {unit: tuple(given) or (unit.bindings[-1].var,) for unit, given in found.items()}

    def order(self) -> tuple[BindingUnit, ...]:
        """Return the units so that each stands behind those that it uses, and otherwise by their first bindings."""
        done: dict[BindingUnit, None] = {}
        entered: set[BindingUnit] = set()
        stack = [(unit, False) for unit in reversed(self.units)]
        while stack:
            unit, is_ready = stack.pop()
            if is_ready:
                done[unit] = None
            elif unit not in entered:
                entered.add(unit)
                stack.append((unit, True))
                inputs = [self.unit_of[item] for member in unit.bindings for item in self.inputs[member]]
                stack += [(item, False) for item in reversed(inputs) if item not in entered]
        return tuple(done)
