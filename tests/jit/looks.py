"""How much a kernel does between two looks at its fuel: its LLVM IR with counters of what it runs."""

import ctypes
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from relax_core.ir.tir import PrimFunc
from relax_core.jit.compilation.target import Target
from relax_core.jit.lowering.lower import Lowered, lower
from relax_core.jit.options import KernelOptions

# Memory that is set or copied in one instruction counts like one basic block for so many bytes.
BLOCK_BYTES = 64
BLOCKS, MOST_BLOCKS, LOOKS, MOST_PAID = range(4)

# All chunks in this thread, one after the other, so that their blocks are counted together.
_RUN_CHUNKS = """define internal i32 @run_chunks(ptr %entry, ptr %slots, ptr %record, i64 %words, i64 %count) {
start:
  br label %head
head:
  %number = phi i64 [ 0, %start ], [ %next, %go_on ]
  %is_more = icmp slt i64 %number, %count
  br i1 %is_more, label %run, label %done
run:
  %code = call i32 %entry(ptr %slots, ptr %record, ptr %record, i64 %number)
  %is_ended = icmp eq i32 %code, 0
  br i1 %is_ended, label %go_on, label %stopped
go_on:
  %next = add i64 %number, 1
  br label %head
stopped:
  ret i32 %code
done:
  ret i32 0
}"""


@dataclass(frozen=True)
class Looked:
    """What a run did: `blocks` is the most basic blocks between two looks, `paid` the most that one look paid for."""

    code: int
    fuel: int
    blocks: int
    looks: int
    paid: int
    transforms: frozenset[str]


@lru_cache(1)
def target() -> Target:
    return Target()


def run_counted(
    function: PrimFunc, arrays: Sequence[np.ndarray], fuel: int, options: KernelOptions, sizes: Sequence[int] = ()
) -> Looked:
    """Run a prim func with symbols of these `sizes` on `arrays`, which are not checked; its code is for any sizes."""
    options = replace(options, vector_bits=target().vector_bits)
    lowered = lower(function, None if sizes else {}, lambda _: None, options=options, are_distinct=True)
    cells = (ctypes.c_int64 * 4)()
    image = target().compile(_counting(lowered, ctypes.addressof(cells)), "written")
    program = target().link(image, "kernel")
    workspace = [np.zeros(1 << 22, np.uint8) for _ in lowered.workspace]
    slots = (ctypes.c_uint64 * 64)(
        *(item.ctypes.data for item in arrays), *sizes, *(item.ctypes.data for item in workspace)
    )
    record = (ctypes.c_int64 * (64 + lowered.value_count))(fuel)
    code = program.run(ctypes.addressof(slots), ctypes.addressof(record))
    applied = frozenset(item.transform for item in lowered.remarks if item.kind == "applied")
    return Looked(code, record[0], max(cells[BLOCKS], cells[MOST_BLOCKS]), cells[LOOKS], cells[MOST_PAID], applied)


def _counting(lowered: Lowered, address: int) -> str:
    """Put counters, at `address`, into the text of a kernel."""
    lines: list[str] = []

    def cell(number: int) -> str:
        return f"ptr inttoptr (i64 {address + 8 * number} to ptr)"

    def add(at: int, number: int, amount: str) -> None:
        lines.append(f"  %c{at}.{number} = load volatile i64, {cell(number)}")
        lines.append(f"  %c{at}.{number}.more = add i64 %c{at}.{number}, {amount}")
        lines.append(f"  store volatile i64 %c{at}.{number}.more, {cell(number)}")

    def keep_most(at: int, number: int, value: str) -> None:
        lines.append(f"  %c{at}.{number} = load volatile i64, {cell(number)}")
        lines.append(f"  %c{at}.{number}.is = icmp sgt i64 {value}, %c{at}.{number}")
        lines.append(f"  %c{at}.{number}.most = select i1 %c{at}.{number}.is, i64 {value}, i64 %c{at}.{number}")
        lines.append(f"  store volatile i64 %c{at}.{number}.most, {cell(number)}")

    for at, line in enumerate(lowered.text.splitlines()):
        moved = re.search(r"call void @llvm\.mem(?:cpy|set)\S*\(.*i64 (\S+), i1", line)
        paid = re.search(r"atomicrmw sub ptr %record, i64 ([^,]+) monotonic", line)
        if moved is not None:
            lines.append(f"  %c{at}.size = udiv i64 {moved[1]}, {BLOCK_BYTES}")
            add(at, BLOCKS, f"%c{at}.size")
        if line.startswith("  br "):
            add(at, BLOCKS, "1")
        lines.append(_RUN_CHUNKS if line.startswith("declare i32 @run_chunks") else line)
        if paid is not None:
            lines.append(f"  %c{at}.blocks = load volatile i64, {cell(BLOCKS)}")
            keep_most(at, MOST_BLOCKS, f"%c{at}.blocks")
            keep_most(at, MOST_PAID, paid[1])
            lines.append(f"  store volatile i64 0, {cell(BLOCKS)}")
            add(at, LOOKS, "1")
    return "\n".join(lines)
