"""Sums of products whose sizes are not known: the tiles of known sizes, and rows or vectors for what is left."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from relax_core.ir.node import Node, children, postorder
from relax_core.ir.prim import Binary, FloatImm, IntImm, PrimExpr, PrimVar, dtype_of
from relax_core.ir.tir import BufferLoad, BufferStore, For
from relax_core.jit.lowering.loops import charge_fuel, least
from relax_core.jit.lowering.scalars.counts import lower_count
from relax_core.jit.lowering.scalars.scalar import element_pointer, is_safe, lower_expr, number_literal
from relax_core.jit.lowering.scalars.types import ScalarType
from relax_core.jit.lowering.scalars.vectors import comment_store
from relax_core.jit.lowering.state import State
from relax_core.jit.transforms.contractions.any_sizes_nest import told
from relax_core.jit.transforms.contractions.kernel import carried
from relax_core.jit.transforms.contractions.read import Accumulation
from relax_core.jit.transforms.contractions.read_any import any_nest, are_in_range, reduced, why_not_counted
from relax_core.jit.transforms.repeat import begin_of, repeat
from relax_core.jit.transforms.transform import Plan, Refusal, Transform
from relax_core.jit.transforms.vector_code import (
    at_distance,
    can_combine,
    combine,
    load_masked,
    load_vector,
    splat,
    store_masked,
    store_vector,
    vector_type,
)

# As many sums stay in registers as `tile` has.
ROWS_OF_256, ROWS_OF_512 = 4, 8
VECTORS = 2
# So many terms of each sum are added between two payments of fuel.
CHUNK_TERMS = 8192
# A term is written out for each sum of a tile.
LARGEST_TERM = 32
DTYPES = ("float32", "float64", "int32", "int64")


@dataclass(frozen=True, slots=True)
class Product:
    """Loops over `rows`, if there are any, `columns` and `terms`, and the accumulation in them.

    Indices of `found` are variables of the loops, each by itself, or do not depend on them.
    """

    rows: For | None
    columns: For
    terms: For
    found: Accumulation
    init: FloatImm | IntImm | None
    loads: tuple[BufferLoad, ...]
    scalar: ScalarType

    @property
    def loops(self) -> tuple[For, ...]:
        """All loops, outermost first."""
        return (*(() if self.rows is None else (self.rows,)), self.columns, self.terms)


def plan_any_sizes(state: State, loop: For) -> Plan | Refusal | None:
    """Plan the tiles of a sum of products, at least one of whose sizes is not known."""
    product = _read(state, loop)
    if product is None or isinstance(product, str):
        return None if product is None else Refusal(product)
    lanes = state.options.lanes(product.scalar.bits)
    rows = 1 if product.rows is None else ROWS_OF_512 if state.options.vector_bits >= 512 else ROWS_OF_256
    shape = (rows, VECTORS, lanes)
    names = f"lanes along `{product.columns.var.name}`"
    reason = f"tiles of {rows} by {VECTORS} x {lanes}, {names}; a row or a vector at a time of what is left"
    code = ProductCode(state, product, shape)
    return Plan(
        reason,
        code.emit,
        lambda: (told(product.loops[:-1], (product.terms,), product.found.update, product.init, shape),),
        loop,
    )


# Why the bits stay: lanes and rows run along axes that are indices of the output by themselves, so that each element
# is written by one lane; it starts from `init`, or from what it held, and its terms are added in the order of the
# text, with the operands on the same sides. Operands are in other buffers than the output. All accesses are proven in
# range for all values of the loops, and lanes behind the last column are neither loaded nor stored.
TILE_ANY = Transform(
    "tile_any",
    "Sums of products of any sizes in tiles of registers, with run-time bounds",
    frozenset(("bitwise", "exact", "fast")),
    plan_any_sizes,
)


def _read(state: State, loop: For) -> Product | str | None:
    nest = any_nest(loop)
    if nest is None or len(nest.loops) not in (2, 3) or _are_known(state, nest.loops):
        return None
    refused = why_not_counted(state, nest.loops, _is_size, "is computed")
    read = refused or reduced(state, nest)
    if isinstance(read, str):
        return read
    *rows, columns, terms = nest.loops
    loads = tuple(item for item in postorder(read.found.term) if isinstance(item, BufferLoad))
    scalar = state.scalar_of(read.found.update.buffer)
    product = Product(rows[0] if rows else None, columns, terms, read.found, read.init, loads, scalar)
    return _why_not(state, product) or product


def _are_known(state: State, loops: Sequence[For]) -> bool:
    return all(state.bounds.constant(item.extent) is not None for item in loops)


def _is_size(state: State, extent: PrimExpr) -> bool:
    """Tell whether an extent is a number or a symbol that is not negative, so that computing it stops nothing."""
    is_plain = isinstance(extent, PrimVar | IntImm) and dtype_of(extent) in ("int32", "int64")
    return is_plain and state.bounds.interval(extent).low >= 0


def _why_not(state: State, product: Product) -> str:
    """Say what of a sum of products is not taken, or return an empty string."""
    store, term, scalar = product.found.update, product.found.term, product.scalar
    accesses = (store, product.found.own, *product.loads)
    if scalar.name not in DTYPES or any(state.scalar_of(item.buffer) != scalar for item in accesses):
        return "its operands have another dtype than the output, or one that is not taken in vectors"
    if isinstance(product.init, FloatImm) and scalar.kind != "float":
        return "its initial value has another dtype than the output"
    if len([*postorder(term)]) > LARGEST_TERM or not _is_supported(state, product, term):
        return "its term is not computed in vectors"
    storages = [state.environment.storage.get(item.buffer) for item in accesses]
    if any(item is None or item.memory is not None for item in storages) or store.buffer in state.environment.held:
        return "a buffer is a view, or in registers"
    if any(item.buffer is store.buffer for item in product.loads) or store.indices != product.found.own.indices:
        return "it reads another element of the output"
    columns, terms = product.columns.var, product.terms.var
    if any(_place(item, columns) not in (None, len(item.indices) - 1) for item in accesses):
        return "the columns of an operand do not lie side by side"
    outer = [item.var for item in product.loops[:-1]]
    if any(_place(store, var) is None for var in outer) or _place(store, terms) is not None:
        return "the output is not indexed by its rows and columns"
    if not any(_place(item, columns) is None for item in product.loads) or not all(
        _is_plain(state, product, item) for item in accesses
    ):
        return "its indices are no variables of loops"
    return "" if are_in_range(state, product.loops, accesses) else "an index is not proven to be in range"


def _is_supported(state: State, product: Product, term: PrimExpr) -> bool:
    stack: list[Node] = [term]
    while stack:
        node = stack.pop()
        match node:
            case BufferLoad() | FloatImm() | IntImm():
                continue
            case Binary(op=op, a=a, b=b) if can_combine(op, product.scalar) and node.dtype == product.scalar.name:
                if dtype_of(a) != node.dtype or dtype_of(b) != node.dtype:
                    return False
                stack += children(node)
            case _:
                return False
    return True


def _place(access: BufferLoad | BufferStore, var: PrimVar) -> int | None:
    """Return the dimension that a variable is the index of."""
    return next((at for at, index in enumerate(access.indices) if index is var), None)


def _is_plain(state: State, product: Product, access: BufferLoad | BufferStore) -> bool:
    """Tell whether each loop's variable is one index at most, and by itself; others are variables and numbers."""
    variables = [item.var for item in product.loops]
    inside = [index for index in access.indices if index in variables]
    others = [index for index in access.indices if index not in variables]
    is_outside = all(isinstance(index, PrimVar | IntImm) and is_safe(state, index) for index in others)
    return is_outside and len({*inside}) == len(inside)


