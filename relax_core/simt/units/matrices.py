"""Products of small matrices by whole warps: mma and ldmatrix of PTX, and the fragments of wmma.

Elements of 16 bits are multiplied exactly and added in single precision, whole numbers wrap around in 32 bits; a sum of
half precision is rounded at the end.
"""

from collections.abc import Mapping
from math import prod
from types import MappingProxyType
from typing import Final

import numpy as np

from relax_core.ir.node import Node
from relax_core.ir.prim import IntImm, Intrinsic, PrimExpr, StringImm
from relax_core.ir.tir import Buffer, BufferRef, Evaluate
from relax_core.ops.kernels.numbers import is_array, numpy_type
from relax_core.simt.expressions import Expressions
from relax_core.simt.findings import text_of
from relax_core.simt.lanes import WARP, Array, Mask
from relax_core.simt.memory import Registers
from relax_core.simt.state import unsupported
from relax_core.simt.units.layouts import Tile, loaded_of, product_of
from relax_core.simt.units.pointers import Pointers
from relax_core.simt.values import Value, data_of, lanes_first, undefined_in, with_undefined

_LONG: Final[Mapping[str, str]] = MappingProxyType(
    {"fp16": "float16", "bf16": "bfloat16", "fp32": "float32", "tf32": "float32", "fp64": "float64"}
)
_BITS: Final[Mapping[str, int]] = MappingProxyType(
    {"float16": 16, "bfloat16": 16, "float32": 32, "float64": 64, "int8": 8, "uint8": 8}
)
MMA: Final = ("ptx_legacy.mma", "ptx_mma")
LOADS: Final = ("ptx_legacy.ldmatrix", "ptx_ldmatrix")
FRAGMENTS: Final = ("tvm_fill_fragment", "tvm_load_matrix_sync", "tvm_store_matrix_sync", "tvm_mma_sync")
FRAGMENT_SCOPE: Final = "wmma"
_SHAPE: Final = (16, 16, 16)
"""Of the fragments that are known: other shapes of wmma hold as many elements in other lanes, which no program sees."""


