"""Images whose sizes only the run knows, parts of them, and places in shapes: both ways give what NumPy does."""

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest

from tests.passes.relay.operator_cases import Array
from tests.passes.relay.running import agree, both

IMAGE = np.random.default_rng(5).normal(size=(2, 3, 4, 6)).astype("float32")
SOLID = IMAGE[:, :, None]
TIES = np.array([5, 7, 5, 2, 7, 7], "int32")
ONE_IMAGE, ANY_IMAGE = "%a: Tensor[(2, 3, 4, 6), float32]", "%a: Tensor[(?, 3, ?, ?), float32]"
ONE_SOLID, ANY_SOLID = "%a: Tensor[(2, 3, 1, 4, 6), float32]", "%a: Tensor[(2, 3, ?, ?, ?), float32]"
FACTORS = "%b: float32, %c: float32"
SIZES = "%b: Tensor[(2), int64], %c: Tensor[(4), float32]"


def near(data: Array, *sizes: int) -> Array:
    """Read the element whose place, in the fraction of its axis, is not behind that of the result."""
    for axis, count in enumerate(sizes, data.ndim - len(sizes)):
        data = data.take(np.arange(count) * data.shape[axis] // count, axis)
    return data


def mixed(data: Array, *sizes: int, is_aligned: bool = False) -> Array:
    """Mix the two elements around a place: from corner to corner, or with the centres of pixels in mind."""
    for axis, count in enumerate(sizes, data.ndim - len(sizes)):
        old = data.shape[axis]
        at = np.arange(count) * (old - 1) / max(count - 1, 1)
        at = np.clip(at if is_aligned else (np.arange(count) + 0.5) * old / count - 0.5, 0, old - 1)
        low = np.minimum(at.astype(int), max(old - 2, 0))
        part = (at - low).reshape(-1, *(1,) * (data.ndim - axis - 1))
        data = data.take(low, axis) * (1 - part) + data.take(np.minimum(low + 1, old - 1), axis) * part
    return data


def parts(data: Array, *counts: int) -> Array:
    """Take the greatest element of each part, part by part."""
    out = np.empty((*data.shape[:2], *counts), data.dtype)
    for place in product(*map(range, counts)):
        bounds = tuple(
            slice(k * n // count, -(-(k + 1) * n // count))
            for k, n, count in zip(place, data.shape[2:], counts, strict=True)
        )
        out[(..., *place)] = data[(..., *bounds)].max(tuple(range(2, data.ndim)))
    return out


def different(data: Array, *, is_sorted: bool) -> tuple[Array, ...]:
    """Count each element where it is first seen, one after the other."""
    seen = list(dict.fromkeys(data.tolist()))
    seen = sorted(seen) if is_sorted else seen
    filled = [0] * (len(data) - len(seen))
    columns = (
        seen + filled,
        [data.tolist().index(item) for item in seen] + filled,
        [seen.index(item) for item in data.tolist()],
        [len(seen)],
        [data.tolist().count(item) for item in seen] + filled,
    )
    return tuple(np.array(item, "int32") for item in columns)


def f(value: float) -> Array:
    return np.array(value, "float32")


def v(*values: int) -> Array:
    return np.array(values, "int64")


NONE = np.zeros(4, "float32")
SHAPES = "%a: Tensor[(?,), int64], %b: Tensor[(?,), int64]"
CASES: dict[str, tuple[str, str, tuple[Array, ...], Callable[[], Any]]] = {
    "factors that are values": (f"{ONE_IMAGE}, {FACTORS}", "dyn.nn.upsampling(%a, %b, %c)",
                                (IMAGE, f(2), f(1.5)), lambda: near(IMAGE, 8, 9)),
    "a factor that is a value": (f"{ONE_IMAGE}, %b: float32", "dyn.nn.upsampling(%a, %b, 2f)",
                                 (IMAGE, f(1.25)), lambda: near(IMAGE, 5, 12)),
    "factors of unknown sizes": (ANY_IMAGE, "nn.upsampling(%a, scale_h=2f, scale_w=1.5f)",
                                 (IMAGE,), lambda: near(IMAGE, 8, 9)),
    "from corner to corner": (f"{ANY_IMAGE}, {FACTORS}",
                              'dyn.nn.upsampling(%a, %b, %c, method="bilinear", align_corners=True)',
                              (IMAGE, f(2), f(1.5)), lambda: mixed(IMAGE, 8, 9, is_aligned=True)),
    "a mixture": (ANY_IMAGE, 'nn.upsampling(%a, scale_h=3f, scale_w=2f, method="bilinear")',
                  (IMAGE,), lambda: mixed(IMAGE, 12, 12)),
    "three factors": (f"{ONE_SOLID}, {FACTORS}, %d: float32", "dyn.nn.upsampling3d(%a, %b, %c, %d)",
                      (SOLID, f(2), f(2), f(0.5)), lambda: near(SOLID, 2, 8, 3)),
    "three factors of unknown sizes": (
        ANY_SOLID, 'nn.upsampling3d(%a, scale_d=1f, scale_h=2f, scale_w=1.5f, method="trilinear")',
        (SOLID,), lambda: mixed(SOLID, 1, 8, 9)),
    "sizes that are values": (f"{ONE_IMAGE}, {SIZES}", "dyn.image.resize2d(%a, %b, %c)",
                              (IMAGE, v(5, 7), NONE), lambda: mixed(IMAGE, 5, 7)),
    "sizes of an unknown image": (f"{ANY_IMAGE}, {SIZES}",
                                  'dyn.image.resize2d(%a, %b, %c, coordinate_transformation_mode="align_corners")',
                                  (IMAGE, v(3, 9), NONE), lambda: mixed(IMAGE, 3, 9, is_aligned=True)),
    "the greatest of overlapping parts": (ONE_IMAGE, "nn.adaptive_max_pool2d(%a, output_size=[3, 4])",
                                          (IMAGE,), lambda: parts(IMAGE, 3, 4)),
    "the greatest of more parts than elements": (ONE_IMAGE, "nn.adaptive_max_pool2d(%a, output_size=[6, 8])",
                                                 (IMAGE,), lambda: parts(IMAGE, 6, 8)),
    "the greatest of unknown parts": (ANY_IMAGE, "nn.adaptive_max_pool2d(%a, output_size=[3, 2])",
                                      (IMAGE,), lambda: parts(IMAGE, 3, 2)),
    "as many parts as elements": (ANY_IMAGE, "nn.adaptive_max_pool2d(%a)", (IMAGE,), lambda: IMAGE),
    "the greatest part of a solid": (ANY_SOLID, "nn.adaptive_max_pool3d(%a, output_size=[1, 3, 4])",
                                     (SOLID,), lambda: parts(SOLID, 1, 3, 4)),
    "a buffer of unknown length": (
        "%a: Tensor[(?, 6), float32], %b: Tensor[(?, 6), float32]", "nn.fifo_buffer(%a, %b, axis=0)",
        (IMAGE[0, 0, :3], IMAGE[0, 1]), lambda: np.concatenate([IMAGE[0, 1, 3:], IMAGE[0, 0, :3]])),
    "places in a shape": (SHAPES, "unravel_index(%a, %b)", (v(5, 7, 22), v(2, 3, 4)),
                          lambda: np.stack(np.unravel_index(v(5, 7, 22), (2, 3, 4)))),
    "places in a matrix of shapes": ("%a: Tensor[(?, 2), int32], %b: Tensor[(2,), int32]", "unravel_index(%a, %b)",
                                     (v(5, 7, 9, 0).reshape(2, 2).astype("int32"), v(4, 3).astype("int32")),
                                     lambda: np.stack(np.unravel_index(v(5, 7, 9, 0).reshape(2, 2), (4, 3)))),
    "what differs": ("%a: Tensor[(?,), int32]", "unique(%a, return_counts=True)",
                     (TIES,), lambda: different(TIES, is_sorted=True)),
    "what differs, as it comes": ("%a: Tensor[(?,), int32]", "unique(%a, sorted=False, return_counts=True)",
                                  (TIES,), lambda: different(TIES, is_sorted=False)),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_both_ways_give_what_numpy_does(name: str) -> None:
    params, text, args, wanted = CASES[name]
    agree(both(f"def @main({params}) {{ {text} }}", *args), wanted())
