"""Loop collapsing of elementwise nests: adjacent axes with compatible strides in all accesses become one loop."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from relax_core.ir.prim import IntImm, PrimExpr, PrimVar
from relax_core.ir.tir import For, Stmt
from relax_core.jit.lowering.known.work import static_work
from relax_core.jit.lowering.loops import CHUNK
from relax_core.jit.lowering.scalars.vectors import store_value
from relax_core.jit.lowering.state import State
from relax_core.jit.options import Mode
from relax_core.jit.transforms.loop_nest import Axis, Nest
from relax_core.jit.transforms.nest import read_nest
from relax_core.jit.transforms.nest_values import Value, element_at, emit_value, offset_at, value_of
from relax_core.jit.transforms.plan_nest import element, over, parts, put, store
from relax_core.jit.transforms.reductions.reduction import may_stop
from relax_core.jit.transforms.repeat import repeat, repeat_charged
from relax_core.jit.transforms.transform import Plan, Refusal, Transform

MODES: frozenset[Mode] = frozenset(("bitwise", "exact", "fast"))


@dataclass(frozen=True, slots=True)
class Group:
    """Axes that are one loop of `extent` iterations; the last of them steps with it."""

    axes: tuple[Axis, ...]

    @property
    def extent(self) -> int:
        """The number of iterations."""
        return prod(axis.extent for axis in self.axes)

    def places(self, round_number: str) -> dict[PrimVar, str]:
        """Return the place of each axis in an iteration; those before the last are counted by its steps."""
        return {axis.var: round_number if axis is self.axes[-1] else "0" for axis in self.axes}


def plan_collapse(state: State, loop: For) -> Plan | Refusal | None:
    """Plan a nest of at least two loops without reduction."""
    if not isinstance(loop.body, For):
        return None
    nest = read_nest(state, loop)
    if isinstance(nest, str) or nest.reduce or nest.init is not None or nest.work == 0:
        return None
    # What stops the kernel is told with the variables of all loops, which are none of a loop that is joined.
    if may_stop(nest.update.value):
        return None
    value = value_of(nest.update.value)
    groups = tuple(Group((axis,)) for axis in nest.axes) if value.uses_axes else grouped(nest)
    count = len(nest.axes)
    reason = f"{count} loops become {len(groups)}, which pay for their work together"
    return Plan(reason, lambda: _emit(state, nest, value, groups), lambda: (_told(nest, groups),))


def _told(nest: Nest, groups: Sequence[Group]) -> Stmt:
    """Return the loops of the groups; the variables of their axes are quotients and remainders of theirs."""

    def level(depth: int, places: dict[PrimVar, PrimExpr]) -> Stmt:
        if depth == len(groups):
            return store(element(nest, places), put(nest, places, nest.update.value))
        axes = groups[depth].axes
        name, dtype = "_".join(axis.var.name for axis in axes), axes[-1].var.dtype
        return over(name, groups[depth].extent, lambda at: level(depth + 1, places | parts(at, axes)), dtype=dtype)

    return level(0, {axis.var: IntImm(0, axis.var.dtype) for axis in nest.axes})


def grouped(nest: Nest) -> tuple[Group, ...]:
    """Join each axis to the one around it if, in every access, a step of that one is all steps of this one.

    Axes of one iteration are in no group.
    """
    groups: list[Group] = []
    for axis in nest.axes:
        if axis.extent == 1:
            continue
        if groups and all(
            access.offset.of(groups[-1].axes[-1].var) == access.offset.of(axis.var) * axis.extent
            for access in nest.accesses.values()
        ):
            groups[-1] = Group((*groups[-1].axes, axis))
        else:
            groups.append(Group((axis,)))
    return tuple(groups)


def _emit(state: State, nest: Nest, value: Value, groups: Sequence[Group]) -> None:
    loop = nest.axes[0].loop
    cost = max(static_work(state, nest.update) or 1, 1)
    access = nest.accesses[nest.update]

    def level(depth: int, places: dict[PrimVar, str]) -> None:
        if depth == len(groups):
            register = emit_value(state, nest, value, places)
            offset = offset_at(state, access.offset, places)
            store_value(state, nest.update, element_at(state, access.storage, offset), register)
            return
        group = groups[depth]
        work = cost * prod(item.extent for item in groups[depth + 1 :])
        charges = not state.position.is_charged and (work <= CHUNK or depth + 1 == len(groups))

        def body(round_number: str) -> None:
            was_charged, state.position.is_charged = state.position.is_charged, state.position.is_charged or charges
            level(depth + 1, places | group.places(round_number))
            state.position.is_charged = was_charged

        if charges:
            repeat_charged(state, loop, group.extent, work, body)
        else:
            repeat(state, group.extent, body)

    level(0, {axis.var: "0" for axis in nest.axes})


# Why the bits stay: the loops run in the order of the text. Two neighbours are joined only where, in every access, a
# step of the outer one is as far as all steps of the inner one: then the element of iteration `(i, j)` is that of
# iteration `i * extent + j` of one loop. Values that read the variables themselves are left with a loop for each
# axis.
COLLAPSE = Transform("collapse", "Joins loops over elements that lie side by side.", MODES, plan_collapse)