class Matrices:
    """Runs calls that warps make together."""

    def __init__(self, expressions: Expressions, pointers: Pointers) -> None:
        self._expressions = expressions
        self._pointers = pointers

    def run(self, node: Evaluate, call: Intrinsic, mask: Mask) -> None:
        """Run a call of `MMA`, `LOADS` or `FRAGMENTS`.

        Raises:
            RunError: GP010 for a shape, a dtype or memory that is not simulated.
        """
        self._need_whole_warps(node, mask)
        match call.name, call.args:
            case name, args if name in MMA:
                self._multiply(node, args, mask)
            case name, args if name in LOADS:
                self._load(node, args, mask)
            case "tvm_fill_fragment", (fragment, m, n, k, index, value):
                registers, first, count = self._fragment(node, fragment, (m, n, k), index, mask)
                found = self._expressions.evaluate(value, mask)
                for at in range(count):
                    registers.store(first + at, found, mask, self._expressions.state.lanes)
            case "tvm_load_matrix_sync" | "tvm_store_matrix_sync", (fragment, m, n, k, index, pointer, stride, layout):
                self._move(node, call.name, (fragment, (m, n, k), index, pointer, stride, layout), mask)
            case "tvm_mma_sync", (d, i_d, a, i_a, b, i_b, c, i_c):
                self._multiply_fragments(node, ((d, i_d), (a, i_a), (b, i_b), (c, i_c)), mask)
            case _:
                unsupported(call)

    def _need_whole_warps(self, node: Node, mask: Mask) -> None:
        """Tell it if some lanes of a warp do not take part: the instruction then has no meaning."""
        lanes = self._expressions.state.lanes
        if lanes.grid.thread_count % WARP:
            unsupported(node, "a product of matrices in a block that has a warp with fewer than 32 threads")
        full = lanes.full(mask).reshape(-1, WARP)
        taking = full.sum(axis=1)
        partial = np.repeat((taking > 0) & (taking < WARP), WARP)
        if partial.any():
            missing = partial & ~lanes.full(mask)
            where = lanes.grid.place(int(lanes.thread[np.flatnonzero(missing)[0]]))
            message = f"`{text_of(node)}` is for all lanes of a warp, and {where} does not take part"
            self._expressions.state.launch.findings.add("GP008", message, node, lanes.thread[missing])

    def _multiply(self, node: Evaluate, args: tuple[PrimExpr, ...], mask: Mask) -> None:
        match args:
            case (
                StringImm(value=shape), StringImm(value="row"), StringImm(value="col"), StringImm(value=of_a),
                StringImm(value=of_b), StringImm(value=of_c), a, i_a, b, i_b, c, i_c, *_,
            ):  # fmt: skip
                product = product_of(shape, _BITS.get(_LONG.get(of_a, of_a), 0))
                kinds = [_LONG.get(item, item) for item in (of_a, of_b, of_c)]
            case _:
                unsupported(node)
        if product is None or _BITS.get(kinds[1]) != _BITS[kinds[0]]:
            unsupported(node, f"mma of the shape {shape} on {of_a} and {of_b}")
        left, lost_a = self._tile(node, product.a, (a, i_a), mask)
        right, lost_b = self._tile(node, product.b, (b, i_b), mask)
        added, lost_c = self._tile(node, product.c, (c, i_c), mask)
        found = self._multiplied(left, right, added, kinds[2])
        lost = lost_a.any(axis=2, keepdims=True) | lost_b.any(axis=1, keepdims=True) | lost_c
        self._put(node, product.c, (c, i_c), (found, lost), mask)

    def _multiplied(self, a: Array, b: Array, c: Array, dtype: str) -> Array:
        if not np.issubdtype(a.dtype, np.integer):
            self._expressions.state.launch.traffic.operations += 2 * a.size * b.shape[2]
        return multiplied(a, b, c, dtype)

    def _tile(self, node: Evaluate, tile: Tile, of: tuple[PrimExpr, PrimExpr], mask: Mask) -> tuple[Array, Array]:
        """Return the matrix that each warp holds, and which of its elements are undefined."""
        buffer, first = self._pointers.row(of[0], mask)
        first = first + data_of(self._expressions.evaluate(of[1], mask))
        lanes = self._expressions.state.lanes
        warps = lanes.count // WARP
        kind = numpy_type(buffer.dtype)
        found, lost = np.zeros((warps, *tile.shape), kind), np.zeros((warps, *tile.shape), np.bool_)
        for at in range(tile.each):
            value = self._expressions.accesses.load(buffer, (first + at,), node, mask)
            found[:, tile.rows[:, at], tile.columns[:, at]] = lanes_first(data_of(value), lanes.count).reshape(
                warps, WARP
            )
            undefined = undefined_in(value)
            if undefined is not None:
                lost[:, tile.rows[:, at], tile.columns[:, at]] = undefined.reshape(warps, WARP)
        return found, lost

    def _put(
        self, node: Evaluate, tile: Tile, of: tuple[PrimExpr, PrimExpr], value: tuple[Array, Array], mask: Mask
    ) -> None:
        buffer, first = self._pointers.row(of[0], mask)
        first = first + data_of(self._expressions.evaluate(of[1], mask))
        found, lost = value
        for at in range(tile.each):
            of_lanes = found[:, tile.rows[:, at], tile.columns[:, at]].reshape(-1)
            undefined = lost[:, tile.rows[:, at], tile.columns[:, at]].reshape(-1)
            self._expressions.accesses.store(buffer, (first + at,), with_undefined(of_lanes, undefined), node, mask)

    def _load(self, node: Evaluate, args: tuple[PrimExpr, ...], mask: Mask) -> None:
        """Load 8 x 8 matrices of 16 bits: each lane gives the address of a row, and gets two elements of each."""
        match args:
            case (
                *_,
                IntImm(value=is_transposed),
                IntImm(value=count),
                StringImm(value=".b16"),
                to,
                i_to,
                source,
                i_from,
            ):
                pass
            case _:
                unsupported(node)
        accesses, evaluate = self._expressions.accesses, self._expressions.evaluate
        lanes = self._expressions.state.lanes
        row, first = self._pointers.row(source, mask)
        address = lanes_first(first + data_of(evaluate(i_from, mask)), lanes.count).reshape(-1, WARP)
        target, at_target = self._pointers.row(to, mask)
        at_target = at_target + data_of(evaluate(i_to, mask))
        givers, behind = loaded_of(count, is_transposed=bool(is_transposed))
        for at in range(2 * count):
            wanted = (address[:, givers[:, at]] + behind[:, at]).reshape(-1)
            accesses.store(target, (at_target + at,), accesses.load(row, (wanted,), node, mask), node, mask)

    def _fragment(
        self,
        node: Evaluate,
        fragment: PrimExpr,
        shape: tuple[PrimExpr, PrimExpr, PrimExpr],
        index: PrimExpr,
        mask: Mask,
    ) -> tuple[Registers, int, int]:
        """Return the registers of a fragment, the first one, and how many each lane has."""
        buffer, registers = self._registers(node, fragment)
        sides = tuple(item.value if isinstance(item, IntImm) else 0 for item in shape)
        if sides != _SHAPE:
            unsupported(node, f"a fragment of the shape {sides}")
        count = prod(_SHAPE[:2]) // WARP
        found = data_of(self._expressions.evaluate(index, mask))
        number = -1 if is_array(found) else int(found)
        if not 0 <= number < len(registers.rows) // count:
            unsupported(node, f"this fragment of `{buffer.name}`")
        return registers, number * count, count

    def _registers(self, node: Evaluate, fragment: PrimExpr) -> tuple[Buffer, Registers]:
        match fragment:
            case BufferRef(buffer=buffer) if (found := self._expressions.state.fragments.get(buffer)) is not None:
                return buffer, found
            case _:
                return unsupported(node, "a fragment that is no buffer of the scope wmma")

    def _move(
        self, node: Evaluate, name: str,
        of: tuple[PrimExpr, tuple[PrimExpr, PrimExpr, PrimExpr], PrimExpr, PrimExpr, PrimExpr, PrimExpr], mask: Mask,
    ) -> None:  # fmt: skip
        """Move a fragment from memory, or into it; the elements are dealt to the lanes row by row."""
        fragment, shape, index, pointer, stride, layout = of
        registers, first, count = self._fragment(node, fragment, shape, index, mask)
        lanes, accesses = self._expressions.state.lanes, self._expressions.accesses
        row, begin = self._pointers.row(pointer, mask)
        by = data_of(self._expressions.evaluate(stride, mask))
        is_column = isinstance(layout, StringImm) and layout.value == "col_major"
        for at in range(count):
            line, place = np.divmod(at * WARP + lanes.inside % WARP, _SHAPE[1])
            wanted = begin + (place * by + line if is_column else line * by + place)
            if name == "tvm_load_matrix_sync":
                registers.store(first + at, accesses.load(row, (wanted,), node, mask), mask, lanes)
            else:
                accesses.store(row, (wanted,), registers.load(first + at, lanes), node, mask)

    def _multiply_fragments(self, node: Evaluate, parts: tuple[tuple[PrimExpr, PrimExpr], ...], mask: Mask) -> None:
        side = IntImm(_SHAPE[0])
        found = [self._fragment(node, item, (side, side, side), index, mask) for item, index in parts]
        matrices = [self._whole(registers, first, count) for registers, first, count in found[1:]]
        (left, lost_a), (right, lost_b), (added, lost_c) = matrices
        registers, first, count = found[0]
        product = self._multiplied(left, right, added, registers.dtype.name)
        lost = lost_a.any(axis=2, keepdims=True) | lost_b.any(axis=1, keepdims=True) | lost_c
        lanes = self._expressions.state.lanes
        rows = product.reshape(-1, count, WARP).swapaxes(0, 1).reshape(count, -1)
        gone = lost.reshape(-1, count, WARP).swapaxes(0, 1).reshape(count, -1)
        for at in range(count):
            registers.store(first + at, with_undefined(rows[at], gone[at]), mask, lanes)

    def _whole(self, registers: Registers, first: int, count: int) -> tuple[Array, Array]:
        """Return the matrix of each warp, and which of its elements are undefined."""
        lanes = self._expressions.state.lanes
        values = [registers.load(first + at, lanes) for at in range(count)]
        data = np.stack([lanes_first(data_of(item), lanes.count) for item in values])
        lost = np.stack([_lost(item, lanes.count) for item in values])
        shape = (lanes.count // WARP, *_SHAPE[:2])
        matrix, gone = (item.reshape(count, -1, WARP).swapaxes(0, 1).reshape(shape) for item in (data, lost))
        return matrix, gone


def _lost(value: Value, count: int) -> Array:
    undefined = undefined_in(value)
    return np.zeros(count, np.bool_) if undefined is None else undefined


def multiplied(a: Array, b: Array, c: Array, dtype: str) -> Array:
    """Return `a @ b + c` of each warp, in the precision of the unit, rounded to `dtype`."""
    if np.issubdtype(a.dtype, np.integer):
        return (a.astype(np.int32) @ b.astype(np.int32) + c).astype(numpy_type(dtype))
    if a.dtype == np.float64:
        return a @ b + c
    left, right = (_rounded(item) for item in (a, b))
    return (left @ right + c.astype(np.float32)).astype(numpy_type(dtype))


def _rounded(values: Array) -> Array:
    """Return single precision: numbers of 32 bits are rounded to the ten bits of tf32, to even."""
    if values.dtype != np.float32:
        return values.astype(np.float32)
    bits = values.view(np.uint32)
    kept = bits + 0xFFF + ((bits >> 13) & 1)
    return np.where(np.isfinite(values), (kept & np.uint32(0xFFFFE000)).view(np.float32), values)
