"""Inputs for convolution, pooling, normalization, attention, images and quantization."""

import numpy as np

from tests.ops.cases import Case, floats, ints, signed

_1, _2, _3 = (1,), (1, 1), (1, 1, 1)


def _conv(data: tuple[int, ...], weight: tuple[int, ...], words: str, **given: object) -> Case:
    rank = len(words_rank(given, data))
    letters = ("", "W", "HW", "DHW")[rank]
    values = {
        "strides": (1,) * rank,
        "padding": (0,) * rank,
        "dilation": (1,) * rank,
        "groups": 1,
        "data_layout": f"NC{letters}",
        "kernel_layout": f"OI{letters}",
        "out_layout": None,
        "out_dtype": None,
        **given,
    }
    return Case(f"nn.conv{rank}d", (signed(*data), floats(*weight), *values.values()), words)


def words_rank(given: dict[str, object], data: tuple[int, ...]) -> str:
    name = str(given.get("data_layout", "NCDHW"[: len(data)]))
    return "".join(letter for letter in name if letter.isupper())[2:]


def _transposed(data: tuple[int, ...], weight: tuple[int, ...], words: str, **given: object) -> Case:
    rank = len(data) - 2
    letters = ("", "W", "HW", "DHW")[rank]
    values = {
        "strides": (1,) * rank,
        "padding": (0,) * rank,
        "output_padding": (0,) * rank,
        "dilation": (1,) * rank,
        "groups": 1,
        "data_layout": f"NC{letters}",
        "kernel_layout": f"IO{letters}",
        "out_layout": None,
        "out_dtype": None,
        **given,
    }
    return Case(f"nn.conv{rank}d_transpose", (signed(*data), floats(*weight), *values.values()), words)


CONVOLUTIONS = (
    _conv((1, 3, 7), (4, 3, 3), "plain"),
    _conv((2, 3, 7), (4, 3, 3), "with strides", strides=(2,), padding=(1,)),
    _conv((1, 4, 7), (4, 2, 3), "in groups", groups=2, padding=(1, 0)),
    _conv((1, 3, 9), (2, 3, 3), "dilated", dilation=(2,)),
    _conv((1, 7, 3), (4, 3, 3), "NWC", data_layout="NWC"),
    _conv((1, 3, 6, 7), (4, 3, 3, 3), "plain"),
    _conv((2, 3, 6, 7), (4, 3, 3, 2), "with strides", strides=(2, 1), padding=(1, 0, 1, 1)),
    _conv((1, 4, 6, 6), (8, 2, 3, 3), "in groups", groups=2, padding=(1, 1)),
    _conv((1, 6, 7, 3), (3, 3, 3, 4), "NHWC HWIO", data_layout="NHWC", kernel_layout="HWIO"),
    _conv((1, 3, 8, 8), (4, 3, 3, 3), "dilated", dilation=(2, 2), padding=(2, 2)),
    _conv((1, 3, 5, 5), (4, 3, 1, 1), "to NHWC", out_layout="NHWC"),
    _conv((1, 4, 5, 5), (4, 1, 3, 3), "depthwise", groups=4, padding=(1, 1)),
    _conv((1, 2, 4, 5, 4), (3, 2, 2, 3, 2), "plain"),
    _conv((1, 2, 4, 5, 4), (3, 2, 2, 2, 2), "with strides", strides=(1, 2, 2)),
    _conv((1, 2, 4, 4, 4), (4, 1, 2, 2, 2), "in groups", groups=2, padding=(1, 0, 1)),
    _conv((1, 4, 4, 4, 2), (3, 2, 2, 2, 2), "NDHWC", data_layout="NDHWC"),
    _conv((1, 2, 5, 5, 5), (2, 2, 2, 2, 2), "dilated", dilation=(2, 1, 2)),
    _transposed((1, 3, 5), (3, 2, 3), "plain"),
    _transposed((1, 3, 5), (3, 2, 3), "with strides", strides=(2,), padding=(1,), output_padding=(1,)),
    _transposed((1, 4, 5), (4, 2, 3), "in groups", groups=2),
    _transposed((2, 3, 5), (3, 2, 2), "dilated", dilation=(2,)),
    _transposed((1, 3, 4), (3, 4, 3), "padded", padding=(1, 0)),
    _transposed((1, 3, 4, 5), (3, 2, 3, 3), "plain"),
    _transposed((1, 3, 4, 4), (3, 2, 3, 3), "with strides", strides=(2, 2), padding=(1, 1), output_padding=(1, 1)),
    _transposed((1, 4, 3, 3), (4, 2, 2, 2), "in groups", groups=2),
    _transposed((1, 3, 4, 4), (3, 2, 2, 2), "padded", padding=(1, 0, 0, 1), strides=(2, 1)),
    _transposed((2, 2, 3, 3), (2, 3, 3, 1), "of a batch"),
    _transposed((1, 2, 3, 3, 3), (2, 2, 2, 2, 2), "plain"),
    _transposed((1, 2, 2, 3, 2), (2, 3, 2, 2, 2), "with strides", strides=(2, 2, 2)),
    _transposed((1, 2, 3, 3, 3), (2, 2, 2, 3, 2), "padded", padding=(1, 1, 0)),
    _transposed((1, 4, 2, 2, 2), (4, 1, 2, 2, 2), "in groups", groups=2),
    _transposed((1, 2, 2, 2, 2), (2, 2, 3, 3, 3), "with output padding", strides=(2, 2, 2), output_padding=(1, 1, 0)),
)

