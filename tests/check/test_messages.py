"""What a message says of a call: in the names of the text, with the places where the arguments come from."""

import pytest

from relax_core.check.check import check
from relax_core.diagnostics import Diagnostic
from tests.check.programs import module_of

TENSOR = 'R.Tensor((4,), "float32")'
PROGRAM = f"""
    @T.prim_func(private=True)
    def total(A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32"), C: T.Buffer((4,), "float32")):
        for i in range(4):
            C[i] = A[i] + B[i]

    @R.function
    def main(
        x: {TENSOR},
        w: R.Tensor((3, 5), "float32"),
        pair: R.Tuple({TENSOR}, {TENSOR}),
        five: R.Tuple({TENSOR}, {TENSOR}, {TENSOR}, {TENSOR}, {TENSOR}),
    ):
        one = (x,)
        y = {{}}
        return y
"""
X, W, PAIR, CALL = 13, 14, 15, 19
OUT = f"out_ty={TENSOR}"


def said(call: str) -> Diagnostic:
    """Return the only error of a program with a call."""
    (found,) = (item for item in check(module_of(PROGRAM.format(call))) if item.severity == "error")
    return found


# what is wrong, the call, the code, what the message says, what the hint says
CALLS = (
    (
        "a variable for the inputs", f"R.call_tir(Module.total, pair, {OUT})", "WF012",
        "the inputs of total are written as a tuple in the call, got the variable pair", "(pair[0], pair[1])",
    ),
    ("a variable for one input", f"R.call_tir(Module.total, one, {OUT})", "WF012", "variable one", "(one[0],)"),
    ("a variable for many", f"R.call_tir(Module.total, five, {OUT})", "WF012", "five", "(five[0], ..., five[4])"),
    (
        "a tuple among the inputs", f"R.call_tir(Module.total, (pair,), {OUT})", "TY036",
        "total has 3 parameters, got 1 input and 1 result", "pair is a tuple, which counts as one input",
    ),
    (
        "too few inputs", f"R.call_tir(Module.total, (x,), {OUT})", "TY036",
        "total has 3 parameters, got 1 input and 1 result", "(A, B, C)",
    ),
    (
        "a tuple for a tensor", f"R.call_tir(Module.total, (x, pair), {OUT})", "TY029",
        'input 2 of total must be R.Tensor((4,), dtype="float32"), as the buffer B', "",
    ),
    ("one argument", "R.exp(w)(x)", "TY023", "cannot be called", "only functions"),
    ("two shapes", "R.matmul(w, x)", "TY012", "got 5 and 4", ""),
)  # fmt: skip


@pytest.mark.parametrize(("call", "code", "message", "hint"), [case[1:] for case in CALLS], ids=[c[0] for c in CALLS])
def test_a_message_is_in_the_names_of_the_text(call: str, code: str, message: str, hint: str) -> None:
    found = said(call)
    assert found.code == code
    assert message in found.message
    assert hint in found.hint
    assert found.span is not None
    assert found.span.line == CALL


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (f"R.call_tir(Module.total, pair, {OUT})", {PAIR: "pair is defined here"}),
        (
            "R.matmul(w, x)",
            {W: 'w is R.Tensor((3, 5), dtype="float32")', X: 'x is R.Tensor((4,), dtype="float32")'},
        ),
        (f"R.call_tir(Module.total, (x, w), {OUT})", {X: "x is", W: "w is"}),
        ("R.add(R.exp(x), R.exp(w))", {}),
    ],
    ids=["a tuple", "operands", "inputs", "no variables"],
)
def test_a_message_leads_to_what_the_call_is_given(call: str, expected: dict[int, str]) -> None:
    found = {place.line: words for words, place in said(call).related}
    assert found.keys() == expected.keys()
    assert all(found[line].startswith(words) for line, words in expected.items())


def test_a_contradiction_of_kinds_is_said_once() -> None:
    found = said(f"R.call_tir(Module.total, (x, pair), {OUT})")
    assert found.message.count("R.Tuple") == 1
