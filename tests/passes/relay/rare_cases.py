"""Calls of operators that few programs have, five of each, with what NumPy says they mean.

Sparse tensors are made dense element by element, packed words bit by bit, windows place by place.
"""

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np

from tests.passes.relay.operator_cases import Array, Case, f


def compressed(dense: Array, block: tuple[int, int] = (1, 1)) -> tuple[Array, Array, Array]:
    """Return the entries that are not zero row by row, or blocks of them, their columns, and where rows start."""
    rows, columns = (size // extent for size, extent in zip(dense.shape, block, strict=True))
    entries: list[Array] = []
    inner: list[int] = []
    starts = [0]
    for row in range(rows):
        for column in range(columns):
            part = dense[row * block[0] : (row + 1) * block[0], column * block[1] : (column + 1) * block[1]]
            if part.any():
                entries.append(part)
                inner.append(column)
        starts.append(len(inner))
    shape = () if block == (1, 1) else block
    return np.array(entries, dense.dtype).reshape(-1, *shape), np.array(inner, "int32"), np.array(starts, "int32")


def mostly_zero(seed: int, *shape: int, share: float = 0.3) -> Array:
    rng = np.random.default_rng(seed)
    return (rng.standard_normal(shape) * (rng.random(shape) < share)).astype("float32")


MATRICES = (mostly_zero(1, 3, 4, share=0.5), mostly_zero(2, 5, 7), mostly_zero(3, 6, 4), mostly_zero(4, 1, 9),
            np.diag([1.0, 0, 3, 0]).astype("float32"))  # fmt: skip
BLOCKS = (((2, 2), mostly_zero(5, 4, 6)), ((2, 3), mostly_zero(6, 6, 6)))
SQUARES = (np.diag([1.0, 0, 3, 0]).astype("float32"), *(mostly_zero(seed, 5, 5, share=0.4) for seed in range(7, 10)),
           mostly_zero(11, 2, 2, share=0.9))  # fmt: skip


def given(value: Any) -> Callable[..., Any]:
    return lambda *_: value


def products() -> list[Case]:
    cases: list[Case] = []
    for block, dense in (*(((1, 1), item) for item in MATRICES), *BLOCKS):
        data = f(3, dense.shape[1])
        cases.append(Case("nn.sparse_dense(%a, %b, %c, %d)", (data, *compressed(dense, block)), given(data @ dense.T)))
    for dense in SQUARES[:2]:
        data = f(*dense.shape)
        text = "nn.sparse_dense(%a, %b, %c, %d, sparse_lhs=True)"
        cases.append(Case(text, (data, *compressed(dense)), given(dense @ data.T)))
    return cases


def sums() -> list[Case]:
    return [
        Case("nn.sparse_add(%a, %b, %c, %d)", (f(*dense.shape), *compressed(dense)), given(f(*dense.shape) + dense))
        for dense in MATRICES
    ]


def transposes() -> list[Case]:
    return [
        Case("nn.sparse_transpose(%a, %b, %c)", compressed(dense), given(compressed(dense.T.copy())))
        for dense in SQUARES
    ]


def other_shapes() -> list[Case]:
    cases: list[Case] = []
    for before, after in (((2, 3, 4), (4, 6)), ((6, 4), (2, 3, 4)), ((12,), (3, 4)), ((2, 3, 4), (9, -1)[::-1]),
                          ((4, 5), (2, -1, 5))):  # fmt: skip
        total = int(np.prod(before))
        whole = tuple(int(total / -np.prod(after)) if item == -1 else item for item in after)
        flat = np.array([k for k in range(total) if k % 3 != 1 and k < int(np.prod(whole))])
        places = np.stack(np.unravel_index(flat, before), 1).astype("int64")
        moved = np.stack(np.unravel_index(flat, whole), 1)
        args = (places, np.array(before), np.array(after))
        cases.append(Case("sparse_reshape(%a, %b, %c)", args, given((moved, np.array(whole)))))
    return cases


def numbers_once() -> list[Case]:
    cases: list[Case] = []
    for values, is_sorted, is_counted in (
        ((-1, 7, -1, 0, 7, 3, 9), False, True), ((3, 1, 3, 2, 1, 1), True, True), ((5,), True, False),
        ((2, 2, 2, 2), False, False), ((4, 3, 2, 1, 0), True, False),
    ):  # fmt: skip
        data = np.array(values, "int32")
        once = sorted(set(values)) if is_sorted else list(dict.fromkeys(values))
        parts = [once, [values.index(item) for item in once], [once.index(item) for item in values], [len(once)]]
        parts += [[values.count(item) for item in once]] if is_counted else []
        sizes = [len(values)] * 3 + [1] + [len(values)]
        filled = tuple(np.array(part + [0] * (size - len(part))) for part, size in zip(parts, sizes, strict=False))
        text = f"unique(%a, sorted={is_sorted}, return_counts={is_counted})"
        cases.append(Case(text, (data,), given(filled)))
    return cases


def words(data: Array, bits: int, axis: int, place: int, dtype: str) -> Array:
    width = np.dtype(dtype).itemsize * 8
    moved = np.moveaxis(data, axis, -1)
    planes: list[Array] = []
    for bit in range(bits):
        plane = np.zeros((*moved.shape[:-1], moved.shape[-1] // width), dtype)
        for k in range(moved.shape[-1]):
            one = ((moved[..., k] >> bit) & 1).astype(dtype)
            plane[..., k // width] |= one << np.array(width - 1 - k % width, dtype)
        planes.append(np.moveaxis(plane, -1, axis))
    return np.stack(planes, place)


def small(limit: int, *shape: int) -> Array:
    return np.random.default_rng(limit + len(shape)).integers(0, limit, shape).astype("int32")


def packs() -> list[Case]:
    cases: list[Case] = []
    for shape, bits, axis, place, dtype in (
        ((2, 8), 1, 1, 2, "uint8"), ((3, 16), 2, 1, 1, "uint8"), ((2, 32, 3), 3, 1, 0, "uint32"),
        ((16, 2), 2, 0, 2, "uint16"), ((1, 64, 2), 1, 1, 3, "uint64"),
    ):  # fmt: skip
        data = small(1 << bits, *shape)
        text = f'nn.bitpack(%a, bits={bits}, pack_axis={axis}, bit_axis={place}, pack_type="{dtype}")'
        cases.append(Case(text, (data,), given(words(data, bits, axis, place, dtype))))
    return cases


def by_bits(d: int, w: int, bits: tuple[int, int], *, is_unipolar: bool) -> int:
    total = 0
    for i, j in product(*map(range, bits)):
        one, other = d >> i & 1, w >> j & 1
        total += (one * other - (one * (1 - other) if is_unipolar else 0)) << (i + j)
    return total


def packed_products() -> list[Case]:
    cases: list[Case] = []
    for (bits, weight_bits), is_unipolar, is_packed in (
        ((1, 1), True, False), ((2, 1), True, True), ((2, 2), False, False), ((3, 2), True, False),
        ((1, 2), False, True),
    ):  # fmt: skip
        data, weight = small(1 << bits, 3, 16), small(1 << weight_bits, 4, 16)
        pair = (bits, weight_bits)
        wanted = np.array([
            [sum(by_bits(int(d), int(w), pair, is_unipolar=is_unipolar) for d, w in zip(row, column, strict=True))
             for column in weight] for row in data
        ])  # fmt: skip
        second = words(weight, weight_bits, 1, 1, "uint8") if is_packed else weight
        attrs = f'units=4, data_bits={bits}, weight_bits={weight_bits}, pack_dtype="uint8", unipolar={is_unipolar}'
        cases.append(Case(f"nn.bitserial_dense(%a, %b, {attrs})", (data, second), given(wanted)))
    return cases


def convolved(data: Array, weight: Array, stride: int, pad: int) -> Array:
    """Convolve over all axes behind the second, window by window."""
    count = data.ndim - 2
    padded = np.pad(data, [(0, 0)] * 2 + [(pad, pad)] * count)
    view = np.lib.stride_tricks.sliding_window_view(padded, weight.shape[2:], tuple(range(2, 2 + count)))
    view = view[(slice(None), slice(None), *(slice(None, None, stride),) * count)]
    axes = (1, *range(2 + count, 2 + 2 * count))
    return np.moveaxis(np.tensordot(view, weight, (axes, (1, *range(2, 2 + count)))), -1, 1)


def packed_convolutions() -> list[Case]:
    cases: list[Case] = []
    for bits, weight_bits, is_unipolar, stride, is_last in (
        (1, 1, True, 1, False), (2, 1, True, 2, False), (2, 2, False, 1, True), (3, 2, True, 1, True),
        (1, 2, False, 2, False),
    ):  # fmt: skip
        data, weight = small(1 << bits, 2, 8, 5, 6), small(1 << weight_bits, 3, 8, 3, 3)
        meant = 2 * weight - ((1 << weight_bits) - 1) if is_unipolar else weight
        wanted = convolved(data, meant, stride, 1)
        layouts = 'data_layout="NHWC", kernel_layout="HWIO"' if is_last else 'data_layout="NCHW"'
        attrs = (
            f"channels=3, kernel_size=[3, 3], strides=[{stride}, {stride}], padding=[1, 1, 1, 1], "
            f'activation_bits={bits}, weight_bits={weight_bits}, pack_dtype="uint8", unipolar={is_unipolar}, {layouts}'
        )
        if is_last:
            data, weight, wanted = (
                item.transpose(order).copy()
                for item, order in ((data, (0, 2, 3, 1)), (weight, (2, 3, 1, 0)), (wanted, (0, 2, 3, 1)))
            )
        cases.append(Case(f"nn.bitserial_conv2d(%a, %b, {attrs})", (data, weight), given(wanted)))
    return cases


def transformed_convolutions() -> list[Case]:
    """The weight's half and the data's half together are a convolution."""
    cases: list[Case] = []
    for shape, tile, window, pad in (
        ((1, 2, 6, 6), 2, 3, 1), ((2, 3, 7, 5), 4, 3, 1), ((1, 1, 9, 8), 2, 5, 0), ((1, 2, 8, 8), 4, 3, 0),
        ((2, 1, 6, 6), 4, 4, 1), ((1, 2, 7, 7), 6, 3, 1), ((1, 2, 4, 5, 6), 2, 3, 1), ((1, 2, 5, 4, 4), 2, 3, 0),
        ((1, 1, 4, 4, 4), 4, 3, 1), ((2, 1, 3, 4, 3), 2, 3, 1), ((1, 3, 3, 3, 3), 2, 3, 0),
    ):  # fmt: skip
        count = len(shape) - 2
        data, weight = f(*shape), f(3, shape[1], *(window,) * count)
        sizes = f"[{', '.join([str(window)] * count)}]"
        attrs = f"tile_size={tile}, kernel_size={sizes}, channels=3, padding=[{', '.join([str(pad)] * 2 * count)}]"
        name = f"nn.contrib_conv{count}d_winograd"
        text = f"{name}_without_weight_transform(%a, {name}_weight_transform(%b, tile_size={tile}), {attrs})"
        cases.append(Case(text, (data, weight), given(convolved(data, weight, 1, pad))))
    return cases


def weight_gradients() -> list[Case]:
    cases: list[Case] = []
    for shape, window, stride, pad, step in (
        ((2, 3, 6, 6), 3, 1, 1, 1), ((1, 2, 7, 7), 3, 2, 0, 1), ((2, 1, 8, 7), 2, 2, 1, 1), ((1, 2, 6, 6), 1, 1, 0, 1),
        ((1, 2, 9, 9), 3, 1, 0, 2),
    ):  # fmt: skip
        data = f(*shape)
        padded = np.pad(data, [(0, 0)] * 2 + [(pad, pad)] * 2)
        sizes = [(padded.shape[k] - step * (window - 1) - 1) // stride + 1 for k in (2, 3)]
        grad = f(shape[0], 4, *sizes)
        wanted = np.zeros((4, shape[1], window, window), "float32")
        for y, x in product(range(window), repeat=2):
            part = padded[:, :, y * step :: stride, x * step :: stride][:, :, : sizes[0], : sizes[1]]
            wanted[:, :, y, x] = np.einsum("nohw,nihw->oi", grad, part)
        attrs = f"strides=[{stride}, {stride}], padding=[{pad}, {pad}, {pad}, {pad}], dilation=[{step}, {step}]"
        text = f"nn.conv2d_backward_weight(%a, %b, {attrs}, kernel_size=[{window}, {window}], channels=4)"
        cases.append(Case(text, (grad, data), given(wanted)))
    return cases


CASES = (
    *products(), *sums(), *transposes(), *other_shapes(), *numbers_once(), *packs(), *packed_products(),
    *packed_convolutions(), *transformed_convolutions(), *weight_gradients(),
)  # fmt: skip
