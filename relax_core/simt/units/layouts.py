"""Which lane of a warp holds which elements of a small matrix.

See: PTX ISA, "Matrix Fragments for mma" and "ldmatrix". A register has 32 bits; its elements are neighbours in a row of
the left operand and of the result, and in a column of the right one.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

Places: Final = npt.NDArray[np.int64]
_REGISTER_BITS: Final = 32
_LANE: Final = np.arange(32)
_ROW, _QUAD = _LANE // 4, _LANE % 4
"""The row of eight that a lane has elements of, and the number among the four lanes of that row."""
SHAPES: Final = (
    ("m16n8k16", 16), ("m16n8k8", 16), ("m16n8k8", 32), ("m16n8k4", 32), ("m16n8k32", 8), ("m16n8k16", 8),
    ("m8n8k16", 8), ("m8n8k4", 64),
)  # fmt: skip
"""The shapes of products that are known, with the bits of an element of the operands."""


@dataclass(frozen=True, slots=True, eq=False)
class Tile:
    """The elements of a matrix in a warp: row and column of each, for each lane and each of the elements it holds."""

    rows: npt.NDArray[np.int64]
    columns: npt.NDArray[np.int64]
    shape: tuple[int, int]

    @property
    def each(self) -> int:
        """How many elements a lane holds."""
        return self.rows.shape[1]


@dataclass(frozen=True, slots=True, eq=False)
class Product:
    """The tiles of `a @ b + c`."""

    a: Tile
    b: Tile
    c: Tile


def product_of(shape: str, bits: int) -> Product | None:
    """Return the tiles of a product of a shape such as `m16n8k16`; `None` if it is none that is known."""
    if (shape, bits) not in SHAPES:
        return None
    m, _, rest = shape[1:].partition("n")
    n, _, k = rest.partition("k")
    return Product(_left(int(m), int(k), bits), _right(int(k), int(n), bits), _result(int(m), int(n)))


def _left(m: int, k: int, bits: int) -> Tile:
    each = max(_REGISTER_BITS // bits, 1)
    cells = [
        (_ROW + 8 * below, 4 * each * right + _QUAD * each + at)
        for right in range(k // (4 * each))
        for below in range(m // 8)
        for at in range(each)
    ]
    return _tile(cells, (m, k))


def _right(k: int, n: int, bits: int) -> Tile:
    each = max(_REGISTER_BITS // bits, 1)
    cells = [(4 * each * below + _QUAD * each + at, _ROW) for below in range(k // (4 * each)) for at in range(each)]
    return _tile(cells, (k, n))


def _result(m: int, n: int) -> Tile:
    return _tile([(_ROW + 8 * below, 2 * _QUAD + at) for below in range(m // 8) for at in range(2)], (m, n))


def _tile(cells: "list[tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]]", shape: tuple[int, int]) -> Tile:
    rows, columns = (np.stack([cell[at] for cell in cells], axis=1) for at in (0, 1))
    return Tile(rows, columns, shape)


def loaded_of(count: int, *, is_transposed: bool) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return where `ldmatrix` of so many 8 x 8 matrices takes each element from: whose address, and how far behind it.

    Lane `l` gives the address of row `l % 8` of matrix `l // 8`, and gets two elements of each matrix.
    """
    own = np.repeat(2 * _QUAD[:, None], count * 2, axis=1) + np.tile([0, 1], count)
    row = np.repeat(_ROW[:, None], count * 2, axis=1)
    matrix = np.repeat(np.arange(count), 2)[None, :]
    if is_transposed:
        own, row = row, own
    return matrix * 8 + row, own