@dataclass(frozen=True, slots=True)
class Tile:
    """A tile: its first row and column, and how many rows and vectors it has; of one with a `mask` a vector's lanes."""

    row: str
    column: str
    rows: int
    vectors: int
    mask: str = ""


@dataclass(slots=True)
class ProductCode:
    """Writes the code of one product in tiles of a shape: rows, vectors, lanes."""

    state: State
    product: Product
    shape: tuple[int, int, int]
    count: str = "0"

    def emit(self) -> None:
        """Write everything; without terms elements are what they start with."""
        state, code, product = self.state, self.state.code, self.product
        sizes = [lower_count(state, item.extent, lower_expr) for item in product.loops]
        self.count = sizes[-1]
        work, empty, done = code.label("work"), code.label("empty"), code.label("done")
        code.branch(code.emit(f"icmp sgt i64 {self.count}, 0"), work, empty)
        code.start(work)
        mark = state.bounds.mark()
        for item in product.loops:
            state.bounds.enter_loop(item)
        if product.rows is None:
            self._columns("0", 1, sizes[0])
        else:
            self._rows(sizes[0], sizes[1])
        code.jump(done)
        code.start(empty)
        if product.init is not None:
            self._started(product.init, sizes[:-1])
        state.bounds.leave(mark)
        code.goto(done)

    def _started(self, init: FloatImm | IntImm, sizes: Sequence[str]) -> None:
        """Write what elements start with that no term is added to."""
        state, code, scalar = self.state, self.state.code, self.product.scalar

        def element(row: str, column: str) -> None:
            (target,) = self._pointers(row, column, self.product.found.own)
            code.do(f"store {scalar.memory} {number_literal(init, scalar)}, ptr {target}, align {scalar.size_bytes}")

        repeat(
            state,
            "1" if len(sizes) == 1 else sizes[0],
            lambda row: repeat(state, sizes[-1], lambda at: element(row, at)),
        )

    def _rows(self, count: str, columns: str) -> None:
        size = self.shape[0]
        whole = self._divided(count, size)
        repeat(self.state, whole, lambda number: self._columns(begin_of(self.state.code, number, size), size, columns))
        repeat(self.state, count, lambda row: self._columns(row, 1, columns), begin_of(self.state.code, whole, size))

    def _columns(self, row: str, rows: int, count: str) -> None:
        """Write the tiles of some rows: whole ones, and masked vectors for what is left."""
        state, code, (_, vectors, lanes) = self.state, self.state.code, self.shape
        width = vectors * lanes
        whole = self._divided(count, width)

        def tile(number: str) -> None:
            self._tile(Tile(row, begin_of(self.state.code, number, width), rows, vectors))

        repeat(state, whole, tile)
        first = begin_of(self.state.code, whole, width)
        left = code.emit(f"sub nsw i64 {count}, {first}")

        def vector(number: str) -> None:
            done = begin_of(self.state.code, number, lanes)
            numbers = ", ".join(f"i64 {lane}" for lane in range(lanes))
            many = splat(code, "i64", lanes, code.emit(f"sub nsw i64 {left}, {done}"))
            mask = code.emit(f"icmp slt <{lanes} x i64> <{numbers}>, {many}")
            self._tile(Tile(row, code.emit(f"add nuw nsw i64 {first}, {done}"), rows, 1, mask))

        repeat(state, self._divided(code.emit(f"add nsw i64 {left}, {lanes - 1}"), lanes), vector)

    def _tile(self, tile: Tile) -> None:
        """Write the sums of a tile, from their start to their store."""
        state, code, product, lanes = self.state, self.state.code, self.product, self.shape[2]
        store = product.found.update
        target, *pointers = self._pointers(tile.row, tile.column, product.found.own, *product.loads)
        sources = dict(zip(product.loads, pointers, strict=True))
        rows = None if product.rows is None else product.rows.var
        cells = [
            self.moved(target, store, (rows, str(row)), vector * lanes)
            for row in range(tile.rows)
            for vector in range(tile.vectors)
        ]
        vector = vector_type(product.scalar.register, lanes)
        if product.init is None:
            started = [self.load(cell, tile.mask) for cell in cells]
        else:
            started = [self.constant(product.init)] * len(cells)

        def chunk(number: str, sums: Sequence[str]) -> list[str]:
            first = begin_of(self.state.code, number, CHUNK_TERMS)
            end = least(state, code.emit(f"add nuw nsw i64 {first}, {CHUNK_TERMS}"), self.count)
            if not state.position.is_charged:
                terms = code.emit(f"sub nuw nsw i64 {end}, {first}")
                charge_fuel(state, product.terms, code.emit(f"mul nuw nsw i64 {terms}, {tile.rows * tile.vectors}"))
            before = code.set_location(product.found.update)
            comment_store(state, product.found.update)
            made = carried(code, (first, end), vector, sums, lambda at, values: self._added(tile, sources, at, values))
            code.restore_location(before)
            return made

        chunks = self._divided(code.emit(f"add nsw i64 {self.count}, {CHUNK_TERMS - 1}"), CHUNK_TERMS)
        sums = carried(code, ("0", chunks), vector, started, chunk)
        for value, cell in zip(sums, cells, strict=True):
            if tile.mask:
                store_masked(code, value, cell, product.scalar, (lanes, tile.mask))
            else:
                store_vector(code, value, cell, product.scalar, (lanes, lanes))

    def _pointers(self, row: str, column: str, *accesses: BufferLoad) -> list[str]:
        """Write the addresses of elements for the first term of a row and a column."""
        state, product = self.state, self.product
        defined = [(product.columns.var, column), (product.terms.var, "0")]
        if product.rows is not None:
            defined.append((product.rows.var, row))
        for var, register in defined:
            bits = state.scalar_of(var).bits
            state.define(var, register if bits == 64 else state.code.emit(f"trunc i64 {register} to i{bits}"))
        found = [element_pointer(state, item) for item in accesses]
        state.forget(len(defined))
        return found

    def _added(self, tile: Tile, sources: Mapping[BufferLoad, str], at: str, sums: Sequence[str]) -> list[str]:
        """Write one term of each sum."""
        product, lanes = self.product, self.shape[2]
        pointers = {item: self.moved(pointer, item, (product.terms.var, at)) for item, pointer in sources.items()}
        values = _Values(self, tile, pointers)
        found: list[str] = []
        for number, total in enumerate(sums):
            row, vector = divmod(number, tile.vectors)
            value = values.vector(product.found.term, row, vector)
            operands = (value, total) if product.found.is_term_first else (total, value)
            found.append(combine(self.state.code, product.found.op, operands, product.scalar, lanes))
        return found

    def moved(
        self, pointer: str, access: BufferLoad | BufferStore, along: tuple[PrimVar | None, str], lanes: int = 0
    ) -> str:
        """Write the address of an element `along` a loop by some rounds, and so many columns farther."""
        code, memory = self.state.code, self.product.scalar.memory
        var, distance = along
        place = None if var is None else _place(access, var)
        if place is not None and distance != "0":
            stride = self.state.environment.storage[access.buffer].strides[place]
            distance = distance if stride == "1" else code.emit(f"mul nsw i64 {distance}, {stride}")
            pointer = at_distance(code, pointer, memory, distance)
        return at_distance(code, pointer, memory, lanes)

    def everywhere(self, pointer: str) -> str:
        """Write the load of an element that all lanes have."""
        code, scalar = self.state.code, self.product.scalar
        value = code.emit(f"load {scalar.memory}, ptr {pointer}, align {scalar.size_bytes}")
        return splat(code, scalar.register, self.shape[2], value)

    def load(self, pointer: str, mask: str) -> str:
        """Write the load of a vector, of which the lanes of a mask are touched."""
        code, scalar, lanes = self.state.code, self.product.scalar, self.shape[2]
        if mask:
            return load_masked(code, pointer, scalar, lanes, (mask, "zeroinitializer"))
        return load_vector(code, pointer, scalar, (lanes, lanes))

    def constant(self, value: FloatImm | IntImm) -> str:
        """Return a number in all lanes."""
        return splat(
            self.state.code, self.product.scalar.register, self.shape[2], number_literal(value, self.product.scalar)
        )

    def _divided(self, value: str, divisor: int) -> str:
        if not value.startswith("%"):
            return str(int(value) // divisor)
        return self.state.code.emit(f"udiv i64 {value}, {divisor}")


@dataclass(slots=True)
class _Values:
    """Emits each value of one term once, behind `pointers` to the first row and lane of every operand."""

    code: ProductCode
    tile: Tile
    pointers: Mapping[BufferLoad, str]
    _made: dict[tuple[PrimExpr, int, int], str] = field(default_factory=dict[tuple[PrimExpr, int, int], str])

    def vector(self, expr: PrimExpr, row: int, vector: int) -> str:
        """Emit the value of `expr` in all lanes."""
        match expr:
            case BufferLoad():
                return self._loaded(expr, row, vector)
            case Binary(op=op, a=a, b=b):
                operands = self.vector(a, row, vector), self.vector(b, row, vector)
                return combine(self.code.state.code, op, operands, self.code.product.scalar, self.code.shape[2])
            case FloatImm() | IntImm():
                return self.code.constant(expr)
            case _:
                raise AssertionError(f"{type(expr).__name__} is refused where the product is read")

    def _loaded(self, load: BufferLoad, row: int, vector: int) -> str:
        product, lanes = self.code.product, self.code.shape[2]
        rows = None if product.rows is None else product.rows.var
        has_lanes = _place(load, product.columns.var) is not None
        has_rows = rows is not None and _place(load, rows) is not None
        key = (load, row if has_rows else 0, vector if has_lanes else 0)
        if key not in self._made:
            lane = key[2] * lanes
            pointer = self.code.moved(self.pointers[load], load, (rows, str(key[1])), lane)
            self._made[key] = self.code.load(pointer, self.tile.mask) if has_lanes else self.code.everywhere(pointer)
        return self._made[key]
