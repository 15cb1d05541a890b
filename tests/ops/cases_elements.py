"""Inputs for operators on elements, reductions, sorting and losses."""

import numpy as np

from tests.ops.cases import Case, bools, floats, ints, signed

SHAPES = ((2, 3), (4,), (), (0, 3), (3, 1, 2))


def small(*shape: int) -> np.ndarray:
    return floats(*shape, low=-0.9, high=0.9)


def bits(*shape: int, dtype: str = "int32") -> np.ndarray:
    return np.abs(ints(*shape, dtype=dtype))


UNARY = (
    *(
        Case(op, (small(*shape),), f"of {shape}")
        for op in ("tan", "asin", "acos", "atan", "sinh", "cosh", "asinh", "atanh")
        for shape in SHAPES
    ),
    *(Case("acosh", (floats(*shape, low=1.1, high=4.0),), f"of {shape}") for shape in SHAPES),
    *(Case("trunc", (signed(*shape),), f"of {shape}") for shape in SHAPES),
    *(Case(op, (signed(3, dtype="float64"),), "of float64") for op in ("tan", "atan", "trunc")),
    *(
        Case(op, (np.array([1.0, np.nan, np.inf, -np.inf, 0.0], dtype),), f"of {dtype}")
        for op in ("isnan", "isinf", "isfinite")
        for dtype in ("float32", "float64")
    ),
    *(Case(op, (signed(*shape),), f"of {shape}") for op in ("isnan", "isinf", "isfinite") for shape in SHAPES[1:4]),
    *(Case("bitwise_not", (ints(2, 3, dtype=dtype),), f"of {dtype}") for dtype in ("int8", "int32", "int64", "uint8")),
    Case("bitwise_not", (bools(2, 3),), "of bool"),
)
BINARY = (
    *(
        Case(op, (bits(2, 3, dtype=dtype), bits(3, dtype=dtype)), f"of {dtype}")
        for op in ("bitwise_and", "bitwise_or", "bitwise_xor")
        for dtype in ("int8", "int32", "int64", "uint8")
    ),
    *(Case(op, (bits(2, 1), bits(1, 3)), "broadcasts both") for op in ("bitwise_and", "bitwise_or", "bitwise_xor")),
    *(
        Case(op, (bits(2, 3, dtype=dtype), np.array([1, 0, 3], dtype)), f"of {dtype}")
        for op in ("left_shift", "right_shift")
        for dtype in ("int8", "int32", "int64", "uint8")
    ),
    *(Case(op, (bits(2, 3), np.array(2, "int32")), "by rank 0") for op in ("left_shift", "right_shift")),
    *(
        Case("logical_xor", (bools(*a), bools(*b)), f"of {a} and {b}")
        for a, b in (((2, 3), (3,)), ((2, 1), (1, 3)), ((4,), (4,)), ((), (3,)), ((0, 3), (3,)))
    ),
    *(
        Case(op, (signed(*a), floats(*b)), f"of {a} and {b}")
        for op in ("floor_mod", "atan2", "log_add_exp")
        for a, b in (((2, 3), (3,)), ((2, 1), (1, 3)), ((4,), (4,)), ((), (3,)), ((0, 3), (3,)))
    ),
    Case("floor_mod", (ints(2, 3), ints(3)), "of integers"),
    *(
        Case("ewise_fma", tuple(signed(*shape, dtype=dtype) for _ in range(3)), f"of {shape} {dtype}")
        for shape, dtype in (((2, 3), "float32"), ((4,), "float64"), ((), "float32"), ((0, 3), "float32"))
    ),
    Case("ewise_fma", (ints(2, 3), ints(2, 3), ints(2, 3)), "of integers"),
)
ACTIVATIONS = (
    *(Case(f"nn.{op}", (signed(*shape),), f"of {shape}") for op in ("selu", "gelu_tanh", "relu6") for shape in SHAPES),
    *(Case("nn.leakyrelu", (signed(*shape), 0.2), f"of {shape}") for shape in SHAPES),
    *(Case("nn.softplus", (signed(*shape), 1.5, 2.0), f"of {shape}") for shape in SHAPES),
    *(Case("nn.dropout", (signed(*shape), 0.5), f"of {shape}") for shape in SHAPES),
    *(
        Case("nn.prelu", (signed(2, 3, 4), floats(size), axis), f"axis {axis} of {size}")
        for axis, size in ((1, 3), (-1, 4), (0, 2), (2, 4), (1, 1))
    ),
)
SCANS = tuple(
    Case(op, (value, axis, dtype, exclusive), words)
    for op in ("cumsum", "cumprod")
    for value, axis, dtype, exclusive, words in (
        (signed(2, 3), 1, None, False, "rows"),
        (signed(2, 3, 4), 0, None, True, "exclusive"),
        (ints(2, 3), None, "int64", False, "flat with a dtype"),
        (signed(4), -1, None, True, "of a vector, exclusive"),
        (np.abs(ints(3, 2)), -1, None, False, "of integers"),
    )
)
SPREAD = tuple(
    Case(op, (value, axes, keeps), words)
    for op in ("variance", "std")
    for value, axes, keeps, words in (
        (signed(2, 3, 4), None, False, "of all"),
        (signed(2, 3, 4), (1,), False, "along one axis"),
        (signed(2, 3, 4), (-1, 0), True, "keeps dims"),
        (signed(2, 3, dtype="float64"), (1,), False, "of float64"),
        (signed(2, 3), None, True, "of all, keeps dims"),
    )
)
_MIXED = np.array([[3.0, 1.0, 2.0, 1.0], [0.0, 4.0, 4.0, -1.0], [5.0, 5.0, 2.0, 2.0]], "float32")
SORTS = (
    *(
        Case("median", (value, axes, keeps), words)
        for value, axes, keeps, words in (
            (_MIXED, (1,), False, "rows"),
            (_MIXED, (0,), True, "columns, keeps dims"),
            (_MIXED, None, False, "of all"),
            (ints(2, 5), (-1,), False, "of integers"),
            (signed(2, 3, 4), (1,), False, "of a stack"),
        )
    ),
    *(
        Case("sort", (value, axis, down), words)
        for value, axis, down, words in (
            (_MIXED, -1, False, "rows"),
            (_MIXED, 0, True, "columns downwards"),
            (ints(5), 0, False, "of integers"),
            (signed(2, 3, 4), 1, True, "of a stack"),
            (signed(1, 3), 1, False, "of one row"),
        )
    ),
    *(
        Case("argsort", (value, axis, down, dtype), words)
        for value, axis, down, dtype, words in (
            (_MIXED, -1, False, "int32", "rows with ties"),
            (_MIXED, -1, True, "int64", "downwards with ties"),
            (ints(5), 0, False, "int32", "of integers"),
            (signed(2, 3, 4), 1, True, "int32", "of a stack"),
            (_MIXED, 0, False, "int64", "columns"),
        )
    ),
    *(
        Case("topk", (_MIXED, k, axis, kind, largest, dtype), f"{k} {kind} along {axis}")
        for k, axis, kind, largest, dtype in (
            (2, -1, "both", True, "int32"),
            (1, 0, "values", True, "int32"),
            (3, 1, "indices", False, "int64"),
            (0, -1, "both", False, "int32"),
            (2, 0, "both", False, "int64"),
        )
    ),
    *(
        Case(op, (value, axis, keeps), words)
        for op in ("argmax", "argmin")
        for value, axis, keeps, words in (
            (_MIXED, 1, False, "rows with ties"),
            (_MIXED, 0, True, "columns, keeps dims"),
            (_MIXED, None, False, "of all"),
            (ints(2, 3), -1, False, "of integers"),
            (signed(2, 3, 4), None, True, "of all, keeps dims"),
        )
    ),
    *(
        Case("bucketize", (value, np.array([-1.0, 0.0, 1.0, 2.0], "float32"), narrow, right), words)
        for value, narrow, right, words in (
            (signed(2, 3), False, False, "left"),
            (signed(2, 3), True, True, "right"),
            (np.array([0.0, 1.0], "float32"), False, True, "on the boundary, right"),
            (np.array([0.0, 1.0], "float32"), False, False, "on the boundary, left"),
            (signed(), True, False, "of rank 0"),
        )
    ),
)
_TARGETS = np.array([0, 3, 1])
LOSSES = (
    *(
        Case(
            "nn.cross_entropy_with_logits",
            (signed(*shape, dtype=dtype), floats(*shape, dtype=dtype)),
            f"{shape} {dtype}",
        )
        for shape, dtype in (
            ((3, 4), "float32"),
            ((5,), "float32"),
            ((2, 3, 4), "float32"),
            ((3, 4), "float64"),
            ((1, 2), "float32"),
        )
    ),
    *(
        Case("nn.nll_loss", (signed(3, 4), _TARGETS, weights, reduction, ignored), f"{reduction} {words}")
        for reduction in ("none", "sum", "mean")
        for weights, ignored, words in ((None, -100, "plain"), (floats(4), 3, "weighted, one ignored"))
    ),
    Case("nn.nll_loss", (signed(2, 4, 3), np.array([[0, 1, 2], [3, 0, 1]]), None, "mean", -100), "of places"),
    Case("nn.nll_loss", (signed(4), np.array(2), floats(4), "mean", -100), "of one"),
    *(
        Case(
            "grad.nll_loss_backward",
            (grad, signed(3, 4), _TARGETS, weights, reduction, ignored),
            f"{reduction} {words}",
        )
        for reduction, grad in (("none", floats(3)), ("sum", floats()), ("mean", floats()))
        for weights, ignored, words in ((None, -100, "plain"), (floats(4), 3, "weighted, one ignored"))
    ),
    *(
        Case(f"grad.{op}", (signed(*shape),), f"of {shape}")
        for op in ("no_grad", "start_checkpoint", "end_checkpoint")
        for shape in SHAPES
    ),
)

ELEMENTS = (*UNARY, *BINARY, *ACTIVATIONS, *SCANS, *SPREAD, *SORTS, *LOSSES)