_DATA = {1: (2, 3, 7), 2: (1, 3, 6, 7), 3: (1, 2, 4, 5, 6)}


def _pools(kind: str, rank: int) -> tuple[Case, ...]:
    letters = ("", "W", "HW", "DHW")[rank]
    op, one = f"nn.{kind}_pool{rank}d", (1,) * rank
    plain = (f"NC{letters}", None)
    data = signed(*_DATA[rank])
    last = np.moveaxis(data, 1, -1)
    return (
        Case(op, (data, (2,) * rank, one, (0,) * rank, one, False, False, *plain), "plain"),
        Case(op, (data, (3,) * rank, (2,) * rank, (1,) * rank, one, False, False, *plain), "padded"),
        Case(op, (data, (3,) * rank, (2,) * rank, (1,) * rank, one, False, True, *plain), "counts padding"),
        Case(op, (data, (2,) * rank, (2,) * rank, (0,) * rank, one, True, False, *plain), "rounds up"),
        Case(op, (data, (2,) * rank, one, (0,) * rank, (2,) * rank, False, False, *plain), "dilated"),
        Case(op, (last, (2,) * rank, one, (0,) * rank, one, False, False, f"N{letters}C", None), "channels last"),
    )


def _adaptive(rank: int) -> tuple[Case, ...]:
    letters = ("", "W", "HW", "DHW")[rank]
    op, plain, data = f"nn.adaptive_avg_pool{rank}d", (f"NC{letters}", None), signed(*_DATA[rank])
    sizes = ((1,) * rank, (2,) * rank, (3,) * rank, None)
    return (
        *(Case(op, (data, size, *plain), f"to {size}") for size in sizes),
        Case(op, (np.moveaxis(data, 1, -1), (2,) * rank, f"N{letters}C", None), "channels last"),
    )


