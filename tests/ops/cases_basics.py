"""More inputs for the basic operators: other shapes, dtypes, empty tensors and rank 0."""

import numpy as np

from tests.ops.cases import ANY_SIGN, ARITHMETIC, COMPARISONS, POSITIVE, Case, bools, floats, ints, signed

_SHAPES = ((4,), (), (0, 3), (3, 1, 2), (5, 2))
_PAIRS = (((4,), (4,)), ((), (3,)), ((0, 3), (3,)), ((2, 1), (1, 5)), ((3, 1, 2), (2,)))

BASICS = (
    *(Case(op, (signed(*a), floats(*b)), f"{a} and {b}") for op in (*ARITHMETIC, *COMPARISONS) for a, b in _PAIRS),
    *(Case("power", (floats(*a), floats(*b)), f"{a} and {b}") for a, b in _PAIRS),
    *(Case(op, (bools(*a), bools(*b)), f"{a} and {b}") for op in ("logical_and", "logical_or") for a, b in _PAIRS),
    *(Case("logical_not", (bools(*shape),), f"of {shape}") for shape in _SHAPES),
    *(Case(op, (floats(*shape),), f"of {shape}") for op in (*POSITIVE, *ANY_SIGN) for shape in _SHAPES),
    *(Case("astype", (signed(*shape), "int64"), f"of {shape}") for shape in _SHAPES),
    *(Case("clip", (signed(*shape), -0.5, 0.5), f"of {shape}") for shape in _SHAPES),
    *(Case("where", (bools(*a), signed(*b), floats(*a)), f"{a} and {b}") for a, b in _PAIRS),
    *(Case(f"nn.{op}", (signed(*shape),), f"of {shape}") for op in ("relu", "gelu", "silu") for shape in _SHAPES),
    *(
        Case(f"nn.{op}", (signed(*shape), axis), f"{shape} along {axis}")
        for op in ("softmax", "log_softmax")
        for shape, axis in (((4,), 0), ((5, 2), 0), ((3, 1, 2), 2))
    ),
    *(Case("flatten", (signed(*shape),), f"of {shape}") for shape in _SHAPES),
    *(
        Case("permute_dims", (signed(*shape), axes), f"{shape} {axes}")
        for shape, axes in (((2, 3), (1, 0)), ((4,), (0,)), ((0, 3), None), ((2, 3, 4), (0, 2, 1)))
    ),
    *(
        Case("expand_dims", (signed(*shape), axes), f"{shape} {axes}")
        for shape, axes in (((4,), (1,)), ((), (0,)), ((2, 3), (0, 1, 2)), ((0, 3), (-1,)))
    ),
    *(
        Case("squeeze", (signed(*shape), axes), f"{shape} {axes}")
        for shape, axes in (((1, 4), (0,)), ((2, 1, 3), (1,)), ((1,), (0,)))
    ),
    *(
        Case("broadcast_to", (signed(*shape), to), f"{shape} to {to}")
        for shape, to in (((3,), (2, 3)), ((), (2, 3)), ((2, 3), (2, 3)), ((1, 1), (4, 5)), ((1, 3), (0, 3)))
    ),
    *(
        Case("concat", ([signed(*shape) for shape in shapes], axis), f"{shapes} along {axis}")
        for shapes, axis in ((((4,), (2,)), 0), (((2, 3),), 1), (((2, 0), (2, 3)), 1))
    ),
    Case("take", (signed(5, 2, 3), np.array([1]), -2, "fast"), "in the middle"),
    Case("take", (signed(4, 3), np.array([[-1, 3], [7, 0]]), 0, "nan"), "gives NaN outside"),
    *(Case(op, (shape, "float32"), f"{shape}") for op in ("zeros", "ones") for shape in ((4,), (), (0, 3), (2, 1, 3))),
    *(Case("full", (shape, np.array(2.5, "float32"), None), f"{shape}") for shape in ((4,), (), (0, 3), (2, 1, 3))),
    *(Case(op, (ints(*shape), None), f"of {shape}") for op in ("zeros_like", "ones_like") for shape in _SHAPES),
    *(Case("full_like", (ints(*shape), np.array(3, "int32"), None), f"of {shape}") for shape in _SHAPES),
    Case("arange", (2, 10, 3, "float32"), "of floats by integers"),
)
