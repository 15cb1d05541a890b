"""More calls of operators that few programs have: images, simulated integers, sparse weights of convolutions.

What NumPy says of them is written place by place.
"""

from itertools import product

import numpy as np

from tests.passes.relay.operator_cases import Array, Case, f
from tests.passes.relay.rare_cases import compressed, given, mostly_zero


def reorganised(x: Array, step: int) -> Array:
    """Darknet's loops, on the elements one after the other."""
    n, c, h, w = x.shape
    flat, out, fewer = x.ravel(), np.zeros(x.size, x.dtype), c // step**2
    for b, k, j, i in product(range(n), range(c), range(h), range(w)):
        offset = k // fewer
        row, column = j * step + offset // step, i * step + offset % step
        out[i + w * (j + h * (k + c * b))] = flat[column + w * step * (row + h * step * (k % fewer + fewer * b))]
    return out.reshape(n, c * step**2, h // step, w // step)


def reorganisations() -> list[Case]:
    shapes = (((1, 4, 4, 4), 2), ((2, 8, 2, 6), 2), ((1, 9, 3, 6), 3), ((1, 3, 2, 2), 1), ((2, 4, 6, 2), 2))
    return [
        Case(f"vision.yolo_reorg(%a, stride={step})", (f(*shape),), given(reorganised(f(*shape), step)))
        for shape, step in shapes
    ]


def correlated(a: Array, b: Array, numbers: tuple[int, ...], *, is_multiply: bool) -> Array:
    window, reach, step, grid, pad = numbers
    a, b = (np.pad(item, [(0, 0)] * 2 + [(pad, pad)] * 2) for item in (a, b))
    border, radius = reach + window // 2, reach // grid
    height, width = (-(-(extent - 2 * border) // step) for extent in a.shape[2:])
    places = [k * grid for k in range(-radius, radius + 1)]
    out = np.zeros((len(a), len(places) ** 2, height, width), "float64")
    for (q, (dy, dx)), y, x in product(enumerate(product(places, places)), range(height), range(width)):
        top, left = y * step + reach, x * step + reach
        one = a[:, :, top : top + window, left : left + window].astype("float64")
        other = b[:, :, top + dy : top + dy + window, left + dx : left + dx + window]
        out[:, q, y, x] = (one * other if is_multiply else np.abs(one - other)).mean((1, 2, 3))
    return out


def correlations() -> list[Case]:
    cases: list[Case] = []
    for numbers, is_multiply in (
        ((1, 1, 1, 1, 1), True), ((3, 1, 1, 1, 2), True), ((1, 2, 2, 2, 2), False), ((3, 2, 2, 1, 3), True),
        ((1, 2, 1, 1, 0), False),
    ):  # fmt: skip
        a, b = f(2, 3, 7, 7), f(2, 3, 7, 7, low=0.0)
        window, reach, step, grid, pad = numbers
        attrs = (
            f"kernel_size={window}, max_displacement={reach}, stride1={step}, stride2={grid}, padding=[{pad}, {pad}]"
        )
        wanted = correlated(a, b, numbers, is_multiply=is_multiply)
        cases.append(Case(f"nn.correlation(%a, %b, {attrs}, is_multiply={is_multiply})", (a, b), given(wanted)))
    return cases


RANGES = {1: (-128, 127), 2: (0, 255), 3: (-(2**31), 2**31 - 1)}


def simulated() -> list[Case]:
    """Four types by number, and a scale for each row."""
    cases: list[Case] = []
    data = f(3, 4, low=-90.0, high=90.0)
    rows = np.array([0.25, 0.5, 2.0], "float32")
    for code, scale, zero in ((0, 0.5, 3), (1, 0.5, 3), (2, 0.25, -4), (3, 0.125, 7), (1, rows, 2)):
        code_, scale_, zero_ = (np.array(code, "int32"), np.array(scale, "float32"), np.array(zero, "int32"))
        each = scale_.reshape(-1, 1) if scale_.ndim else scale_
        args = (data, code_, scale_, zero_)
        low, high = RANGES.get(code, (0, 0))
        integers = np.clip(np.round(data / each) + zero, low, high) if code else data
        cases.append(Case("qnn.simulated_quantize(%a, %b, %c, %d, axis=0)", args, given(integers)))
        reals = (data - zero) * each if code else data
        cases.append(Case("qnn.simulated_dequantize(%a, %b, %c, %d, axis=0)", args, given(reals)))
    for kind, scale, low, high in ((0, 0.5, -8, 7), (1, 0.5, -8, 7), (2, 0.25, -128, 127), (3, 3, -2, 2), (1, 8, 0, 5)):
        args = (data, *(np.array(item, "float32") for item in (scale, low, high)))
        wanted = np.round(np.clip(data / scale, low, high)) * scale if kind else data
        text = f"relay.op.annotation.simulated_quantize(%a, %b, %c, %d, kind={kind})"
        cases.append(Case(text, args, given(wanted)))
    return cases


def packed_weights() -> list[Case]:
    cases: list[Case] = []
    for tile, zero, weight_zero in ((4, 0, 0), (8, 3, 0), (4, -2, 1), (16, 5, -5), (2, 1, 1)):
        rng = np.random.default_rng(tile)
        data, weight = (rng.integers(-20, 20, shape).astype("int8") for shape in ((3, 4), (16, 4)))
        tiles = weight.reshape(16 // tile, tile, 4).transpose(0, 2, 1).copy()
        wanted = (data.astype(int) - zero) @ (weight.astype(int) - weight_zero).T
        attrs = f'units=16, weight_layout="NC{tile}n"'
        text = f"qnn.contrib_dense_pack(%a, %b, {zero}, {weight_zero}, 0.5f, 0.25f, {attrs})"
        cases.append(Case(text, (data, tiles), given(wanted)))
    return cases


def sparse_weights() -> list[Case]:
    cases: list[Case] = []
    for seed, shape, is_last, block in (
        (1, (4, 6), True, (1, 1)), (2, (4, 6), False, (1, 1)), (3, (4, 6), True, (2, 3)), (4, (8, 2), False, (4, 1)),
        (5, (1, 3), True, (1, 1)),
    ):  # fmt: skip
        weight = mostly_zero(seed, *shape, share=0.6)
        data = f(2, 3, 4, shape[1])
        wanted = np.einsum("nhwc,oc->nhwo", data, weight)
        if not is_last:
            data, wanted = data.transpose(0, 3, 1, 2).copy(), wanted.transpose(0, 3, 1, 2)
        text = f'nn.sparse_conv2d(%a, %b, %c, %d, layout="{"NHWC" if is_last else "NCHW"}", kernel_size=[1, 1])'
        cases.append(Case(text, (data, *compressed(weight, block)), given(wanted)))
    return cases


def written_values() -> list[Case]:
    cases: list[Case] = []
    for shape, count, default in (((3, 4), 5, 0), ((6,), 2, -1), ((2, 3, 2), 4, 7), ((5, 1), 0, 3), ((1, 1), 1, 0)):
        rng = np.random.default_rng(count)
        flat = rng.choice(int(np.prod(shape)), count, replace=False)
        places = np.stack(np.unravel_index(flat, shape), 1).astype("int32").reshape(count, len(shape))
        values = rng.standard_normal(count).astype("float32")
        wanted = np.full(shape, default, "float32")
        wanted[tuple(places.T)] = values
        args = (places, values, np.array(default, "float32"), np.array(shape))
        cases.append(Case("dyn.sparse_to_dense(%a, %b, %c, %d)", args, given(wanted)))
    return cases


def wider() -> list[Case]:
    cases: list[Case] = []
    for scales in ((2, 1, 3), (1, 1, 1), (2, 2, 2), (3, 1, 1), (1, 4, 2)):
        wanted = f(1, 2, 2, 3, 2)
        for axis, scale in enumerate(scales, 2):
            wanted = wanted.repeat(scale, axis)
        numbers = ", ".join(f"{scale}f" for scale in scales)
        cases.append(Case(f"dyn.nn.upsampling3d(%a, {numbers})", (f(1, 2, 2, 3, 2),), given(wanted)))
    return cases


IMAGE_CASES = (
    *reorganisations(), *correlations(), *simulated(), *packed_weights(), *sparse_weights(), *written_values(),
    *wider(),
)  # fmt: skip
