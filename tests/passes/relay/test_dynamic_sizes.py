"""Sizes, shapes and axes that only the run knows: the interpreter and the machine give what NumPy does."""

from typing import Any

import numpy as np
import pytest

from tests.passes.relay.operator_cases import Array
from tests.passes.relay.running import agree, both

X = np.arange(6, dtype="float32").reshape(2, 3)
CUBE = np.arange(24, dtype="float32").reshape(4, 2, 3)
TIES = np.array([[2, 1, 2, 0], [3, 3, 3, 1]], "float32")
WIDTHS = np.array([[1, 0], [0, 2]])
MATRIX, COUNT = "%a: Tensor[(2, 3), float32]", "%b: int32"


def n(value: int) -> Array:
    return np.array(value, "int32")


def v(*values: int) -> Array:
    return np.array(values, "int64")


def diagonals(matrix: Array, bands: dict[int, list[float]]) -> Array:
    """Write each band on its diagonal, element by element."""
    out = matrix.copy()
    for k, band in bands.items():
        places = [(i, i + k) for i in range(len(out)) if 0 <= i + k < out.shape[1]]
        for place, value in zip(places, band, strict=True):
            out[place] = value
    return out


def best(data: Array, k: int, axis: int, *, is_ascend: bool = False) -> tuple[Array, Array]:
    order = np.argsort(data if is_ascend else -data, axis, kind="stable").take(range(k), axis)
    return np.take_along_axis(data, order, axis), order


def one_hot(indices: Array, depth: int, axis: int) -> Array:
    return np.moveaxis(np.eye(depth, dtype="float32")[indices], -1, axis)


INDICES = np.array([0, 2, 1], "int32")
ONE_HOT = "%a: Tensor[(3,), int32], %b: int32"
SET_DIAGONAL = "%a: Tensor[(?, ?), float32], %b: Tensor[(2, ?), float32]"
CASES: dict[str, tuple[str, str, tuple[Array, ...], Any]] = {
    "tile": (f"{MATRIX}, %b: Tensor[(2,), int64]", "dyn.tile(%a, %b)", (X, v(2, 3)), np.tile(X, (2, 3))),
    "tile, more repeats than axes": (f"{MATRIX}, %b: Tensor[(3,), int64]", "dyn.tile(%a, %b)", (X, v(2, 1, 2)),
                                     np.tile(X, (2, 1, 2))),
    "tile, fewer repeats than axes": (f"{MATRIX}, %b: Tensor[(1,), int64]", "dyn.tile(%a, %b)", (X, v(2)),
                                      np.tile(X, 2)),
    "one_hot, last": (ONE_HOT, 'dyn.one_hot(%a, 1f, 0f, %b, axis=-1, dtype="float32")', (INDICES, n(4)),
                      one_hot(INDICES, 4, -1)),
    "one_hot, first": (ONE_HOT, 'dyn.one_hot(%a, 1f, 0f, %b, axis=0, dtype="float32")', (INDICES, n(5)),
                       one_hot(INDICES, 5, 0)),
    "the largest": (f"{MATRIX}, {COUNT}", "dyn.topk(%a, %b)", (X, n(2)), best(X, 2, 1)),
    "the largest, with ties": (f"%a: Tensor[(2, 4), float32], {COUNT}", "dyn.topk(%a, %b)", (TIES, n(3)),
                               best(TIES, 3, 1)),
    "the least along the first axis": (f"{MATRIX}, {COUNT}",
                                       'dyn.topk(%a, %b, axis=0, is_ascend=True, ret_type="values")', (X, n(1)), X[:1]),
    "all by size": ("%a: Tensor[(2, ?), float32]", "topk(%a, k=0)", (TIES,), best(TIES, 4, 1)),
    "an axis put in": (f"{MATRIX}, {COUNT}", "dyn.expand_dims(%a, %b, num_newaxis=2)", (X, n(1)), X[:, None, None]),
    "an axis put in from behind": (f"{MATRIX}, {COUNT}", "dyn.expand_dims(%a, %b)", (X, n(-1)), X[..., None]),
    "an axis taken out": ("%a: Tensor[(1, 2, 1, 3), float32], %b: Tensor[(2,), int64]", "dyn.squeeze(%a, %b)",
                          (X.reshape(1, 2, 1, 3), v(-2, 0)), X),
    "pad": (f"{MATRIX}, %b: Tensor[(2, 2), int64], %c: float32", "dyn.nn.pad(%a, %b, %c)",
            (X, WIDTHS, np.array(7, "float32")), np.pad(X, WIDTHS, constant_values=7)),
    "a size that remains": (f"{MATRIX}, %b: Tensor[(2,), int64]", "dyn.reshape(%a, %b)", (X, v(3, -1)),
                            X.reshape(3, 2)),
    "sizes kept": (f"{MATRIX}, %b: Tensor[(3,), int64]", "dyn.reshape(%a, %b)", (X, v(0, -1, 1)), X[..., None]),
    "values written": ("%a: Tensor[(2, 2), int64], %b: Tensor[(2,), float32], %c: Tensor[(2,), int64]",
                       "dyn.sparse_to_dense(%a, %b, 0f, %c)", (v(0, 1, 2, 0).reshape(2, 2), X[0, 1:], v(3, 2)),
                       np.array([[0, 1], [0, 0], [2, 0]])),
    "lengths along the first axis": (
        "%a: Tensor[(?, 2, 3), float32], %b: Tensor[(2,), int32]", "sequence_mask(%a, %b, mask_value=-1f)",
        (CUBE, np.array([1, 3], "int32")),
        np.where((np.arange(4)[:, None] < np.array([1, 3]))[..., None], CUBE, -1)),
    "lengths along the second": ("%a: Tensor[(2, ?), float32], %b: Tensor[(2,), int32]",
                                 "sequence_mask(%a, %b, axis=1)", (X, np.array([1, 3], "int32")),
                                 np.array([[0, 0, 0], [3, 4, 5]])),
    "a diagonal": ("%a: Tensor[(?, ?), float32], %b: Tensor[(?,), float32]", "matrix_set_diag(%a, %b)",
                   (X, X[1, :2]), diagonals(X, {0: [3, 4]})),
    "two diagonals": (SET_DIAGONAL, "matrix_set_diag(%a, %b, k1=0, k2=1)", (X, X[::-1, :2].copy()),
                      diagonals(X, {1: [3, 4], 0: [0, 1]})),
    "a diagonal below": (SET_DIAGONAL, "matrix_set_diag(%a, %b, k1=-1, k2=0, sub_diag_right_align=True)",
                         (X, X[:, :2].copy()), diagonals(X, {0: [0, 1], -1: [4]})),
    "what is above": (f"{MATRIX}, {COUNT}", "trilu(%a, %b, upper=True)", (X, n(1)), np.triu(X, 1)),
    "what is below": (f"{MATRIX}, {COUNT}", "trilu(%a, %b, upper=False)", (X, n(-1)), np.tril(X, -1)),
    "a variance": ("%a: Tensor[(?, 3), float32]", "variance(%a, axis=[0], unbiased=True)", (X,), X.var(0, ddof=1)),
    "a mean of integers": ("%a: Tensor[(?, 3), int32]", "mean(%a, axis=[0])", (X.astype("int32"),),
                           X.astype(int).sum(0) // 2),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_a_size_is_computed_in_the_run(name: str) -> None:
    params, text, args, wanted = CASES[name]
    agree(both(f"def @main({params}) {{ {text} }}", *args), wanted)
