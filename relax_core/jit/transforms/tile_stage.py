"""Copies of guarded operands: a box of the buffer with the other value around it, as of a padded convolution."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from relax_core.ir.integer.affine import Affine
from relax_core.ir.prim import PrimExpr, PrimVar
from relax_core.jit.lowering.scalar import lower_expr
from relax_core.jit.lowering.state import State
from relax_core.jit.transforms.contraction import Edge, Guard, Operand, box_of, box_size
from relax_core.jit.transforms.repeat import repeat
from relax_core.jit.transforms.tile_kernel import distance_of
from relax_core.jit.transforms.tile_plan import Tiling
from relax_core.jit.transforms.tile_values import Source
from relax_core.jit.transforms.vector_code import at_distance, load_masked, splat, stack_array, store_vector


def stage(state: State, tiling: Tiling, index: Mapping[PrimVar, str], node: PrimExpr) -> Source:
    """Emit the copy of a guarded operand; return where it is then read."""
    operand = tiling.contraction.operands[node]
    guard = operand.guard
    assert guard is not None, "only guarded operands are staged"
    edges = box_of(tiling.contraction, operand, tiling.outer)
    box = stack_array(state, "box", operand.storage.scalar, box_size(edges, tiling.lanes))
    firsts = [distance_of(state, index, edge.first, tiling) for edge in edges]
    strides = _strides(edges)
    _fill(_Box(state, tiling, operand, guard, edges), firsts, box, strides)
    offset = Affine()
    for edge, stride in zip(edges, strides, strict=True):
        offset = offset.plus(edge.inside, stride)
    return Source(replace(operand.storage, pointer=box), offset)


def _strides(edges: tuple[Edge, ...]) -> list[int]:
    strides: list[int] = []
    step = 1
    for edge in reversed(edges):
        strides.insert(0, step)
        step *= edge.extent
    return strides


@dataclass(frozen=True, slots=True)
class _Box:
    """What is copied."""

    state: State
    tiling: Tiling
    operand: Operand
    guard: Guard
    edges: tuple[Edge, ...]


def _fill(box: _Box, firsts: list[str], pointer: str, strides: list[int]) -> None:
    """Emit the loops over the rows of a box, in the order in which they lie in memory."""
    state, code = box.state, box.state.code
    storage = box.operand.storage
    memory = storage.scalar.memory

    def walk(position: int, source: str, target: str, is_valid: str) -> None:
        edge = box.edges[position]
        if position == len(box.edges) - 1:
            _row(box, (firsts[position], is_valid), source, target)
            return

        def body(number: str) -> None:
            at = firsts[position] if number == "0" else code.emit(f"add nsw i64 {firsts[position]}, {number}")
            index, is_inside = _index(box, edge, at)
            there = at_distance(code, source, memory, code.emit(f"mul nsw i64 {index}, {storage.strides[position]}"))
            here = at_distance(code, target, memory, code.emit(f"mul nsw i64 {number}, {strides[position]}"))
            both = is_inside if is_valid == "true" else code.emit(f"and i1 {is_valid}, {is_inside}")
            walk(position + 1, there, here, both)

        repeat(state, edge.extent, body)

    walk(0, storage.pointer, pointer, "true")


def _index(box: _Box, edge: Edge, at: str) -> tuple[str, str]:
    """Emit the index that a dividend stands for, and whether it is loaded."""
    code = box.state.code
    above = code.emit(f"icmp sge i64 {at}, {edge.valid.low}")
    below = code.emit(f"icmp sle i64 {at}, {edge.valid.high}")
    is_inside = code.emit(f"and i1 {above}, {below}")
    if edge.divisor == 1:
        return at, is_inside
    is_multiple = code.emit(f"icmp eq i64 {code.emit(f'srem i64 {at}, {edge.divisor}')}, 0")
    return code.emit(f"sdiv i64 {at}, {edge.divisor}"), code.emit(f"and i1 {is_inside}, {is_multiple}")


def _row(box: _Box, where: tuple[str, str], source: str, target: str) -> None:
    """Emit the copy of one row; the next row is written behind it."""
    code, lanes = box.state.code, box.tiling.lanes
    first, is_valid = where
    edge, memory = box.edges[-1], box.operand.storage.scalar.memory
    default = lower_expr(box.state, box.guard.default)
    if edge.divisor > 1:
        repeat(box.state, edge.extent, lambda number: _element(box, where, (source, target), number))
        return
    start = at_distance(code, source, memory, first)

    def body(number: str) -> None:
        distance = number if number == "0" else code.emit(f"mul nuw nsw i64 {number}, {lanes}")
        mask = _mask(box, edge, code.emit(f"add nsw i64 {first}, {distance}"), is_valid)
        scalar = box.operand.storage.scalar
        chosen = mask, splat(code, memory, lanes, default)
        value = load_masked(code, at_distance(code, start, memory, distance), scalar, lanes, chosen)
        store_vector(code, value, at_distance(code, target, memory, distance), scalar, (lanes, lanes))

    repeat(box.state, -(-edge.extent // lanes), body)


def _mask(box: _Box, edge: Edge, at: str, is_valid: str) -> str:
    """Emit which lanes from the index `at` on are loaded."""
    code, lanes = box.state.code, box.tiling.lanes
    numbers = ", ".join(f"i64 {lane}" for lane in range(lanes))
    places = code.emit(f"add <{lanes} x i64> {splat(code, 'i64', lanes, at)}, <{numbers}>")
    above = code.emit(f"icmp sge <{lanes} x i64> {places}, {splat(code, 'i64', lanes, str(edge.valid.low))}")
    below = code.emit(f"icmp sle <{lanes} x i64> {places}, {splat(code, 'i64', lanes, str(edge.valid.high))}")
    mask = code.emit(f"and <{lanes} x i1> {above}, {below}")
    if is_valid == "true":
        return mask
    return code.emit(f"and <{lanes} x i1> {mask}, {splat(code, 'i1', lanes, is_valid)}")


def _element(box: _Box, where: tuple[str, str], pointers: tuple[str, str], number: str) -> None:
    """Emit the copy of one element of a row; one that is not loaded is read where it is written, and dropped."""
    code, memory = box.state.code, box.operand.storage.scalar.memory
    first, is_valid = where
    index, is_inside = _index(box, box.edges[-1], code.emit(f"add nsw i64 {first}, {number}"))
    is_loaded = is_inside if is_valid == "true" else code.emit(f"and i1 {is_valid}, {is_inside}")
    cell = at_distance(code, pointers[1], memory, number)
    there = code.emit(f"select i1 {is_loaded}, ptr {at_distance(code, pointers[0], memory, index)}, ptr {cell}")
    default = lower_expr(box.state, box.guard.default)
    code.do(f"store {memory} {default}, ptr {cell}")
    code.do(f"store {memory} {code.emit(f'load {memory}, ptr {there}')}, ptr {cell}")
