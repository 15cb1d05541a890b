"""The tiling of a contraction: which axis is vectorised, which is unrolled into rows, what is packed, and all sizes."""

from dataclasses import dataclass, replace
from math import prod

from relax_core.ir.node import Node, children, postorder
from relax_core.ir.prim import Binary, Cast, FloatImm, IntImm, PrimExpr, PrimVar, dtype_of
from relax_core.jit.lowering.state import State
from relax_core.jit.transforms.contractions.contraction import Contraction, Dim, Operand, box_of, box_size, merged
from relax_core.jit.transforms.vector_code import can_combine, can_convert

# As many sums as are added at a time hide how long one addition takes.
LEAST_SUMS = 6
# With 512 bits a multiplication takes its other operand, a scalar, from memory, so that a tile is one vector wide and
# high. Fewer rows do where they lie at least so many bytes apart, a power of two, in the same few quotients of a cache.
ROWS_OF_512 = ((4096, 8), (2048, 12), (1, 16))
USUAL_ROWS = 12
# Where a sum is short, its store takes the time, and is done for more than a line of the cache.
FEW_TERMS = 8
LEAST_TERMS = 3
# Others have half as many registers.
ROWS_OF_256 = 4
# A panel of the operand that all rows share is to stay in the second-level cache.
PANEL_BYTES = 64 << 10
# Threads have at least 8 MiB of stack.
STACK_BYTES = 2 << 20
CACHE_BYTES = 1 << 20
# An operand of more bytes lies on more pages than a processor finds at once.
SPREAD_BYTES = 256 << 10
# Rows of memory that are a multiple of this apart share the same few quotients of a cache.
ALIASING_BYTES = 2048
# How many tiles have to read a panel for its copy to be worth it.
LEAST_REUSE = 6
# A tile adds no more vectors of terms between two payments of fuel, so that a kernel is stopped within milliseconds.
LONGEST_SUMS = 1 << 20
# One value of the first reduce axis is never cut, and may not take longer than this either.
LONGEST_VALUE = 1 << 23
# A term is written out for each sum of a tile.
LARGEST_TERM = 256
# Rows of the streamed operand that are walked at once where nothing is used again.
STREAMS = 8


@dataclass(frozen=True, slots=True)
class Tiling:
    """A contraction as loops around tiles of `row_count` rows by `vector_count` vectors of `lanes` lanes.

    Loops are, from the outside: `outer`, blocks of `depth` values of the first reduce axis, tiles of the axis
    `columns`, `inner`, tiles of the axis `rows`. `staged` operands are copied, with what their guards say, inside of
    `outer`; `packed` ones for a block and a tile of columns.
    """

    contraction: Contraction
    columns: Dim
    rows: Dim
    outer: tuple[Dim, ...]
    inner: tuple[Dim, ...]
    lanes: int
    row_count: int
    vector_count: int
    depth: int
    staged: tuple[PrimExpr, ...]
    packed: tuple[PrimExpr, ...]

    @property
    def width(self) -> int:
        """How many columns a tile has."""
        return self.lanes * self.vector_count

    @property
    def is_row(self) -> bool:
        """Tell whether nothing is used again, so that rows are better reduced side by side in lanes without a copy."""
        is_single = self.rows.extent == 1 == len(self.contraction.reduce) and not self.inner
        return is_single and bool(self.packed) and not self.staged

    @property
    def is_streamed(self) -> bool:
        """Tell whether nothing is used again that does not stay in registers, and memory is what takes the time."""
        contraction = self.contraction
        size = self.columns.extent * self.depth_factor * contraction.out.storage.scalar.size_bytes
        is_once = self.rows.extent <= self.row_count and not self.inner and not self.staged
        return is_once and size * contraction.reduce[0].extent > CACHE_BYTES

    @property
    def panel_size(self) -> int:
        """How many elements the copy of an operand has for a tile of columns."""
        return self.width * self.depth * self.depth_factor

    @property
    def stack_bytes(self) -> int:
        """How much of the stack the copies take."""
        operands = self.contraction.operands
        boxes = {node: box_of(self.contraction, operands[node], self.outer) for node in self.staged}
        sizes = [(node, box_size(box, self.lanes)) for node, box in boxes.items()]
        sizes += [(node, self.panel_size) for node in self.packed]
        return sum(size * operands[node].storage.scalar.size_bytes for node, size in sizes)

    @property
    def depth_factor(self) -> int:
        """How many terms one value of the first reduce axis stands for."""
        return prod(dim.extent for dim in self.contraction.reduce[1:])


