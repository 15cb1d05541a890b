"""What is looked for in a run: a place, an iteration, a condition, a NaN, the write of a cell."""

from dataclasses import dataclass
from typing import Final

from relax_core.inside import control
from relax_core.inside.conditions import Translator
from relax_core.inside.instrument import TRUE, Probe, every, word
from relax_core.inside.owners import Owners
from relax_core.inside.sites import Layout, Site
from relax_core.ir.prim import IntImm, Intrinsic, PrimExpr, binary, dtype_of, lanes_of
from relax_core.ir.tir import BufferStore

NAN: Final = "nan"
CELL: Final = "cell"
CONDITION: Final = "if "
"""The keys of probes; that of a condition goes on with its text."""


@dataclass(frozen=True, slots=True)
class Query:
    """Statements that are looked for: those from number `first` to before `end` where loops have the `wanted` values.

    With `is_negated` it is any other statement. `key` names the probe that tells more of them, `words` its parameters.
    """

    first: int = 0
    end: int = control.NEVER
    wanted: tuple[tuple[int, int], ...] = ()
    is_negated: bool = False
    key: str = ""
    words: tuple[int, ...] = ()


ANYWHERE: Final = Query()


def condition_query(text: str) -> Query:
    """Return what looks for a statement before which a condition holds."""
    return Query(key=f"{CONDITION}{text}")


def cell_query(layout: Layout, name: str, indices: tuple[int, ...]) -> Query:
    """Return what looks for a store to one element of a buffer with memory of its own."""
    names = [buffer.name for buffer in layout.buffers]
    return Query(key=CELL, words=(names.index(name), *indices))


def probe_of(query: Query, layout: Layout) -> Probe:
    """Return the probe that a query names.

    Raises:
        CompileError: VM030, VM031, a condition that says nothing here.
    """
    if query.key.startswith(CONDITION):
        return Translator(layout, query.key.removeprefix(CONDITION)).probe
    if query.key == CELL:
        return _CellProbe(layout).probe
    return _makes_nan if query.key == NAN else _anywhere


def _anywhere(_: Site) -> PrimExpr:
    return TRUE


def _makes_nan(site: Site) -> PrimExpr | None:
    match site.node:
        case BufferStore(value=value) if "float" in dtype_of(value) and lanes_of(dtype_of(value)) == 1:
            return Intrinsic("isnan", (value,), "bool")
        case _:
            return None


class _CellProbe:
    """Compares the cell that a store writes with the one that is looked for."""

    def __init__(self, layout: Layout) -> None:
        self._owners = Owners(layout.function)
        self._number_of = {buffer: number for number, buffer in enumerate(layout.buffers)}

    def probe(self, site: Site) -> PrimExpr | None:
        if not isinstance(site.node, BufferStore):
            return None
        place = self._owners.place(site.node.buffer, site.node.indices)
        if place is None or any(lanes_of(dtype_of(item)) > 1 for item in place[1]):
            return None
        buffer, indices = place
        cell = [binary("==", word(control.QUERY + 1 + axis), index) for axis, index in enumerate(indices)]
        return every([binary("==", word(control.QUERY), IntImm(self._number_of[buffer])), *cell])
