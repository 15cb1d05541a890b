"""Inputs for operators that only the machine evaluates: data-dependent ones, vision, workers, memory."""

import numpy as np

from tests.ops.cases import Case, floats, ints, signed

_SHAPES = ((2, 3), (4,), (0, 3), (3, 1, 2), (5, 4))
_REPEATED = np.array([[3, 1, 3], [2, 1, 1]], "int32")

DEPENDENT = (
    *(
        Case("dynamic_strided_slice", (signed(*shape), *(np.array(item) for item in bounds)), f"{shape} {bounds}")
        for shape, bounds in (
            ((6, 5), ([1, 0], [4, 5], [1, 2])),
            ((6,), ([0], [6], [2])),
            ((6, 5), ([0, 0], [6, 5], [1, 1])),
            ((6, 5), ([5, 4], [0, 1], [-1, -2])),
            ((2, 3, 4), ([0, 1, 0], [2, 3, 2], [1, 1, 1])),
        )
    ),
    *(
        Case("unique", (value, is_sorted, *flags, axis), f"{words} {flags}")
        for value, is_sorted, flags, axis, words in (
            (_REPEATED, True, (False, False, False), None, "of all"),
            (_REPEATED, True, (True, True, True), None, "with all"),
            (_REPEATED, False, (False, True, False), None, "unsorted"),
            (_REPEATED, True, (True, False, True), 1, "of columns"),
            (np.array([1.5, 1.5, 0.5], "float32"), True, (False, False, True), None, "of floats"),
        )
    ),
    *(
        Case("nonzero", (value,), words)
        for value, words in (
            (_REPEATED - 1, "of a matrix"),
            (ints(5) - 4, "of a vector"),
            (np.array(3), "of rank 0"),
            (np.zeros((2, 2), "float32"), "of zeros"),
            (np.array([True, False]), "of bool"),
        )
    ),
)
INSPECTED = (
    *(
        Case(f"inspect.tensor_{name}", (signed(*shape),), f"of {shape}")
        for name in ("dtype_code", "dtype_bits", "dtype_lanes", "ndim", "byte_offset", "elem_offset")
        for shape in _SHAPES
    ),
    *(
        Case(f"inspect.tensor_{name}", (signed(2, 3, 4), axis), f"axis {axis}")
        for name in ("shape_i", "stride_i")
        for axis in (0, 1, 2)
    ),
    *(
        Case(f"inspect.tensor_{name}", (ints(5, 4), axis), f"of integers, axis {axis}")
        for name in ("shape_i", "stride_i")
        for axis in (0, 1)
    ),
    *(
        Case("memory.view", (signed(*data), shape, dtype, offset), f"{data} as {shape} {dtype} {offset}")
        for data, shape, dtype, offset in (
            ((2, 3), (3, 2), None, None),
            ((2, 3), None, "int32", None),
            ((4,), (8,), "float16", 0),
            ((6,), (2,), None, 8),
            ((4,), (4,), "uint8", 4),
        )
    ),
    *(
        Case(op, (signed(*shape),), f"of {shape}")
        for op in ("memory.ensure_zero_offset", "builtin.stop_lift_params")
        for shape in _SHAPES
    ),
)
WORKERS = (
    *(Case("ccl.allreduce", (signed(2, 3), word, True), word) for word in ("sum", "prod", "min", "max", "avg")),
    *(
        Case("ccl.allgather", (signed(*shape), count, True), f"{shape} of {count}")
        for shape, count in (((2, 3), 1), ((2, 3), 2), ((4,), 3), ((3, 1, 2), 2), ((5,), 1))
    ),
    *(Case("ccl.broadcast_from_worker0", (signed(*shape),), f"of {shape}") for shape in _SHAPES),
    *(
        Case(op, (signed(*shape), count, axis), f"{shape} of {count} along {axis}")
        for op in ("ccl.scatter_from_worker0", "dist.redistribute_replica_to_shard")
        for shape, count, axis in (((4, 3), 2, 0), ((2, 6), 3, 1), ((4,), 4, 0), ((2, 3), 1, 0), ((2, 3, 8), 4, -1))
    ),
    *(
        Case(f"dist.{op}", (signed(*shape), "mesh[0]", "S[0]"), f"of {shape}")
        for op in ("annotate_sharding", "redistribute")
        for shape in _SHAPES
    ),
)
_POOL = ("NCHW", None)
GRADIENTS = tuple(
    Case(
        f"grad.{kind}_pool2d_backward",
        (signed(1, 2, *grad), signed(1, 2, 6, 7), window, strides, padding, (1, 1), False, counts, *_POOL),
        words,
    )
    for kind in ("max", "avg")
    for grad, window, strides, padding, counts, words in (
        ((5, 6), (2, 2), (1, 1), (0, 0, 0, 0), False, "plain"),
        ((3, 3), (2, 2), (2, 2), (0, 0, 0, 0), False, "with strides"),
        ((3, 4), (3, 3), (2, 2), (1, 1, 1, 1), False, "padded"),
        ((3, 4), (3, 3), (2, 2), (1, 1, 1, 1), True, "counts padding"),
        ((1, 1), (6, 7), (1, 1), (0, 0, 0, 0), False, "of all"),
    )
)