def plan_tiling(state: State, read: Contraction) -> Tiling | str:
    """Choose axes and sizes, or say why there are no tiles."""
    if len([*postorder(read.term)]) > LARGEST_TERM:
        return "its term is too large to be written out for each sum of a tile"
    refused = _unsupported(state, read)
    if refused:
        return refused
    contraction = merged(read)
    if prod(dim.extent for dim in contraction.reduce) < LEAST_TERMS:
        return "sums of so few terms are done in the order of the text"
    columns = next((dim for dim in contraction.spatial if contraction.out.stride(dim) == 1), None)
    if columns is None:
        return "the output has no axis whose elements lie beside each other"
    shared = [
        node for node, item in contraction.operands.items() if item.stride(columns) and node is not contraction.init
    ]
    rows = _rows(contraction, columns, shared)
    lanes = min(state.options.lanes(contraction.out.storage.scalar.bits), _power_above(columns.extent))
    row_count, vector_count = _shape(state, contraction, rows, columns, lanes)
    others = tuple(dim for dim in contraction.spatial if dim not in (columns, rows))
    tiling = Tiling(
        contraction, columns, rows, others, (), lanes, row_count, vector_count, contraction.reduce[0].extent, (), ()
    )
    if row_count * vector_count * tiling.depth_factor > LONGEST_VALUE:
        return "the sums inside of its first reduction are so long that a tile could not be stopped"
    made = _with_copies(tiling)
    if state.emitted.stack_bytes + made.stack_bytes > STACK_BYTES:
        return "copies of its operands are too large for the stack"
    return made


def _rows(contraction: Contraction, columns: Dim, shared: list[PrimExpr]) -> Dim:
    """Return the axis whose values use the same columns of as many operands as there are, the longest of these."""

    def benefit(dim: Dim) -> tuple[int, int, int]:
        same = sum(not contraction.operands[node].stride(dim) for node in shared)
        alone = sum(not item.stride(dim) for item in contraction.operands.values())
        return same, alone, min(dim.extent, 64)

    # What is copied for a tile of columns is the same for all rows; every other element is loaded as it is needed.
    copied = [node for node in shared if contraction.operands[node].stride(columns) not in (1, 2)]
    others = [
        dim
        for dim in contraction.spatial
        if dim is not columns and not any(contraction.operands[node].stride(dim) for node in copied)
    ]
    return max(others, key=benefit, default=Dim(PrimVar("row", "int64"), 1))


