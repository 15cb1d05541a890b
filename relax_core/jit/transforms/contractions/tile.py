"""The macro-kernel: the loops around the micro-kernel, where operands are staged and packed, and fuel."""

from collections.abc import Callable
from math import prod

from relax_core.ir.prim import PrimExpr, PrimVar
from relax_core.ir.tir import For
from relax_core.jit.lowering.loops import CHUNK, charge_fuel, least
from relax_core.jit.lowering.state import State
from relax_core.jit.transforms.contractions.copies import Panel, pack, stage
from relax_core.jit.transforms.contractions.kernel import Block, TileContext, emit_tile
from relax_core.jit.transforms.contractions.plan import Tiling, plan_tiling
from relax_core.jit.transforms.contractions.plan_nest import tiled
from relax_core.jit.transforms.contractions.read import read_contraction
from relax_core.jit.transforms.contractions.values import Part, Source
from relax_core.jit.transforms.repeat import begin_of, repeat, repeat_charged
from relax_core.jit.transforms.transform import Plan, Refusal, Transform


class Tiler:
    """Emits the loops of one tiling, outermost first."""

    def __init__(self, state: State, tiling: Tiling) -> None:
        self.state = state
        self.tiling = tiling
        self.index: dict[PrimVar, str] = {}
        self.sources: dict[PrimExpr, Source] = {
            node: Source(operand.storage, operand.offset)
            for node, operand in tiling.contraction.operands.items()
            if operand.guard is None
        }
        self.panels = {node: Panel.made(state, tiling, node) for node in tiling.packed}

    def emit(self) -> None:
        """Emit everything."""
        self._outer(0)

    def _outer(self, position: int) -> None:
        """Emit the loops over the axes outside of all copies, from `position` on."""
        if position == len(self.tiling.outer):
            self._group()
            return
        dim = self.tiling.outer[position]
        inside = self.tiling.contraction.work // prod(done.extent for done in self.tiling.outer[: position + 1])

        def body(number: str) -> None:
            self.index[dim.var] = number
            self._outer(position + 1)
            del self.index[dim.var]

        self._paced(dim.extent, inside, body)

    def _group(self) -> None:
        """Emit everything for given values of the outer axes: copies of guarded operands, then tiles of columns."""
        tiling = self.tiling
        for node in tiling.staged:
            self.sources[node] = stage(self.state, tiling, self.index, node)
        if tiling.packed or tiling.depth == tiling.contraction.reduce[0].extent:
            self._all_columns(tiling.contraction.reduce[0].extent, self._blocks)
        else:
            # What is only streamed is walked in the order in which it lies in memory.
            self._blocks(lambda block: self._all_columns(tiling.depth, lambda columns: columns(block)))

    def _blocks(self, body: Callable[[Block], None]) -> None:
        """Emit the loop over blocks of values of the first reduce axis."""
        tiling, code = self.tiling, self.state.code
        first = tiling.contraction.reduce[0]
        count = -(-first.extent // tiling.depth)

        def block(number: str) -> None:
            start = code.emit(f"mul nuw nsw i64 {number}, {tiling.depth}")
            end = code.emit(f"add nuw nsw i64 {start}, {tiling.depth}")
            if first.extent % tiling.depth:
                end = least(self.state, end, str(first.extent))
            body(Block(start, end, code.emit(f"icmp eq i64 {number}, 0")))

        if count == 1:
            body(Block("0", str(first.extent), "true"))
        elif self.index.get(tiling.columns.var) is None:
            self._paced(count, self._inner_work(tiling.columns.extent, tiling.depth), block)
        else:
            self._paced(count, self._inner_work(tiling.width, tiling.depth), block)

    def _inner_work(self, columns: int, depth: int) -> int:
        """Return how many terms are added for so many columns and values of the first reduce axis."""
        tiling = self.tiling
        return columns * tiling.rows.extent * depth * tiling.depth_factor * prod(dim.extent for dim in tiling.inner)

    def _all_columns(self, depth: int, body: Callable[[Callable[[Block], None]], None]) -> None:
        """Emit the tiles of columns; `body` gets, for each size, the function that emits a block of it."""
        tiling, code = self.tiling, self.state.code
        count, rest = divmod(tiling.columns.extent, tiling.width)

        def at(start: str, shape: tuple[int, int]) -> None:
            self.index[tiling.columns.var] = start
            body(lambda block: self._columns(block, shape))
            del self.index[tiling.columns.var]

        def whole(number: str) -> None:
            start = begin_of(code, number, tiling.width)
            at(start, (tiling.vector_count, tiling.lanes))

        if count:
            self._paced(count, self._inner_work(tiling.width, depth), whole)
        if rest:
            vectors = -(-rest // tiling.lanes)
            at(str(count * tiling.width), (vectors, rest - (vectors - 1) * tiling.lanes))

    def _columns(self, block: Block, shape: tuple[int, int]) -> None:
        """Emit a tile of columns: the copies of its operands, then the inner axes and the rows."""
        tiling = self.tiling
        sources = dict(self.sources)
        for node, panel in self.panels.items():
            part = Part(1, *shape)
            sources[node] = pack(
                TileContext(self.state, tiling, dict(self.index), self.sources, block), part, node, panel
            )
        self._inner(0, block, shape, sources)

    def _inner(self, position: int, block: Block, shape: tuple[int, int], sources: dict[PrimExpr, Source]) -> None:
        tiling = self.tiling
        if position == len(tiling.inner):
            self._rows(block, shape, sources)
            return
        dim = tiling.inner[position]
        inside = self._inner_work(tiling.width, tiling.depth) // prod(
            done.extent for done in tiling.inner[: position + 1]
        )

        def body(number: str) -> None:
            self.index[dim.var] = number
            self._inner(position + 1, block, shape, sources)
            del self.index[dim.var]

        self._paced(dim.extent, inside, body)

    def _rows(self, block: Block, shape: tuple[int, int], sources: dict[PrimExpr, Source]) -> None:
        tiling, code = self.tiling, self.state.code
        count, rest = divmod(tiling.rows.extent, tiling.row_count)
        work = tiling.row_count * tiling.width * tiling.depth * tiling.depth_factor

        def tile(number: str, rows: int) -> None:
            self.index[tiling.rows.var] = number
            if not self.state.position.is_charged:
                charge_fuel(self.state, tiling.contraction.loop, str(self._units(work)))
            emit_tile(TileContext(self.state, tiling, dict(self.index), sources, block), Part(rows, *shape))
            del self.index[tiling.rows.var]

        def body(number: str) -> None:
            start = begin_of(code, number, tiling.row_count)
            tile(start, tiling.row_count)

        if count:
            self._paced(count, work, body)
        if rest:
            tile(str(count * tiling.row_count), rest)

    def _units(self, work: int) -> int:
        """Return the fuel of `work` terms: a vector of them takes less than a nanosecond."""
        return 1 + work // self.tiling.lanes

    def _paced(self, count: int, work: int, body: Callable[[str], None]) -> None:
        """Emit a loop whose iterations add `work` terms; the outermost with short iterations is charged for all."""
        state, units = self.state, self._units(work)
        if state.position.is_charged or units > CHUNK:
            repeat(state, count, body)
            return

        def paid(number: str) -> None:
            state.position.is_charged = True
            body(number)
            state.position.is_charged = False

        repeat_charged(state, self.tiling.contraction.loop, count, units, paid)


def plan_contraction(state: State, loop: For) -> Plan | Refusal | None:
    """Plan the tiles of the contraction that starts at `loop`."""
    read = read_contraction(state, loop)
    if read is None:
        return None
    tiling = read if isinstance(read, str) else plan_tiling(state, read)
    if isinstance(tiling, str):
        return Refusal(tiling)
    if tiling.is_row:
        return None
    statement = tiling.contraction.out.access
    return Plan(_describe(tiling), lambda: Tiler(state, tiling).emit(), lambda: tiled(tiling), statement)


def _describe(tiling: Tiling) -> str:
    size = f"{tiling.row_count} by {tiling.vector_count} x {tiling.lanes}"
    text = f"tiles of {size}, lanes along `{tiling.columns.var.name}`"
    for verb, nodes in (("padded", tiling.staged), ("packed", tiling.packed)):
        buffers = [tiling.contraction.operands[node].access.buffer.name for node in nodes]
        text += "".join(f", `{name}` {verb}" for name in buffers)
    return text


# Why the bits stay: the terms of one element are added in the order of the text. Reduce axes keep their order, blocks
# of the first of them ascend, and between two blocks the sum is in memory, which holds just what a register does:
# dtypes that are rounded when they are stored are refused. Lanes and rows run along spatial axes, over which the
# store is injective, and no operand lies in the memory that is written; so the order of elements does not matter, and
# each starts from its own `init`, or from what its element held. A staged operand is copied with the value that its
# guard gives, from elements inside of the guard only, which are proven in range; a packed one is copied as it is.
# Only in mode "fast" is a product added without being rounded.
TILE = Transform(
    "tile",
    "Sums of products in tiles of registers, for matrix products and convolutions",
    frozenset(("bitwise", "exact", "fast")),
    plan_contraction,
)
