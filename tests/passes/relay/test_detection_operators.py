"""Boxes of anchors, rows without entries, and weights in tiles: both ways give what is written element by element."""

import numpy as np
import pytest

import relax_core as rc
from relax_core.diagnostics import RunError
from tests.narrow import as_tuple
from tests.passes.relay.operator_cases import Array, Case, f
from tests.passes.relay.rare_cases import MATRICES, compressed, given
from tests.passes.relay.running import agree, both, parsed
from tests.passes.relay.test_operators_to_relax import program


def moved(anchor: Array, place: Array, variances: tuple[float, ...], *, is_clipped: bool) -> Array:
    """Move the centre of one anchor and scale its sides."""
    left, top, right, bottom = map(float, anchor)
    x, y, w, h = (float(item) * by for item, by in zip(place, variances, strict=True))
    width, height = right - left, bottom - top
    x, y = x * width + (left + right) / 2, y * height + (top + bottom) / 2
    half_width, half_height = np.exp(w) * width / 2, np.exp(h) * height / 2
    box = np.array([x - half_width, y - half_height, x + half_width, y + half_height])
    return np.clip(box, 0, 1) if is_clipped else box


def detected(
    args: tuple[Array, ...], threshold: float, variances: tuple[float, ...], *, is_clipped: bool
) -> tuple[Array, Array]:
    """Look at each anchor in turn."""
    classes, places, anchors = args
    batch, _, count = classes.shape
    out, counts = np.full((batch, count, 6), -1.0, "float32"), np.zeros(batch, "int32")
    for image in range(batch):
        for k in range(count):
            kind = int(classes[image, 1:, k].argmax())
            score = classes[image, kind + 1, k]
            if score >= threshold:
                place = places[image, 4 * k : 4 * k + 4]
                box = moved(anchors[0, k], place, variances, is_clipped=is_clipped)
                out[image, counts[image]] = (kind, score, *box)
                counts[image] += 1
    return out, counts


def detections() -> list[Case]:
    cases: list[Case] = []
    usual = (0.1, 0.1, 0.2, 0.2)
    for shape, threshold, variances, is_clipped in (
        ((1, 3, 5), 0.01, usual, True), ((2, 4, 6), 0.5, usual, True), ((2, 2, 7), 0.7, (1.0, 1.0, 1.0, 1.0), False),
        ((1, 3, 4), 2.0, usual, True), ((3, 5, 3), 0.0, (0.5, 0.25, 0.125, 1.0), True),
    ):  # fmt: skip
        anchors = np.sort(f(1, shape[2], 2, 2, low=0.0), 2).reshape(1, shape[2], 4)
        args = (f(*shape, low=0.0), f(shape[0], 4 * shape[2]), anchors)
        wanted = detected(args, threshold, variances, is_clipped=is_clipped)
        attrs = f"clip={is_clipped}, threshold={threshold}f, variances={list(variances)}"
        cases.append(Case(f"vision.multibox_transform_loc(%a, %b, %c, {attrs})", args, given(wanted)))
    return cases


def filled(places: Array, values: Array, rows: int, default: Array) -> tuple[Array, Array, Array]:
    """Go through the rows, and write those without entries."""
    indices: list[list[int]] = []
    entries: list[float] = []
    is_empty: list[bool] = []
    for row in range(rows):
        here = [k for k, place in enumerate(places.tolist()) if place[0] == row]
        is_empty.append(not here)
        indices += [places[k].tolist() for k in here] or [[row] + [0] * (places.shape[1] - 1)]
        entries += [values[k] for k in here] or [default[()]]
    return np.array(indices, places.dtype), np.array(entries, values.dtype), np.array(is_empty)


def fillings() -> list[Case]:
    cases: list[Case] = []
    for places, shape in (
        ([[0, 1], [0, 3], [2, 0], [3, 1]], (5, 6)), ([[1, 1]], (3, 2)), ([[0, 0], [1, 1]], (2, 2)),
        ([[4, 0, 1], [1, 2, 0], [4, 1, 1]], (6, 3, 2)), ([[2]], (4,)),
    ):  # fmt: skip
        at, sizes = np.array(places, "int64"), np.array(shape, "int64")
        values, default = f(len(places), low=1.0, high=9.0), np.array(-7, "float32")
        wanted = filled(at, values, shape[0], default)
        cases.append(Case("sparse_fill_empty_rows(%a, %b, %c, %d)", (at, values, sizes, default), given(wanted)))
    return cases


def padded_products() -> list[Case]:
    cases: list[Case] = []
    for dense in MATRICES:
        data = f(3, dense.shape[1])
        text = "nn.internal.sparse_dense_padded(%a, %b, %c, %d)"
        cases.append(Case(text, (data, *compressed(dense)), given(data @ dense.T)))
    return cases


def tiled(weight: Array, tall: int, wide: int) -> Array:
    """Put each element where its tile has it."""
    flat = weight.reshape(-1, weight.shape[-1])
    inner, outs = flat.shape
    out = np.zeros((-(-outs // tall), -(-inner // wide), tall, wide), weight.dtype)
    for k in range(inner):
        for n in range(outs):
            out[n // tall, k // wide, n % tall, k % wide] = flat[k, n]
    return out


TILES = (((3, 3, 2, 5), 4, 4), ((1, 1, 4, 4), 4, 4), ((2, 3, 3, 7), 2, 8), ((3, 3, 1, 3), 1, 1), ((1, 2, 2, 9), 8, 3))


def tilings() -> list[Case]:
    name = "nn.contrib_conv2d_gemm_weight_transform"
    return [
        Case(f"{name}(%a, tile_N={tall}, tile_K={wide})", (f(*shape),), given(tiled(f(*shape), tall, wide)))
        for shape, tall, wide in TILES
    ]


def convolutions() -> list[Case]:
    """Convolve place by place, and give the weight in tiles."""
    cases: list[Case] = []
    for shape, tall, wide in TILES:
        height, width, inner, outs = shape
        weight, data = f(*shape), f(2, 5, 6, inner)
        wanted = np.zeros((2, 6 - height, 7 - width, outs), "float32")
        for y in range(6 - height):
            for x in range(7 - width):
                part = data[:, y : y + height, x : x + width]
                wanted[:, y, x] = np.einsum("nhwi,hwio->no", part, weight)
        attrs = f'data_layout="NHWC", channels={outs}, kernel_size=[{height}, {width}], padding=[0, 0, 0, 0]'
        text = f"nn.contrib_conv2d_gemm_without_weight_transform(%a, %b, {attrs})"
        cases.append(Case(text, (data, tiled(weight, tall, wide)), given(wanted)))
    return cases


CASES = (*detections(), *fillings(), *padded_products(), *tilings(), *convolutions())
FIRST = tuple({case.op: case for case in reversed(CASES)}.values())


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_call_gives_what_is_written_element_by_element(case: Case) -> None:
    found, wanted = rc.evaluate(parsed(program(case)), "main", *case.args), case.compute(*case.args)
    agree(found, wanted)
    assert all(a.dtype == b.dtype for a, b in zip(as_tuple(found), as_tuple(wanted), strict=True))


@pytest.mark.parametrize("case", FIRST, ids=str)
def test_the_machine_gives_it_too(case: Case) -> None:
    agree(both(program(case), *case.args), case.compute(*case.args))


def test_a_background_with_a_box_is_refused() -> None:
    (case, *_) = detections()
    text = program(case).replace("clip=", "keep_background=True, clip=")
    with pytest.raises(RunError, match="keep_background=True"):
        rc.evaluate(parsed(text), "main", *case.args)