def _shape(state: State, contraction: Contraction, rows: Dim, columns: Dim, lanes: int) -> tuple[int, int]:
    """Return how many rows and vectors a tile has; all tiles are about as large."""
    vectors = -(-columns.extent // lanes)
    if prod(dim.extent for dim in contraction.reduce) <= FEW_TERMS:
        return min(rows.extent, 2), min(vectors, 4)
    if state.options.vector_bits < 512:
        limit = ROWS_OF_256
    else:
        strides = [item.stride(rows) * item.storage.scalar.size_bytes for item in contraction.operands.values()]
        apart = [item & -item for item in strides if item]
        limit = next(rows for least, rows in ROWS_OF_512 if max(apart, default=1) >= least)
    highest = min(limit, USUAL_ROWS)
    # Without rows that are left over there is one tile less to compile.
    whole = [count for count in range(limit, highest - highest // 4, -1) if rows.extent % count == 0]
    row_count = whole[0] if whole else -(-rows.extent // -(-rows.extent // highest))
    return row_count, min(vectors, -(-LEAST_SUMS // row_count), 4)


def _power_above(extent: int) -> int:
    return 1 << max(extent - 1, 1).bit_length()


def _with_copies(tiling: Tiling) -> Tiling:
    """Decide which operands are copied, and how many values of the first reduce axis a block has."""
    contraction = tiling.contraction
    operands = contraction.operands
    staged = tuple(node for node, item in operands.items() if item.guard is not None)
    fixed = [dim for dim in tiling.outer if any(_depends(operands[node], dim) for node in staged)]
    packed = tuple(node for node, item in operands.items() if _is_packed(tiling, item, fixed))
    kept = {*staged, *packed}
    outer = tuple(dim for dim in tiling.outer if not kept or any(_depends(operands[node], dim) for node in kept))
    inner = tuple(dim for dim in tiling.outer if dim not in outer)
    made = replace(tiling, outer=outer, inner=inner, staged=staged, packed=packed)
    if packed and made.is_streamed:
        # Each lane reads a stretch of memory of its own, and caches follow only so many.
        made = replace(made, vector_count=1)
    return replace(made, depth=_depth(made))


def _depends(operand: Operand, dim: Dim) -> bool:
    forms = (operand.offset,) if operand.guard is None else [quotient.dividend for quotient in operand.guard.quotients]
    return any(form.of(dim.var) for form in forms)


def _is_packed(tiling: Tiling, operand: Operand, fixed: list[Dim]) -> bool:
    """Tell whether the columns of an operand are copied: they do not lie beside each other, or alias in the cache."""
    contraction, columns = tiling.contraction, tiling.columns
    stride = operand.stride(columns)
    if not stride or operand.stride(tiling.rows) or not any(operand.stride(dim) for dim in contraction.reduce):
        return False
    if stride != 1:
        return True
    if operand.guard is not None:
        return False
    reuse = -(-tiling.rows.extent // tiling.row_count)
    for dim in tiling.outer:
        reuse *= 1 if operand.stride(dim) or dim in fixed else dim.extent
    size = operand.storage.scalar.size_bytes
    is_aliasing = any(
        operand.stride(dim) * size % ALIASING_BYTES == 0 and dim.extent > 16 for dim in contraction.reduce
    )
    total = columns.extent * size * prod(dim.extent for dim in contraction.reduce)
    return reuse >= LEAST_REUSE and (is_aliasing or total > SPREAD_BYTES)


def _depth(tiling: Tiling) -> int:
    """Return how many values of the first reduce axis a block has."""
    contraction, factor = tiling.contraction, tiling.depth_factor
    first = contraction.reduce[0].extent
    fitting = min(first, LONGEST_SUMS // (tiling.row_count * tiling.vector_count * factor))
    if tiling.packed:
        size = contraction.out.storage.scalar.size_bytes
        fitting = min(fitting, PANEL_BYTES // (tiling.width * size * factor))
        # Square tiles are transposed whole, but for the last.
        return fitting if fitting == first else max(fitting - fitting % tiling.lanes, tiling.lanes)
    if tiling.is_streamed and factor == 1 and tiling.columns.extent > tiling.width:
        return min(STREAMS, first)
    return max(fitting, 1)


def _unsupported(state: State, contraction: Contraction) -> str:
    """Say what of the term cannot be computed in vectors, or return an empty string."""
    out = contraction.out.storage.scalar
    if out.kind == "bool" or (out.bits == 16 and out.kind == "float") or out.is_narrowed:
        return f"sums of {out.name} are rounded one by one"
    for expr in (contraction.term, contraction.init):
        if expr is not None:
            if state.scalar_of(expr) != out:
                return "the term has another dtype than the output"
            refused = _unsupported_expr(state, contraction, expr)
            if refused:
                return refused
    return ""


def _unsupported_expr(state: State, contraction: Contraction, expr: PrimExpr) -> str:
    stack: list[Node] = [expr]
    while stack:
        node = stack.pop()
        match node:
            case _ if isinstance(node, PrimExpr) and node in contraction.operands:
                refused = _unsupported_load(state, contraction.operands[node])
                if refused:
                    return refused
                continue
            case FloatImm() | IntImm():
                pass
            case Cast(value=value) if can_convert(state.scalar_of(value), state.scalar_of(node)):
                pass
            case Binary(op=op, a=a) if can_combine(op, state.scalar_of(a)) and _is_alike(node):
                pass
            case _:
                return f"`{type(node).__name__}` in the term is not computed in vectors"
        stack += children(node)
    return ""


def _is_alike(expr: Binary) -> bool:
    return dtype_of(expr.a) == dtype_of(expr.b) == expr.dtype


def _unsupported_load(state: State, operand: Operand) -> str:
    scalar = operand.storage.scalar
    if scalar.kind == "bool":
        return "a load of bool is not taken in vectors"
    if operand.guard is None:
        return ""
    if scalar.is_narrowed or state.scalar_of(operand.guard.default) != scalar:
        return "a guarded load and its other value differ in dtype"
    return (
        "" if operand.storage.strides[-1] == "1" else "a guarded load reads elements that do not lie beside each other"
    )
