"""Calls that have no type, with the code that says why."""

import numpy as np

from tests.ops.cases import Case, bools, floats, ints, signed

REFUSED = (
    (Case("add", (signed(2, 3), signed(2, 4)), "of different sizes"), "TY010"),
    (Case("maximum", (signed(2, 3), ints(2, 3)), "of different dtypes"), "TY011"),
    (Case("where", (signed(2, 3), signed(3), signed(3)), "on a float condition"), "TY033"),
    (Case("broadcast_to", (signed(2, 3), (3,)), "to a lower rank"), "TY010"),
    (Case("broadcast_to", (signed(2, 3), (2, 4)), "to another size"), "TY010"),
    (Case("matmul", (signed(2, 3), signed(2, 3), None), "of different inner sizes"), "TY012"),
    (Case("matmul", (signed(), signed(3), None), "of rank 0"), "TY013"),
    (Case("matmul", (signed(2, 3), ints(3, 2), None), "of different dtypes"), "TY011"),
    (Case("exp", (ints(3),), "of integers"), "TY033"),
    (Case("sigmoid", (ints(3),), "of integers"), "TY033"),
    (Case("nn.softmax", (ints(3), -1), "of integers"), "TY033"),
    (Case("nn.softmax", (signed(3), 1), "outside the rank"), "TY014"),
    (Case("sum", (signed(2, 3), (2,), False), "outside the rank"), "TY014"),
    (Case("sum", (signed(2, 3), (1, -1), False), "of one axis twice"), "TY017"),
    (Case("permute_dims", (signed(2, 3), (0, 0)), "of one axis twice"), "TY017"),
    (Case("permute_dims", (signed(2, 3), (0,)), "of too few axes"), "TY017"),
    (Case("expand_dims", (signed(2, 3), (4,)), "outside the rank"), "TY014"),
    (Case("squeeze", (signed(2, 3), (0,)), "of size 2"), "TY034"),
    (Case("reshape", (signed(2, 3), (4, 2)), "to more elements"), "TY015"),
    (Case("reshape", (signed(2, 3), (-1, -1)), "with two rests"), "TY015"),
    (Case("reshape", (signed(2, 3), (-1, 4)), "with a rest that is a fraction"), "TY015"),
    (Case("concat", ([signed(2, 3), signed(3, 3)], 1), "of different sizes"), "TY016"),
    (Case("concat", ([signed(2, 3), signed(3)], 0), "of different ranks"), "TY016"),
    (Case("concat", ([signed(2, 3), ints(2, 3)], 0), "of different dtypes"), "TY011"),
    (Case("take", (signed(2, 3), np.array([0]), None, "fast"), "without an axis"), "TY013"),
    (Case("take", (signed(2, 3), floats(2), 0, "fast"), "at floats"), "TY033"),
    (Case("full", ((2,), floats(2), None), "with a vector"), "TY013"),
    (Case("logical_not", (ints(3),), "of integers"), "TY033"),
    (Case("logical_and", (bools(3), ints(3)), "of integers"), "TY033"),
)
# apache-tvm 0.27 types logical operators on any dtype, and lets squeeze leave an axis that is not of size 1.
ONLY_HERE = ("logical_not of integers", "logical_and of integers", "squeeze of size 2")
