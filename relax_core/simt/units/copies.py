"""Asynchronous copies: what a thread copies is there when it waits for it, and for the others behind a barrier.

Copies since the last commit are a group; a wait lets all but the newest groups of the thread arrive. Until then the
elements that they go to are on the way: who reads or writes them before is told, and who writes what they come from.
"""

from dataclasses import replace
from typing import Final

import numpy as np

from relax_core.ir.node import Node
from relax_core.ir.prim import Intrinsic, PrimExpr, dtype_of
from relax_core.ir.tir import Evaluate
from relax_core.ops.kernels.numbers import numpy_type, select
from relax_core.simt.expressions import Expressions
from relax_core.simt.lanes import Mask
from relax_core.simt.state import OPEN_GROUP, Flight, unsupported
from relax_core.simt.units.pointers import Pointers
from relax_core.simt.values import data_of

COPIES: Final = ("s_tir.cp_async_raw", "s_tir.cp_async_raw.legacy", "ptx_cp_async", "ptx_legacy.cp_async")
COMMITS: Final = ("ptx.cp.async_.commit_group", "ptx_commit_group")
WAITS: Final = ("ptx.cp.async_.wait_group", "ptx_wait_group")


class Copies:
    """Runs asynchronous copies of the lanes of a state."""

    def __init__(self, expressions: Expressions, pointers: Pointers) -> None:
        self._expressions = expressions
        self._pointers = pointers

    def run(self, node: Evaluate, call: Intrinsic, mask: Mask) -> None:
        """Run a call of `COPIES`, `COMMITS` or `WAITS`.

        Raises:
            RunError: GP010 for memory or a way that is not simulated.
        """
        match call.name, call.args:
            case name, (_, to, i_to, source, i_from, count, *rest) if name in COPIES:
                self._begin(node, (to, i_to, source, i_from, count), rest, mask)
            case name, _ if name in COMMITS:
                self._need_all(node, mask)
                self._commit()
            case name, (left,) if name in WAITS:
                self._need_all(node, mask)
                self._arrive(int(data_of(self._expressions.evaluate(left, mask))))
            case _:
                unsupported(node)

    def _need_all(self, node: Node, mask: Mask) -> None:
        # Groups are counted for each thread: where only some count on, they have different ones.
        if not self._expressions.state.lanes.full(mask).all():
            unsupported(node, "a group of asynchronous copies of some threads of a block alone")

    def _begin(self, node: Evaluate, args: tuple[PrimExpr, ...], rest: list[PrimExpr], mask: Mask) -> None:
        evaluate, accesses = self._expressions.evaluate, self._expressions.accesses
        to, i_to, source, i_from, count = args
        target, first = self._pointers.row(to, mask)
        origin, begin = self._pointers.row(source, mask)
        size_bytes = int(data_of(evaluate(count, mask)))
        each = numpy_type(origin.dtype).itemsize
        if target.dtype != origin.dtype or size_bytes % each:
            unsupported(node, f"an asynchronous copy of {size_bytes} bytes from {origin.dtype} to {target.dtype}")
        first, begin = (at + data_of(evaluate(index, mask)) for at, index in ((first, i_to), (begin, i_from)))
        taken, chosen = mask, None
        if rest and dtype_of(rest[0]) in ("bool", "int32"):
            chosen = np.asarray(data_of(evaluate(rest[0], mask))).astype(np.bool_)
            taken = self._expressions.narrowed(mask, chosen)[0]
        sources = tuple(begin + at for at in range(size_bytes // each))
        values = [accesses.load(origin, (place,), node, taken) for place in sources]
        if chosen is not None:
            # Lanes whose condition does not hold fill up with zeros.
            zero = numpy_type(origin.dtype).type(0)
            values = [select(chosen, data_of(item), zero) for item in values]
        places = tuple(first + at for at in range(len(values)))
        state = self._expressions.state
        state.flights.append(Flight(node, target, places, tuple(values), mask, origin, sources, taken, OPEN_GROUP))
        for source, place in zip(sources, places, strict=True):
            accesses.take(origin, source, node, taken, is_on_the_way=True)
            accesses.send(target, place, node, mask, is_on_the_way=True)

    def _commit(self) -> None:
        state = self._expressions.state
        state.flights[:] = [
            replace(item, group=state.group_count) if item.group == OPEN_GROUP else item for item in state.flights
        ]
        state.group_count += 1

    def _arrive(self, left: int) -> None:
        """Let all but the newest `left` groups arrive."""
        state, accesses = self._expressions.state, self._expressions.accesses
        here = [item for item in state.flights if OPEN_GROUP < item.group < state.group_count - left]
        state.flights[:] = [item for item in state.flights if item not in here]
        for flight in here:
            for source in flight.sources:
                accesses.take(flight.source, source, flight.node, flight.taken, is_on_the_way=False)
            for place, value in zip(flight.places, flight.values, strict=True):
                accesses.send(flight.buffer, place, flight.node, flight.mask, is_on_the_way=False)
                accesses.store(flight.buffer, (place,), value, flight.node, flight.mask)
