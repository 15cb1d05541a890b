"""The micro-kernel: the accumulators of one tile, rows by vectors of columns, stay in registers."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from relax_core.ir.integer.affine import Affine
from relax_core.ir.prim import Binary, PrimExpr, PrimVar
from relax_core.jit.lowering.code import FunctionBuilder, phi
from relax_core.jit.lowering.state import State
from relax_core.jit.transforms.contractions.contraction import Operand
from relax_core.jit.transforms.contractions.plan import Tiling
from relax_core.jit.transforms.contractions.values import Part, Source, TileValues
from relax_core.jit.transforms.vector_code import (
    at_distance,
    combine,
    load_vector,
    product_sum,
    store_vector,
    vector_type,
)


@dataclass(frozen=True, slots=True)
class Block:
    """The values of the first reduce axis for which tiles are computed.

    `is_start` is a register that tells whether the sums start here, "true" or "false" if that is known.
    """

    first: str
    end: str
    is_start: str


@dataclass(frozen=True, slots=True)
class TileContext:
    """Where a tile is emitted: the registers of the axes around it, and where the operands are read."""

    state: State
    tiling: Tiling
    index: Mapping[PrimVar, str]
    sources: Mapping[PrimExpr, Source]
    block: Block

    def address(self, source: Source) -> str:
        """Emit the address of an operand's element for the axes that have registers, and 0 for the others."""
        distance = distance_of(self.state, self.index, source.offset, self.tiling)
        return at_distance(self.state.code, source.storage.pointer, source.storage.scalar.memory, distance)


def distance_of(state: State, index: Mapping[PrimVar, str], offset: Affine, tiling: Tiling) -> str:
    """Emit the value of a sum; axes without a register are 0."""
    code = state.code
    axes = {dim.var for dim in tiling.contraction.dims}
    total = str(offset.constant)
    for var, factor in offset.coefficients.items():
        if var in index:
            register = index[var]
        elif var in axes or var is tiling.rows.var:
            continue
        else:
            register = state.widen(state.environment.registers[var], state.scalar_of(var))
        term = register if factor == 1 else code.emit(f"mul nsw i64 {register}, {factor}")
        if register != "0":
            total = term if total == "0" else code.emit(f"add nsw i64 {total}, {term}")
    return total


def emit_tile(context: TileContext, part: Part) -> None:
    """Emit the sums of one tile, from their start or from what their elements hold, to their store."""
    tiling, code = context.tiling, context.state.code
    out = Source(tiling.contraction.out.storage, tiling.contraction.out.offset)
    pointer, step = context.address(out), out.offset.of(tiling.rows.var)
    memory = out.storage.scalar.memory
    cells = [
        (row, vector, at_distance(code, pointer, memory, row * step + vector * tiling.lanes))
        for row in range(part.rows)
        for vector in range(part.vectors)
    ]
    sums = _starts(context, part, cells)
    term = [*context.tiling.contraction.leaves(tiling.contraction.term)]
    pointers = _pointers(context, term)
    sums = _reduced(context, part, pointers, sums)
    for value, (_, vector, cell) in zip(sums, cells, strict=True):
        store_vector(code, value, cell, out.storage.scalar, (tiling.lanes, part.active(vector, tiling.lanes)))


def _pointers(context: TileContext, used: Sequence[Operand]) -> dict[PrimExpr, str]:
    """Return where those of the sources lie that are `used`."""
    operands = context.tiling.contraction.operands
    return {node: context.address(source) for node, source in context.sources.items() if operands[node] in used}


