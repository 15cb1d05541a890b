"""Inputs for operators that move, pick, write, create and inspect; and for vision, workers and data-dependent ones."""

import numpy as np

from tests.ops.cases import Case, bools, floats, ints, signed

_SHAPES = ((2, 3), (4,), (), (0, 3), (3, 1, 2))

CONTRACTIONS = (
    *(
        Case("einsum", ([signed(*shape) for shape in shapes], text), text)
        for shapes, text in (
            (((2, 3), (3, 4)), "ij,jk->ik"),
            (((2, 3),), "ij->ji"),
            (((2, 3),), "ij->"),
            (((2, 3, 4), (2, 4, 5)), "bij,bjk->bik"),
            (((3,), (3,)), "i,i"),
            (((3, 3),), "ii->i"),
            (((5, 2, 3), (3, 4)), "...ij,jk->...ik"),
            (((5, 2, 3), (3, 4)), "...ij,...jk"),
            (((2, 3, 4),), "ij...->ji..."),
            (((2, 3), (3, 4), (4,)), "ij,jk,k->i"),
        )
    ),
    *(Case("outer", (signed(n), floats(m)), f"{n} by {m}") for n, m in ((2, 3), (1, 4), (5, 1), (0, 3), (4, 4))),
    *(
        Case("linear", (signed(*data), floats(4, 3), bias, dtype), words)
        for data, bias, dtype, words in (
            ((2, 3), None, None, "plain"),
            ((2, 3), floats(4), None, "with a bias"),
            ((3,), floats(4), None, "of a vector"),
            ((2, 5, 3), floats(4), None, "of a stack"),
            ((2, 3), None, "float64", "with a dtype"),
        )
    ),
    *(
        Case("collapse_sum_to", (signed(*data), shape), f"{data} to {shape}")
        for data, shape in (((2, 3), (1, 3)), ((2, 3), (3,)), ((2, 3, 4), (3, 1)), ((2, 3), (2, 3)), ((2, 3), (1, 1)))
    ),
    *(
        Case("collapse_sum_like", (signed(*data), floats(*shape)), f"{data} to {shape}")
        for data, shape in (((2, 3), (1, 3)), ((2, 3), (3,)), ((2, 3, 4), (3, 1)), ((2, 3), (2, 3)), ((2, 3), ()))
    ),
)
REARRANGED = (
    *(
        Case("split", (signed(*shape), cuts, axis), f"{shape} {cuts} along {axis}")
        for shape, cuts, axis in (
            ((4, 3), 2, 0),
            ((7,), 3, 0),
            ((2, 6), (1, 4), 1),
            ((5, 2), (3,), -2),
            ((2, 3, 4), 2, -1),
            ((4,), (2, 9), 0),
            ((4, 3), 1, 1),
            ((4, 3), (), 0),
        )
    ),
    *(
        Case("stack", ([signed(*shape), floats(*shape)] * times, axis), f"{2 * times} of {shape} along {axis}")
        for shape, axis, times in (((2, 3), 0, 1), ((2, 3), -1, 1), ((4,), 1, 2), ((), 0, 1), ((2, 3), 1, 2))
    ),
    *(
        Case("repeat", (signed(*shape), times, axis), f"{shape} {times} along {axis}")
        for shape, times, axis in (((2, 3), 2, 0), ((2, 3), 3, -1), ((2, 3), 2, None), ((4,), 1, 0), ((2, 3, 4), 2, 1))
    ),
    *(
        Case("tile", (signed(*shape), times), f"{shape} by {times}")
        for shape, times in (((2, 3), (2, 1)), ((2, 3), (2,)), ((4,), (2, 3)), ((2, 3), (1, 1)), ((), (3,)))
    ),
    *(
        Case("flip", (signed(*shape), axis), f"{shape} along {axis}")
        for shape, axis in (((2, 3), 0), ((2, 3), -1), ((4,), 0), ((2, 3, 4), 1), ((0, 3), 0))
    ),
    *(
        Case("meshgrid", ([signed(size) for size in sizes], indexing), f"{sizes} {indexing}")
        for sizes, indexing in (((2, 3), "ij"), ((4, 5), "ij"), ((2, 3, 4), "ij"), ((3, 3), "ij"), ((2, 3), "xy"))
    ),
    *(
        Case("nn.batch_flatten", (signed(*shape),), f"of {shape}")
        for shape in ((2, 3, 4), (2, 3), (1, 2, 3, 2), (3, 1, 5), (5, 4))
    ),
    *(
        Case("nn.pixel_shuffle", (signed(*shape), factor), f"{shape} by {factor}")
        for shape, factor in (
            ((1, 8, 3, 3), 2),
            ((2, 4, 2, 3), 2),
            ((9, 2, 2), 3),
            ((1, 3, 2, 2), 1),
            ((1, 4, 1, 1), 2),
        )
    ),
    *(
        Case("reverse_sequence", (signed(*shape), np.array(lengths), axis, batch), f"{shape} {lengths}")
        for shape, lengths, axis, batch in (
            ((3, 4), [2, 4, 1], 1, 0),
            ((4, 3), [2, 4, 1], 0, 1),
            ((2, 3, 4), [3, 2], 1, 0),
            ((2, 3, 4), [4, 1], -1, 0),
            ((2, 5), [0, 5], 1, 0),
        )
    ),
    *(
        Case("layout_transform", (signed(*shape), text, pad, None, None), f"{shape} {text}")
        for shape, text, pad in (
            ((8, 3), "lambda i, j: (i // 4, j, i % 4)", None),
            ((6, 3), "lambda i, j: (i // 4, j, i % 4)", 0.0),
            ((2, 3), "lambda i, j: (j, i)", None),
            ((2, 3), "lambda i, j: (i * 3 + j,)", None),
            ((2, 3, 4), "lambda a, b, c: (c, a, b)", None),
            ((7,), "lambda i: (i // 3, i % 3)", 1.5),
        )
    ),
)
SLICES = (
    *(
        Case("strided_slice", (signed(*shape), axes, begin, end, strides, False), f"{shape} {begin}:{end}:{strides}")
        for shape, axes, begin, end, strides in (
            ((6, 5), (0,), (1,), (4,), None),
            ((6, 5), (0, 1), (0, 1), (6, 5), (2, 3)),
            ((9, 5), (0,), (8,), (-100,), (-3,)),
            ((6, 5), (-1,), (-3,), (-1,), None),
            ((6,), (0,), (4,), (2,), (1,)),
            ((6, 5), (1,), (0,), (100,), None),
        )
    ),
    *(
        Case(
            "slice_scatter",
            (signed(*shape), floats(*source), begin, end, step, axis),
            f"{shape} {begin}:{end}:{step} along {axis}",
        )
        for shape, source, begin, end, step, axis in (
            ((6, 5), (2, 5), 0, 4, 2, 0),
            ((6, 5), (6, 3), 1, 4, 1, 1),
            ((6,), (6,), 0, 6, 1, 0),
            ((6, 5), (1, 5), 5, 6, 1, 0),
            ((6, 5), (6, 2), 1, 5, 2, -1),
        )
    ),
    *(
        Case("nn.pad", (signed(*shape), widths, mode, value), f"{shape} {widths} {mode}")
        for shape, widths, mode, value in (
            ((2, 3), (1, 1, 2, 0), "constant", 0.0),
            ((2, 3), (0, 1, 0, 0), "constant", -1.5),
            ((3, 4), (1, 2, 2, 1), "reflect", 0.0),
            ((3, 4), (1, 2, 2, 1), "replicate", 0.0),
            ((3, 4), (1, 2, 2, 1), "circular", 0.0),
        )
    ),
)
GATHERED = (
    *(
        Case("gather_elements", (signed(*shape), np.array(indices), axis), f"{shape} {indices} along {axis}")
        for shape, indices, axis in (
            ((3, 4), [[0, 2, 1, 0]], 0),
            ((3, 4), [[0, 3], [1, 1], [2, 0]], 1),
            ((4,), [3, 3, 0], 0),
            ((3, 4), [[1], [0], [2]], -1),
            ((2, 2), [[1, 0]], 0),
        )
    ),
    *(
        Case("gather_nd", (signed(*shape), np.array(indices), batch), f"{shape} {indices} batch {batch}")
        for shape, indices, batch in (
            ((4, 5, 6), [[0, 1], [3, 4]], 0),
            ((4, 5), [[1], [0], [3]], 0),
            ((2, 3, 4), [[[1], [0]], [[2], [2]]], 1),
            ((4,), [[[1], [3]]], 0),
            ((4, 5, 6), [0, 1, 2], 0),
        )
    ),
    *(
        Case("index_tensor", (signed(*shape), [np.array(item) for item in indices]), f"{shape} {indices}")
        for shape, indices in (
            ((4, 5, 6), ([0, 3],)),
            ((4, 5, 6), ([0, 3], [4, 1])),
            ((4, 5), ([[0], [3]], [1, 2])),
            ((4,), ([[1, 0], [2, 3]],)),
            ((4, 5, 6), ([[0], [1]], [2])),
        )
    ),
    *(
        Case("one_hot", (np.array(indices), on, off, depth, axis), f"{indices} {on} {off} along {axis}")
        for indices, on, off, depth, axis in (
            ([0, 2, 1], 1.0, 0.0, 4, -1),
            ([0, 2], 1, 0, 3, 0),
            ([[0, 1], [2, 3]], 2.5, -1.0, 4, 1),
            (2, 1.0, 0.0, 3, -1),
            ([5, 1], 1, 0, 3, -1),
        )
    ),
    *(
        Case("masked_fill", (signed(*data), bools(*mask), np.array(7.0, "float32")), f"{data} {mask}")
        for data, mask in (((2, 3), (2, 3)), ((2, 3), (3,)), ((4,), (4,)), ((2, 3), (2, 1)), ((0, 3), (3,)))
    ),
)
_WORDS = ("update", "add", "mul", "max", "min")
SCATTERED = (
    *(
        Case("scatter_elements", (signed(3, 4), np.array([[0, 2, 1, 0]]), floats(1, 4), 0, word), word)
        for word in _WORDS
    ),
    *(
        Case(
            "scatter_elements",
            (signed(3, 4), np.array([[0, 3], [1, 2], [2, 0]]), floats(3, 2), axis, "add"),
            f"along {axis}",
        )
        for axis in (1, -1)
    ),
    *(Case("scatter_nd", (signed(5), np.array([[1], [3], [0]]), floats(3), word), word) for word in _WORDS),
    Case("scatter_nd", (signed(4, 3), np.array([[1], [3]]), floats(2, 3), "add"), "rows"),
    Case("scatter_nd", (signed(4, 3), np.array([[1, 2], [3, 0]]), floats(2), "update"), "elements"),
    *(
        Case(
            "index_put",
            (signed(4, 5), [np.array([0, 3, 1]), np.array([4, 0, 2])], floats(*shape), adding),
            f"{shape} {adding}",
        )
        for shape, adding in (((3,), False), ((3,), True), ((1,), True))
    ),
    *(
        Case("index_put", (signed(4), [np.array([1, 1, 2])], floats(3), adding), f"a vector, {adding}")
        for adding in (True,)
    ),
    Case("index_put", (signed(4), [np.array([3, 0])], floats(2), False), "two elements"),
    *(
        Case(
            "grad.take_backward",
            (floats(*grad), signed(*shape), np.array(indices), axis, ""),
            f"{shape} {indices} along {axis}",
        )
        for grad, shape, indices, axis in (
            ((2, 5), (4, 5), [0, 3], 0),
            ((4, 3), (4, 5), [0, 3, 0], 1),
            ((3,), (4,), [1, 1, 2], 0),
            ((4, 2, 2), (4, 5), [[0, 1], [4, 1]], 1),
            ((3,), (4,), [1, 1, 2], None),
        )
    ),
)
CREATED = (
    *(
        Case("eye", (n, m, k, dtype), f"{n} {m} {k} {dtype}")
        for n, m, k, dtype in (
            (3, None, 0, "float32"),
            (3, 4, 1, "float32"),
            (4, 2, -1, "int32"),
            (2, 3, 5, "int64"),
            (1, 1, 0, "float64"),
        )
    ),
    *(
        Case("eye_like", (signed(*shape), k, dtype), f"{shape} {k} {dtype}")
        for shape, k, dtype in (
            ((3, 3), 0, None),
            ((2, 4), 1, None),
            ((4, 2), -1, "int32"),
            ((3, 2), 0, "int64"),
            ((1, 5), 2, None),
        )
    ),
    *(
        Case(op, (signed(*shape), k), f"{shape} {k}")
        for op in ("tril", "triu")
        for shape, k in (((3, 3), 0), ((2, 4), 1), ((4, 2), -1), ((2, 3, 3), 0), ((3, 3), 5))
    ),
    *(
        Case("hamming_window", (n, periodic, 0.54, 0.46, dtype), f"{n} {periodic} {dtype}")
        for n, periodic, dtype in (
            (5, True, "float32"),
            (5, False, "float32"),
            (8, True, "float64"),
            (2, False, "float32"),
            (3, True, "float32"),
        )
    ),
    *(
        Case("wrap_param", (ints(*shape), dtype), f"{shape} {dtype}")
        for shape, dtype in (
            ((2, 3), "float32"),
            ((4,), "float16"),
            ((), "float64"),
            ((2,), "int64"),
            ((0, 3), "float32"),
        )
    ),
    *(Case("size", (signed(*shape),), f"of {shape}") for shape in _SHAPES),
    *(
        Case(
            "multinomial_from_uniform",
            (np.array(prob, "float32"), np.array(sample, "float32"), np.array(rows), dtype),
            f"{sample} {dtype}",
        )
        for prob, sample, rows, dtype in (
            ([[0.2, 0.5, 0.3], [0.1, 0.1, 0.8]], [[0.15], [0.6], [0.95]], [[0], [0], [1]], "int64"),
            ([[0.2, 0.5, 0.3]], [[0.19], [0.21]], [[0], [0]], "int64"),
            ([[0.5, 0.5], [0.25, 0.75]], [[0.3], [0.3]], [[0], [1]], "int32"),
            ([[1.0]], [[0.5]], [[0]], "int64"),
            ([[0.0, 1.0, 0.0]], [[0.01], [0.99]], [[0], [0]], "int64"),
        )
    ),
)
PLACES = (*CONTRACTIONS, *REARRANGED, *SLICES, *GATHERED, *SCATTERED, *CREATED)
