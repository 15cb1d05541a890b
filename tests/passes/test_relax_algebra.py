"""Identities of linear algebra: where they are used as in apache-tvm, and what a run gives."""

import pytest

import relax_core as rc
from relax_core.passes.core import Stage
from tests.apache_tvm import relax
from tests.passes.programs import parse
from tests.passes.wheel import agrees, passed, remarks, same_values

LORA = "x (2, 64), a (64, 4), b (4, 64)"
SUMS = "x (2, 8), a (8, 4), b (8, 4), c (8, 1)"
PARTS = "a (4, 8), b (6, 8), c (2, 4, 8), d (2, 4, 8)"
TAKES = "x (3, 1, 8), w (5, 8, 4), i (3,) int64, u (8, 5), y (2, 8)"
ALIKE = (
    ("AdjustMatmulOrder", "x (2, 4), a (4, 8), b (8, 16)", "p = R.matmul(a, b); q = R.matmul(x, p)"),
    ("AdjustMatmulOrder", "x (2, 8), a (8, 4), b (4, 8)", "p = R.matmul(x, a); q = R.matmul(p, b)"),
    ("AdjustMatmulOrder", "x (64, 2), a (2, 64), b (64, 2)", "p = R.matmul(x, a); q = R.matmul(p, b)"),
    ("AdjustMatmulOrder", "x (2, 64), a (64, 'n'), b ('n', 64)", "p = R.matmul(a, b); q = R.matmul(x, p)"),
    ("AdjustMatmulOrder", "x ('n', 64), a (64, 4), b (4, 64)", "p = R.matmul(a, b); q = R.matmul(x, p)"),
    ("AdjustMatmulOrder", LORA, "p = R.matmul(a, b); t = R.permute_dims(p); q = R.matmul(x, t)"),
    ("AdjustMatmulOrder", "a (64, 4), b (4, 64), x (64, 2)",
     "p = R.matmul(a, b); t = R.permute_dims(p); q = R.matmul(t, x)"),
    ("AdjustMatmulOrder", LORA, "num_input 1; p = R.matmul(a, b); q = R.matmul(x, p)"),
    ("AdjustMatmulOrder", LORA, "num_input 1; p = R.matmul(x, a); q = R.matmul(p, b)"),
    ("AdjustMatmulOrder", "x ('n', 8), a (8, 'n'), b ('n', 4)", "p = R.matmul(x, a); q = R.matmul(p, b)"),
    ("AdjustMatmulOrder", "x (3, 2, 64), a (3, 64, 4), b (3, 4, 64)", "p = R.matmul(a, b); q = R.matmul(x, p)"),
    ("AdjustMatmulOrder", "x (64,), a (64, 4), b (4, 64)", "p = R.matmul(a, b); q = R.matmul(x, p)"),
    ("AdjustMatmulOrder", LORA, "p = R.matmul(a, b); t = R.permute_dims(p, axes=[1, 0]); q = R.matmul(x, t)"),
    ("AdjustMatmulOrder", "x (3, 2, 64), a (3, 64, 4), b (3, 4, 64)",
     "p = R.matmul(a, b); t = R.permute_dims(p, axes=[0, 2, 1]); q = R.matmul(x, t)"),
    ("AdjustMatmulOrder", "x (3, 2, 64), a (64, 4), b (3, 4, 64)",
     "p = R.matmul(a, b); t = R.permute_dims(p, axes=[0, 2, 1]); q = R.matmul(x, t)"),
    ("AdjustMatmulOrder", "x (64, 2, 3), a (3, 64, 4), b (3, 4, 64)",
     "p = R.matmul(a, b); t = R.permute_dims(p, axes=[1, 0, 2]); q = R.matmul(x, t)"),
    ("ExpandMatmulOfSum", "x (2, 8), a (4, 8), b (4, 8)",
     "p = R.add(a, b); t = R.permute_dims(p, axes=[1, 0]); q = R.matmul(x, t)"),
    ("ExpandMatmulOfSum", "x (2, 8), a (3, 4, 8), b (3, 4, 8)",
     "p = R.add(a, b); t = R.permute_dims(p, axes=[0, 2, 1]); q = R.matmul(x, t)"),
    ("ExpandMatmulOfSum", SUMS, "p = R.add(a, b); q = R.matmul(x, p)"),
    ("ExpandMatmulOfSum", SUMS, "p = R.add(a, c); q = R.matmul(x, p)"),
    ("ExpandMatmulOfSum", SUMS, "num_input 1; p = R.add(a, b); q = R.matmul(x, p)"),
    ("ExpandMatmulOfSum", SUMS, "num_input 2; p = R.add(a, b); q = R.matmul(x, p)"),
    ("ExpandMatmulOfSum", "x (2, 8), a (4, 8), b (4, 8)", "p = R.add(a, b); t = R.permute_dims(p); q = R.matmul(x, t)"),
    ("ExpandMatmulOfSum", "x (8, 8), a (8, 8), b (8, 8)", "p = R.add(a, b); q = R.matmul(p, x)"),
    ("ReorderPermuteDimsAfterConcat", PARTS,
     "s = R.permute_dims(a); t = R.permute_dims(b); q = R.concat((s, t), axis=1)"),
    ("ReorderPermuteDimsAfterConcat", PARTS,
     "s = R.permute_dims(c, axes=[2, 0, 1]); t = R.permute_dims(d, axes=[2, 0, 1]); q = R.concat((s, t), axis=-1)"),
    ("ReorderPermuteDimsAfterConcat", PARTS,
     "s = R.permute_dims(c, axes=[2, 0, 1]); t = R.permute_dims(d, axes=[2, 0, 1]); g = (s, t, s); "
     "q = R.concat(g, axis=0)"),
    ("ReorderTakeAfterMatmul", TAKES, "t = R.take(w, i, axis=0); q = R.matmul(x, t)"),
    ("ReorderTakeAfterMatmul", TAKES, "t = R.take(u, i, axis=1); q = R.matmul(y, t)"),
    ("ReorderTakeAfterMatmul", "x (5, 1, 8), w (5, 8, 4), i (3,) int64",
     "t = R.take(w, i, axis=2); q = R.matmul(x, t)"),
)  # fmt: skip


