"""Contiguous copies: each run of adjacent elements is moved in whole vectors."""

from dataclasses import dataclass
from math import prod

from relax_core.ir.prim import PrimExpr
from relax_core.ir.tir import For, Stmt
from relax_core.jit.lowering.loops import CHUNK, least
from relax_core.jit.lowering.state import State
from relax_core.jit.options import Mode
from relax_core.jit.transforms.copies.read import Copy, CopyDim, copied, first_of, over_dims, read_copy
from relax_core.jit.transforms.plan_nest import over, plus, store
from relax_core.jit.transforms.repeat import repeat, repeat_nested
from relax_core.jit.transforms.transform import Plan, Refusal, Transform

MODES: frozenset[Mode] = frozenset(("bitwise", "exact", "fast"))
# Shorter runs are left to the loops of the naive lowering.
SHORTEST_RUN_BYTES = 32
# Vectors that one iteration of a long run copies, and as many as are copied without a loop.
UNROLLED = 4
INLINED = 8
# Runs of so many vectors are stored at addresses that are multiples of a vector.
ALIGNED = 32


def plan_copy(state: State, loop: For) -> Plan | Refusal | None:
    """Plan a copy whose innermost elements lie side by side, read and written."""
    copy = read_copy(state, loop)
    if copy is None or isinstance(copy, Refusal):
        return copy
    if not copy.dims or (copy.dims[-1].read, copy.dims[-1].written) != (1, 1):
        return None
    run = copy.dims[-1].extent * copy.source.storage.scalar.size_bytes
    if run < SHORTEST_RUN_BYTES:
        return Refusal(f"runs of {run} bytes are too short")
    found = _Runs(state, loop, copy)
    reason = f"{prod(dim.extent for dim in copy.dims[:-1])} runs of {run} bytes"
    return Plan(reason, found.emit, lambda: (_told(found),), copy.nest.update)


# Why the bits stay: as bytes are moved, any value keeps its bits; bools, of which many bytes mean true, are left out.
# Source and target share no memory and the target's strides are injective, so that any order of the elements is the
# same, and the pieces that overlap at the end of a run copy some of them once more, from a source that has not
# changed. Every vector lies within its run, which is in range as a whole: the last starts at the end of the run less
# its size.
COPY = Transform("copy", "Elements that lie side by side are copied in one piece", MODES, plan_copy)


@dataclass(frozen=True, slots=True)
class _Runs:
    """Writes the code of a copy."""

    state: State
    loop: For
    copy: Copy

    def emit(self) -> None:
        """Write the code of the whole nest."""
        *around, last = self.copy.dims
        # Pieces that one charge covers, all of about one size, so that little is copied and charged twice.
        pieces = -(-last.extent // max(CHUNK // self.copy.work, 1))
        size = -(-last.extent // pieces)
        bases = self.copy.bases(self.state)

        def run(numbers: list[str]) -> None:
            *outer, piece = numbers
            source, target = bases
            for place, dim in [*zip(outer, around, strict=True), (self._first(piece, size, last.extent), last)]:
                source, target = (
                    self.copy.behind(self.state, base, place, stride)
                    for base, stride in ((source, dim.read), (target, dim.written))
                )
            self._move((source, target), size)

        counts = (*(dim.extent for dim in around), pieces)
        repeat_nested(self.state, self.loop, counts, size * self.copy.work, run)

    def _first(self, piece: str, size: int, extent: int) -> str:
        """Emit where a piece of a run starts: the last ends with the run, and copies some elements once more."""
        if size == extent:
            return "0"
        first = self.state.code.emit(f"mul nuw nsw i64 {piece}, {size}")
        return first if extent % size == 0 else least(self.state, first, str(extent - size))

    def _move(self, bases: tuple[str, str], count: int) -> None:
        """Copy `count` elements: several vectors per iteration, as a call of C's function is slower, then the rest."""
        size = count * self.copy.source.storage.scalar.size_bytes
        vector = self.state.options.lanes(8)
        block = UNROLLED * vector
        if size <= INLINED * vector:
            self._copy_bytes(bases, size)
        elif size < ALIGNED * vector:
            repeat(self.state, size // block, lambda number: self._vectors(bases, number, self._alignment(1)))
            if size % block:
                self._copy_bytes(self._both(bases, str(size // block * block)), size % block)
        else:
            self._move_aligned(bases, size)

    def _move_aligned(self, bases: tuple[str, str], size: int) -> None:
        """Copy so that no store lies in two lines of the cache; some bytes at the ends are copied twice."""
        code, vector = self.state.code, self.state.options.lanes(8)
        block = UNROLLED * vector
        self._copy_bytes(bases, vector)
        place = code.emit(f"ptrtoint ptr {bases[1]} to i64")
        skipped = code.emit(f"and i64 {code.emit(f'sub i64 0, {place}')}, {vector - 1}")
        rounds = code.emit(f"udiv i64 {code.emit(f'sub nuw nsw i64 {size}, {skipped}')}, {block}")
        aligned = self._both(bases, skipped)
        repeat(self.state, rounds, lambda number: self._vectors(aligned, number, vector))
        self._copy_bytes(self._both(bases, str(size - block)), block)

    def _vectors(self, bases: tuple[str, str], number: str, alignment: int) -> None:
        code, vector = self.state.code, self.state.options.lanes(8)
        source, target = self._both(bases, code.emit(f"mul nuw nsw i64 {number}, {UNROLLED * vector}"))
        parts = [
            code.emit(f"load <{vector} x i8>, ptr {self._at(source, str(at * vector))}, align {self._alignment(0)}")
            for at in range(UNROLLED)
        ]
        for at, part in enumerate(parts):
            code.do(f"store <{vector} x i8> {part}, ptr {self._at(target, str(at * vector))}, align {alignment}")

    def _both(self, bases: tuple[str, str], distance: str) -> tuple[str, str]:
        """Emit the addresses `distance` bytes behind both of `bases`."""
        return self._at(bases[0], distance), self._at(bases[1], distance)

    def _copy_bytes(self, bases: tuple[str, str], size: int) -> None:
        source, target = bases
        self.state.code.declare("declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)")
        arguments = f"ptr align {self._alignment(1)} {target}, ptr align {self._alignment(0)} {source}"
        self.state.code.do(f"call void @llvm.memcpy.p0.p0.i64({arguments}, i64 {size}, i1 false)")

    def _alignment(self, which: int) -> int:
        return (self.copy.source, self.copy.target)[which].storage.alignment

    def _at(self, pointer: str, distance: str) -> str:
        return self.state.code.emit(f"getelementptr inbounds i8, ptr {pointer}, i64 {distance}")


def _told(runs: _Runs) -> Stmt:
    """Return the loops: each run in vectors, of which the last ends with the run."""
    copy = runs.copy
    *around, last = copy.dims
    dtype = last.axes[-1].var.dtype
    lanes = min(runs.state.options.lanes(8 * copy.source.storage.scalar.size_bytes), last.extent)

    def run(places: list[tuple[CopyDim, PrimExpr]]) -> Stmt:
        def vector(number: PrimExpr) -> Stmt:
            first = first_of(number, last.extent, lanes)
            return over(
                "lane", lanes, lambda at: store(*copied(copy, [*places, (last, plus(first, at))])), "vectorized", dtype
            )

        return over("vector", -(-last.extent // lanes), vector, dtype=dtype)

    return over_dims(around, run)