def _starts(context: TileContext, part: Part, cells: Sequence[tuple[int, int, str]]) -> list[str]:
    """Emit what the sums start with."""
    tiling, code, scalar = context.tiling, context.state.code, context.tiling.contraction.out.storage.scalar
    init = tiling.contraction.init
    started: list[str] = []
    if init is not None and context.block.is_start != "false":
        used = [*tiling.contraction.leaves(init)]
        pointers = _pointers(context, used)
        values = TileValues(context.state, tiling, context.sources, pointers, part)
        before = code.set_location(tiling.contraction.initialisation or tiling.contraction.out.access)
        started = [values.vector(init, row, vector) for row, vector, _ in cells]
        code.restore_location(before)
        if context.block.is_start == "true":
            return started
    held = [
        load_vector(code, cell, scalar, (tiling.lanes, part.active(vector, tiling.lanes))) for _, vector, cell in cells
    ]
    if not started:
        return held
    vector = vector_type(scalar.register, tiling.lanes)
    return [
        code.emit(f"select i1 {context.block.is_start}, {vector} {new}, {vector} {old}")
        for new, old in zip(started, held, strict=True)
    ]


def _reduced(
    context: TileContext, part: Part, pointers: Mapping[PrimExpr, str], sums: Sequence[str], level: int = 0
) -> list[str]:
    """Emit the loops over the reduce axes from `level` on."""
    tiling, code = context.tiling, context.state.code
    contraction = tiling.contraction
    if level == len(contraction.reduce):
        return _round(context, part, pointers, sums)
    dim = contraction.reduce[level]

    def body(number: str, values: Sequence[str]) -> list[str]:
        moved: dict[PrimExpr, str] = {}
        for node, pointer in pointers.items():
            source = context.sources[node]
            stride = source.offset.of(dim.var)
            distance = number if stride in (0, 1) else code.emit(f"mul nsw i64 {number}, {stride}")
            moved[node] = at_distance(code, pointer, source.storage.scalar.memory, distance if stride else 0)
        return _reduced(context, part, moved, values, level + 1)

    first, end = (context.block.first, context.block.end) if level == 0 else ("0", str(dim.extent))
    vector = vector_type(contraction.out.storage.scalar.register, tiling.lanes)
    return carried(code, (first, end), vector, sums, body)


def _round(context: TileContext, part: Part, pointers: Mapping[PrimExpr, str], sums: Sequence[str]) -> list[str]:
    """Emit one term for each sum."""
    tiling, code = context.tiling, context.state.code
    contraction, scalar = tiling.contraction, tiling.contraction.out.storage.scalar
    values = TileValues(context.state, tiling, context.sources, pointers, part)
    is_fused = context.state.options.mode == "fast" and scalar.kind == "float" and contraction.op == "+"
    found: list[str] = []
    before = code.set_location(contraction.out.access)
    for at, total in enumerate(sums):
        row, vector = divmod(at, part.vectors)
        match contraction.term:
            case Binary(op="*", a=a, b=b) if is_fused:
                factors = values.vector(a, row, vector), values.vector(b, row, vector)
                found.append(product_sum(code, factors, total, scalar, tiling.lanes))
            case term:
                value = values.vector(term, row, vector)
                operands = (value, total) if contraction.is_term_first else (total, value)
                found.append(combine(code, contraction.op, operands, scalar, tiling.lanes))
    code.restore_location(before)
    return found


def carried(
    code: FunctionBuilder,
    span: tuple[str, str],
    llvm: str,
    initial: Sequence[str],
    body: Callable[[str, Sequence[str]], Sequence[str]],
) -> list[str]:
    """Emit a loop that runs at least once and hands values of the type `llvm` from one iteration to the next."""
    first, end = span
    before, head = code.block, code.label("reduce")
    code.goto(head)
    number, following = f"%{code.label('k')}", f"%{code.label('next')}"
    room = [code.reserve() for _ in range(len(initial) + 1)]
    registers = [f"%{code.label('sum')}" for _ in initial]
    results = list(body(number, registers))
    code.do(f"{following} = add nuw nsw i64 {number}, 1")
    code.fill(room[0], f"{number} = {phi('i64', (first, before), (following, code.block))}")
    for position, register, start, result in zip(room[1:], registers, initial, results, strict=True):
        code.fill(position, f"{register} = {phi(llvm, (start, before), (result, code.block))}")
    is_more = code.emit(f"icmp slt i64 {following}, {end}")
    after = code.label("reduced")
    code.do(f"br i1 {is_more}, label %{head}, label %{after}, !llvm.loop {code.written_loop()}")
    code.start(after)
    return results
