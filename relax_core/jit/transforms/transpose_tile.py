"""Square tiles that are transposed in registers, by shuffles that processors have."""

from collections.abc import Sequence

from relax_core.jit.lowering.code import FunctionBuilder

QUARTER_BITS = 128
LANE_LIMIT = 16


def transposed(code: FunctionBuilder, rows: Sequence[str], memory: str, bits: int) -> list[str]:
    """Emit the transposition of as many vectors as each has lanes, of elements of the LLVM type `memory`.

    The lanes lie in quarters of 128 bits, within which processors interleave two vectors in one instruction, as they
    join quarters of two vectors: elements are interleaved in each quarter, then quarters are exchanged.
    """
    lanes = len(rows)
    width = QUARTER_BITS // bits
    vector = f"<{lanes} x {memory}>"

    def shuffle(a: str, b: str, mask: list[int]) -> str:
        places = ", ".join(f"i32 {place}" for place in mask)
        return code.emit(f"shufflevector {vector} {a}, {vector} {b}, <{lanes} x i32> <{places}>")

    groups = [list(rows[first : first + width]) for first in range(0, lanes, width)]
    low, high = (_interleaved(lanes, width, half) for half in (0, width // 2))
    for _ in range(width.bit_length() - 1):
        groups = [
            [
                shuffle(group[at], group[at + width // 2], mask)
                for at in range(width // 2)
                for mask in (low, high)
            ]
            for group in groups
        ]  # fmt: skip
    columns: list[list[str]] = [[group[at] for group in groups] for at in range(width)]
    even, odd = (_quarters(lanes, width, parity) for parity in (0, 1))
    for _ in range((lanes // width).bit_length() - 1):
        columns = [
            [shuffle(parts[at], parts[at + 1], mask) for mask in (even, odd) for at in range(0, len(parts), 2)]
            for parts in columns
        ]
    return [columns[place % width][place // width] for place in range(lanes)]


def _interleaved(lanes: int, width: int, half: int) -> list[int]:
    """Return the mask that takes turns between two vectors, in the lower or upper half of each quarter."""
    return [
        first + half + at + source
        for first in range(0, lanes, width)
        for at in range(width // 2)
        for source in (0, lanes)
    ]


def _quarters(lanes: int, width: int, parity: int) -> list[int]:
    """Return the mask that takes every other quarter of one vector, then of the other."""
    starts = [first for first in range(0, 2 * lanes, width) if first // width % 2 == parity]
    return [first + at for first in starts for at in range(width)]