POOLS = (
    *(case for kind in ("max", "avg") for rank in (1, 2, 3) for case in _pools(kind, rank)),
    *(case for rank in (1, 2, 3) for case in _adaptive(rank)),
)
_SCALES = tuple(floats(3) for _ in range(2))
NORMALIZATIONS = (
    *(
        Case(
            "nn.batch_norm", (data, *(floats(size) for _ in range(4)), axis, 1e-5, center, scale, 0.1, training), words
        )
        for data, size, axis, center, scale, training, words in (
            (signed(2, 3, 4), 3, 1, True, True, False, "at inference"),
            (signed(2, 3, 4), 3, 1, True, True, True, "in training"),
            (signed(2, 4, 3), 3, -1, True, False, False, "last axis, no scale"),
            (signed(5, 3), 3, 1, False, True, True, "of rank 2"),
            (signed(2, 3, 4, 5), 3, 1, True, True, True, "of images"),
        )
    ),
    *(
        Case("nn.layer_norm", (data, floats(*shape), floats(*shape), axes, 1e-5, True, True), words)
        for data, shape, axes, words in (
            (signed(2, 3), (3,), (-1,), "rows"),
            (signed(2, 3, 4), (3, 4), (1, 2), "two axes"),
            (signed(2, 3, 4), (3,), (1,), "the middle axis"),
            (signed(5), (5,), (0,), "of a vector"),
            (signed(2, 3, dtype="float32") * 3, (3,), (1,), "spread"),
        )
    ),
    *(
        Case("nn.group_norm", (data, floats(4), floats(4), groups, channel, axes, 1e-5, True, True), words)
        for data, groups, channel, axes, words in (
            (signed(2, 4, 3), 2, 1, (2,), "two groups"),
            (signed(2, 4, 3, 5), 2, 1, (2, 3), "of images"),
            (signed(2, 4, 3), 1, 1, (2,), "one group"),
            (signed(2, 4, 3), 4, 1, (2,), "a group each"),
            (signed(3, 4, 2), 2, -2, (-1,), "negative axes"),
        )
    ),
    *(
        Case("nn.instance_norm", (data, *_SCALES, channel, axes, 1e-5, True, True), words)
        for data, channel, axes, words in (
            (signed(2, 3, 4), 1, (2,), "of rows"),
            (signed(2, 3, 4, 5), 1, (2, 3), "of images"),
            (signed(2, 4, 3), 2, (1,), "channels last"),
            (signed(1, 3, 5), 1, (-1,), "of one"),
            (signed(2, 3, 2, 2), -3, (2, 3), "negative channel"),
        )
    ),
    *(
        Case("nn.rms_norm", (data, floats(*shape), axes, 1e-5), words)
        for data, shape, axes, words in (
            (signed(2, 3), (3,), (-1,), "rows"),
            (signed(2, 3, 4), (3, 4), (1, 2), "two axes"),
            (signed(5), (5,), (0,), "of a vector"),
            (signed(2, 3, 4), (4,), (2,), "of a stack"),
            (signed(3, 5) * 2, (5,), (-1,), "spread"),
        )
    ),
)
_NONE = (None, None, None)
ATTENTION = (
    *(
        Case(
            "nn.attention",
            (signed(2, 3, 2, 5), floats(2, keys, 2, 5), signed(2, keys, 2, width), bias, scale, mask, None),
            words,
        )
        for keys, width, bias, scale, mask, words in (
            (4, 5, None, None, None, "plain"),
            (3, 6, None, 0.5, None, "scaled"),
            (3, 5, None, None, "TopLeft", "causal from the top"),
            (4, 5, None, None, "BottomRight", "causal to the bottom"),
            (4, 5, signed(2, 2, 3, 4), None, None, "with a bias"),
        )
    ),
    *(
        Case(
            "nn.attention_bias",
            (signed(2, 3, 2, 5), floats(2, 4, 2, 5), signed(2, 4, 2, 5), signed(*bias), scale, mask, None),
            words,
        )
        for bias, scale, mask, words in (
            ((2, 2, 3, 4), None, None, "plain"),
            ((1, 2, 3, 4), 0.5, None, "scaled"),
            ((2, 1, 3, 4), None, None, "one head"),
            ((1, 1, 3, 4), None, None, "of all"),
            ((2, 2, 3, 4), None, "TopLeft", "causal from the top"),
        )
    ),
    *(
        Case(
            "nn.attention_var_len",
            (
                signed(1, 5, 2, 3),
                floats(1, 6, 2, 3),
                signed(1, 6, 2, 4),
                np.array(q, "int32"),
                np.array(5, "int32"),
                np.array(k, "int32"),
                np.array(6, "int32"),
                scale,
                mask,
                None,
            ),
            words,
        )
        for q, k, scale, mask, words in (
            ([0, 5], [0, 6], None, None, "one sequence"),
            ([0, 2, 5], [0, 4, 6], None, None, "two sequences"),
            ([0, 2, 5], [0, 3, 6], 0.5, None, "scaled"),
            ([0, 2, 5], [0, 2, 6], None, "TopLeft", "causal from the top"),
            ([0, 1, 5], [0, 2, 6], None, "BottomRight", "causal to the bottom"),
        )
    ),
)
_RESIZE = (0.0,) * 4
IMAGES = (
    *(
        Case("image.resize2d", (signed(*shape), size, _RESIZE, layout, method, mode, way, -0.75, 0, 0.0, None), words)
        for shape, size, layout, method, mode, way, words in (
            ((1, 2, 4, 5), (8, 10), "NCHW", "linear", "half_pixel", "", "linear up"),
            ((1, 2, 6, 6), (3, 4), "NCHW", "linear", "align_corners", "", "linear down, aligned"),
            ((1, 2, 4, 4), (7, 7), "NCHW", "nearest_neighbor", "asymmetric", "floor", "nearest"),
            ((1, 2, 4, 4), (7, 7), "NCHW", "nearest_neighbor", "half_pixel", "round", "nearest, rounds"),
            ((1, 4, 5, 2), (6, 7), "NHWC", "cubic", "half_pixel", "", "cubic, channels last"),
            ((1, 1, 4, 4), (1, 8), "NCHW", "linear", "pytorch_half_pixel", "", "to one row"),
        )
    ),
    *(
        Case(
            "image.resize2d",
            (signed(1, 2, 5, 6), size, region, "NCHW", method, "tf_crop_and_resize", "", -0.75, 0, 1.5, None),
            f"crop {region} {method} to {size}",
        )
        for size, region, method in (
            ((4, 7), (0.1, 0.2, 0.8, 0.9), "linear"),
            ((4, 7), (-0.1, 0.2, 0.8, 1.1), "linear"),
            ((3, 9), (0.25, 0.0, 1.0, 1.2), "cubic"),
        )
    ),
    *(
        Case("image.resize3d", (signed(*shape), size, (0.0,) * 6, layout, method, mode, "", -0.75, 0, 0.0, None), words)
        for shape, size, layout, method, mode, words in (
            ((1, 2, 3, 4, 3), (5, 6, 6), "NCDHW", "linear", "half_pixel", "linear up"),
            ((1, 1, 4, 4, 4), (2, 3, 2), "NCDHW", "linear", "align_corners", "linear down"),
            ((1, 1, 3, 3, 3), (5, 4, 5), "NCDHW", "nearest_neighbor", "asymmetric", "nearest"),
            ((1, 3, 3, 3, 2), (4, 4, 4), "NDHWC", "linear", "half_pixel", "channels last"),
            ((1, 1, 4, 4, 4), (6, 6, 6), "NCDHW", "cubic", "half_pixel", "cubic"),
        )
    ),
    *(
        Case(
            "image.affine_grid",
            (signed(batch, len(size), len(size) + 1), size, aligned),
            f"{size} {aligned} of {batch}",
        )
        for batch, size, aligned in (
            (1, (4, 5), True),
            (2, (3, 3), False),
            (1, (2, 3, 4), True),
            (2, (5, 4), True),
            (1, (3, 4, 2), False),
        )
    ),
    *(
        Case(
            "image.grid_sample",
            (signed(2, 3, 4, 5), signed(2, 2, 3, 3) * 0.6, method, "NCHW", padding, aligned),
            f"{method} {padding} {aligned}",
        )
        for method, padding, aligned in (
            ("bilinear", "zeros", False),
            ("bilinear", "border", True),
            ("nearest", "zeros", True),
            ("bilinear", "reflection", False),
            ("bicubic", "zeros", False),
        )
    ),
)
QUANTIZATION = (
    *(
        Case("quantize", (signed(3, 4) * 20, floats(*shape), np.full(shape, zero, "int32"), axis, dtype), words)
        for shape, zero, axis, dtype, words in (
            ((), 3, -1, "int8", "by one scale"),
            ((4,), 100, 1, "uint8", "by columns"),
            ((3,), 0, 0, "int8", "by rows"),
            ((1,), -5, -1, "int16", "by a vector of one"),
            ((4,), 0, -1, "int32", "to int32"),
        )
    ),
    *(
        Case(
            "dequantize", (ints(3, 4, dtype=source), floats(*shape), np.full(shape, zero, "int32"), axis, dtype), words
        )
        for source, shape, zero, axis, dtype, words in (
            ("int8", (), 3, -1, "float32", "by one scale"),
            ("uint8", (4,), 100, 1, "float32", "by columns"),
            ("int8", (3,), 0, 0, "float32", "by rows"),
            ("int32", (1,), -5, -1, "float32", "by a vector of one"),
            ("int8", (4,), 0, -1, "float16", "to float16"),
        )
    ),
)

WINDOWS = (*CONVOLUTIONS, *POOLS, *NORMALIZATIONS, *ATTENTION, *IMAGES, *QUANTIZATION)
