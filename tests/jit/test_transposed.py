"""What is known of prim funcs that transpose, and of products that can read what is not transposed."""

import pytest

from relax_core.ir.equality import structural_equal
from relax_core.ir.rewriting.rewrite import RewriteLog
from relax_core.jit.transposed import reading_untransposed, transposition_of
from tests.jit.programs import parsed

MOVES = """def f(A: T.Buffer((3, 4, 5), "float32"), B: T.Buffer({shape}, "float32")):
    for i, j, k in T.grid({extents}):
        with T.block("B"):
            a, b, c = T.axis.remap("SSS", [i, j, k])
            B[{written}] = {value}
"""
USUAL = {"shape": "(5, 3, 4)", "extents": "5, 3, 4", "written": "a, b, c", "value": "A[b, c, a]"}
OTHERS = {
    "not all of it": {"extents": "5, 2, 4"},
    "another value": {"value": "A[b, c, a] + T.float32(1)"},
    "the other way round": {"value": "A[b, c, 4 - a]"},
    "a diagonal": {"shape": "(3, 3, 4)", "extents": "3, 3, 4", "value": "A[b, c, b]"},
    "written backwards": {"written": "4 - a, b, c"},
    "into part of it": {"shape": "(6, 3, 4)"},
}
PRODUCT = """def f(A: T.Buffer((2, 4), "float32"), B: T.Buffer((4, {columns}), "float32"), C: T.Buffer((2, 3))):
    for i, j, k in T.grid(2, 3, 4):
        with T.block("C"):
            a, b, c = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[a, b] = T.float32(0)
            C[a, b] = C[a, b] + {term}
"""


def test_axes_that_are_permuted() -> None:
    assert transposition_of(parsed(MOVES.format(**USUAL))) == (2, 0, 1)
    same = {"shape": "(3, 4, 5)", "extents": "3, 4, 5", "written": "a, b, c", "value": "A[a, b, c]"}
    assert transposition_of(parsed(MOVES.format(**same))) == (0, 1, 2)


@pytest.mark.parametrize("name", OTHERS)
def test_what_is_no_transposition(name: str) -> None:
    assert transposition_of(parsed(MOVES.format(**(USUAL | OTHERS[name])))) is None


def test_a_product_reads_the_matrix_itself() -> None:
    function = parsed(PRODUCT.format(columns=3, term="A[a, c] * B[c, b]"))
    made = reading_untransposed(function, 1, (1, 0), RewriteLog())
    expected = PRODUCT.format(columns=3, term="A[a, c] * B[b, c]").replace("(4, 3)", "(3, 4)")
    assert made is not None
    assert structural_equal(made, parsed(expected))


@pytest.mark.parametrize(
    ("columns", "term"),
    [(3, "(A[a, c] + B[c, b])"), (3, "B[c, b] * B[c, b]"), (2, "A[a, c] * B[c, b]"), (3, "A[a, c] * A[a, c]")],
    ids=["no product", "read twice", "read out of range", "not read"],
)
def test_what_cannot_read_the_matrix_itself(columns: int, term: str) -> None:
    function = parsed(PRODUCT.format(columns=columns, term=term))
    assert reading_untransposed(function, 1, (1, 0), RewriteLog()) is None


def test_what_is_written_is_not_read_transposed() -> None:
    function = parsed(PRODUCT.format(columns=3, term="A[a, c] * B[c, b]"))
    assert reading_untransposed(function, 2, (1, 0), RewriteLog()) is None