_BOXES = np.array([[[0, 0, 2, 2], [0, 0, 2, 1.9], [5, 5, 6, 6], [0, 0, 1, 1]]], "float32")
_ROWS = np.array([[[0, 0.9, 0, 0, 1, 1], [-1, 0.8, 0, 0, 1, 1], [1, 0.1, 0, 0, 2, 2], [1, 0.7, 0, 0, 3, 3]]], "float32")
BOXES = (
    *(
        Case("vision.get_valid_counts", (_ROWS, threshold, kind, 1), f"{threshold} {kind}")
        for threshold, kind in ((0.0, 0), (0.5, 0), (0.5, -1), (0.95, 0), (0.05, -1))
    ),
    *(
        Case(
            "vision.all_class_non_max_suppression",
            (
                np.repeat(_BOXES, batch, 0),
                floats(batch, classes, 4),
                np.array(limit),
                np.array(overlap, "float32"),
                np.array(least, "float32"),
                "onnx",
            ),
            f"{batch} {classes} {limit} {overlap} {least}",
        )
        for batch, classes, limit, overlap, least in (
            (1, 1, 2, 0.5, 0.0),
            (1, 2, 3, 0.5, 0.0),
            (2, 1, 4, 0.9, 0.2),
            (1, 1, 1, 0.1, 0.0),
            (1, 3, 2, 0.5, 5.0),
        )
    ),
)

_DETECTED = np.array(
    [
        [
            [0, 0.3, 0, 0, 2, 2],
            [1, 0.8, 0, 0, 2, 1.9],
            [0, 0.7, 0, 0, 2, 2.1],
            [0, 0.6, 5, 5, 6, 6],
            [1, -0.5, 7, 7, 8, 8],
        ]
    ],
    "float32",
)
_REGIONS = np.array([[0, 1, 1, 6, 6], [1, 0, 0, 7, 5], [0, 2, 3, 4, 7]], "float32")
DETECTION = (
    *(
        Case(
            "vision.non_max_suppression",
            (
                _DETECTED,
                np.array([count], "int32"),
                np.array([[4, 3, 2, 1, 0]], "int32"),
                limit,
                0.3,
                forced,
                top,
                2,
                1,
                id_index,
                gives_indices,
                False,
                sigma,
                least,
            ),
            words,
        )
        for count, limit, forced, top, id_index, gives_indices, sigma, least, words in (
            (5, -1, True, -1, 0, False, 0.0, 0.0, "forced"),
            (5, -1, False, -1, 0, False, 0.0, 0.0, "by class"),
            (4, 2, True, 3, 0, True, 0.0, 0.0, "of the best three, as indices"),
            (5, -1, True, -1, -1, False, 0.5, 0.1, "softly"),
            (5, -1, True, -1, -1, True, 0.5, 0.1, "softly, as indices"),
            (0, -1, True, -1, 0, True, 0.0, 0.0, "of no boxes"),
        )
    ),
    *(
        Case(
            "vision.roi_align",
            (
                signed(*((2, 8, 8, 3) if layout == "NHWC" else (2, 3, 8, 8))),
                _REGIONS,
                pooled,
                scale,
                ratio,
                aligned,
                layout,
                mode,
            ),
            f"{pooled} {scale} {ratio} {aligned} {layout} {mode}",
        )
        for pooled, scale, ratio, aligned, layout, mode in (
            ((3, 3), 1.0, 2, False, "NCHW", "avg"),
            ((3, 2), 0.5, 2, True, "NCHW", "avg"),
            ((3, 2), 1.0, -1, False, "NCHW", "avg"),
            ((3, 2), 1.0, 2, False, "NCHW", "max"),
            ((2, 2), 1.5, 1, False, "NHWC", "avg"),
        )
    ),
    *(
        Case(
            "vision.roi_pool",
            (signed(*((2, 8, 8, 3) if layout == "NHWC" else (2, 3, 8, 8))), _REGIONS, pooled, scale, layout),
            f"{pooled} {scale} {layout}",
        )
        for pooled, scale, layout in (
            ((3, 3), 1.0, "NCHW"),
            ((2, 3), 0.7, "NCHW"),
            ((1, 1), 1.0, "NCHW"),
            ((4, 4), 2.0, "NCHW"),
            ((2, 2), 0.3, "NCHW"),
        )
    ),
    *(
        Case(
            "vision.multibox_transform_loc",
            (signed(batch, 3, 4), signed(batch, 16), floats(1, 4, 4), clips, least, variances, background, softmax),
            f"{batch} {clips} {least} {variances} {background} {softmax}",
        )
        for batch, clips, least, variances, background, softmax in (
            (1, False, 0.0, (1.0, 1.0, 1.0, 1.0), True, True),
            (1, False, 0.0, (0.1, 0.1, 0.2, 0.2), True, True),
            (1, True, 0.2, (1.0, 1.0, 1.0, 1.0), False, True),
            (2, False, 0.3, (1.0, 1.0, 1.0, 1.0), True, True),
            (2, True, 0.1, (0.5, 0.5, 1.0, 1.0), True, False),
        )
    ),
    *(
        Case(
            "vision.all_class_non_max_suppression",
            (
                _BOXES,
                floats(1, 2, 4),
                np.array(limit),
                np.array(0.5, "float32"),
                np.array(0.2, "float32"),
                "tensorflow",
            ),
            f"tensorflow {limit}",
        )
        for limit in (1, 3)
    ),
)

SHAPES = (
    *(Case("shape_of", (signed(*shape),), f"of {shape}") for shape in _SHAPES),
    *(Case("shape_to_tensor", (shape,), f"of {shape}") for shape in _SHAPES),
    *(Case("tensor_to_shape", (np.array(shape),), f"of {shape}") for shape in _SHAPES),
)

EVALUATED = (*BOXES, *DETECTION, *SHAPES, *DEPENDENT, *INSPECTED, *WORKERS, *GRADIENTS)