def program(params: str, lines: str) -> str:
    """Write a function of `x (2, 4), i (3,) int64` that computes `q` by lines between semicolons."""
    rows = [line.strip() for line in lines.split(";")]
    attribute = ""
    if rows[0].startswith("num_input"):
        attribute = f'R.func_attr({{"num_input": {rows.pop(0).split()[1]}}})'
    typed: list[str] = []
    for item in params.replace("), ", ");").replace("int64, ", "int64;").split(";"):
        name, rest = item.split(" ", 1)
        shape, dtype = rest.rsplit(")", 1)
        typed.append(f'{name}: R.Tensor({shape}), "{dtype.strip() or "float32"}")')
    body = "\n            ".join([*rows, "R.output(q)"])
    return f"""
    @R.function
    def main({", ".join(typed)}):
        {attribute}
        with R.dataflow():
            {body}
        return q
"""


def after(name: str, params: str, lines: str) -> Stage:
    stage = passed(parse(program(params, lines)), name)
    assert not rc.run_pipeline(stage.after, name)[-1].is_changed
    return stage


@pytest.mark.parametrize(("name", "params", "lines"), ALIKE)
def test_an_identity_is_used_as_in_tvm(name: str, params: str, lines: str) -> None:
    stage = agrees(program(params, lines), getattr(relax.transform, name)(), name)
    assert not rc.run_pipeline(stage.after, name)[-1].is_changed
    if stage.is_changed and "int64" not in params:
        same_values(stage.before, stage.after, rtol=1e-4)


@pytest.mark.parametrize(
    ("params", "lines"),
    [
        ("x (2, 1, 3), w (2, 3, 2), i (2,) int64", "t = R.take(w, i, axis=0); q = R.matmul(x, t)"),
        ("x (1, 2, 3), w (2, 3, 2), i (2,) int64", "t = R.take(w, i, axis=0); q = R.matmul(x, t)"),
        ("x (2, 3), w (3, 2), i (2,) int64", "t = R.take(w, i, axis=1); q = R.matmul(x, t)"),
    ],
)
def test_what_is_taken_is_the_same(params: str, lines: str) -> None:
    # A random index is 0, 0: all are within range.
    stage = after("ReorderTakeAfterMatmul", params, lines)
    same_values(stage.before, stage.after)


def test_a_repeated_matrix_is_not_multiplied_with_all() -> None:
    # TVM takes "ijik->ijk" of a stack of one and a choice of three: other values.
    stage = after("ReorderTakeAfterMatmul", "x (1, 2, 8), w (5, 8, 4), i (3,) int64",
                  "t = R.take(w, i, axis=0); q = R.matmul(x, t)")  # fmt: skip
    assert remarks(stage, "missed") == ["q stays: it is not known that there is one matrix for each of the stack"]


def test_products_that_were_made_are_looked_at_again() -> None:
    stage = after("AdjustMatmulOrder", f"{LORA}, c (64, 64)",
                  "p = R.matmul(a, b); r = R.matmul(p, c); q = R.matmul(x, r)")  # fmt: skip
    assert rc.script(stage.after).count("R.matmul(") == 3
    assert "R.matmul(x, a)" in rc.script(stage.after)
    same_values(stage.before, stage.after, rtol=1e-4)


def test_the_products_of_a_sum_have_the_dtype_of_the_product() -> None:
    stage = after("ExpandMatmulOfSum", SUMS, "p = R.add(a, b); q = R.matmul(x, p, out_dtype='float16')")
    assert rc.script(stage.after).count('out_dtype="float16"') == 2


def test_a_sum_that_repeats_a_row_stays() -> None:
    stage = after("ExpandMatmulOfSum", "x (2, 8), a (8, 4), b (1, 4)", "p = R.add(a, b); q = R.matmul(x, p)")
    words = "q stays: the terms of the sum are not known to be matrices of one height"
    assert remarks(stage, "missed") == [words]


def test_terms_of_different_ranks_stay() -> None:
    # TVM stops: the order of axes does not fit the second term.
    lines = "p = R.add(a, b); t = R.permute_dims(p, axes=[0, 2, 1]); q = R.matmul(x, t)"
    stage = after("ExpandMatmulOfSum", "x (2, 8), a (3, 4, 8), b (4, 8)", lines)
    assert "R.add(a, b)" in rc.script(stage.after)


def test_parts_that_are_transposed_otherwise_stay() -> None:
    lines = "s = R.permute_dims(a); t = R.permute_dims(b, axes=[0, 1]); q = R.concat((s, t), axis=1)"
    stage = after("ReorderPermuteDimsAfterConcat", "a (2, 2), b (2, 2)", lines)
    assert remarks(stage, "missed") == ["q stays: its parts are not all transposed alike"]
