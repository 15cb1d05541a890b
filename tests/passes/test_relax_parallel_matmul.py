"""Products of one matrix are combined, as in apache-tvm, and give the same values."""

from collections.abc import Mapping

import pytest

import relax_core as rc
from relax_core.ir.expr import Expr, Var
from relax_core.passes.core import Stage
from relax_core.passes.pipeline import pass_
from tests.apache_tvm import relax
from tests.passes.programs import parse
from tests.passes.test_relax_algebra import program
from tests.passes.wheel import agrees, passed, remarks, same_values

NAME = "CombineParallelMatmul"
PAIR = "x (2, 8), a (8, 4), b (8, 6)"
BIASED = f"{PAIR}, d (4,), e (6,)"
MATRICES = f"{PAIR}, d (2, 4), e (2, 6)"
STACKS = "x (2, 3, 8), a (8, 4), b (8, 6), c (2, 8, 5), d (2, 8, 3), e (1, 8, 3)"
SQUARES = "x (8, 8), y (8, 8), a (8, 8), b (8, 8), c (8, 8), d (8, 4)"
TWO = "p = R.matmul(x, a); r = R.matmul(x, b)"
SUM = "p = R.matmul(x, a); s = R.add(p, d); r = R.matmul(x, b); t = R.add(r, e)"
JOINED = "q = R.concat((p, r), axis=1)"
SUMS = "q = R.concat((s, t), axis=1)"
ALIKE = (
    (PAIR, f"{TWO}; {JOINED}"),
    ("x ('m', 8), a (8, 4), b (8, 6)", f"{TWO}; {JOINED}"),
    (f"{PAIR}, c (8, 5)", f"{TWO}; s = R.matmul(x, c); q = R.concat((p, r, s), axis=1)"),
    ("x (2, 8), a (8, 'n'), b (8, 6)", f"{TWO}; {JOINED}"),
    ("x (2, 8), a (8, 'n'), b (8, 'm')", f"{TWO}; {JOINED}"),
    ("x (2, 8), a (8, 'n'), b (8, 'm'), c (8, 4)",
     f"{TWO}; s = R.matmul(x, c); q = R.concat((p, r, s), axis=1)"),
    (STACKS, f"{TWO}; s = R.matmul(x, c); t = R.matmul(x, d); q = R.concat((p, r, s, t), axis=2)"),
    (STACKS, f"{TWO}; s = R.matmul(x, e); t = R.matmul(x, d); q = R.concat((p, r, s, t), axis=2)"),
    (SQUARES, f"{TWO}; s = R.matmul(p, c); t = R.matmul(p, d); q = R.concat((p, r, s, t), axis=1)"),
    (SQUARES, "p = R.matmul(x, a); r = R.matmul(y, b); s = R.matmul(x, c); t = R.matmul(y, d); "
     "q = R.concat((p, r, s, t), axis=1)"),
    (PAIR, "p = R.matmul(x, a); y = R.exp(b); r = R.matmul(x, y); q = R.concat((p, r), axis=1)"),
    (PAIR, "p = R.matmul(x, a, out_dtype='float16'); r = R.matmul(x, b, out_dtype='float16'); " + JOINED),
    (BIASED, f"{SUM}; {SUMS}"),
    (MATRICES, f"{SUM}; {SUMS}"),
    (f"{PAIR}, d (4,), e (2, 6)", f"{SUM}; {SUMS}"),
    (BIASED, f"{SUM}; q = R.concat((s, t, p), axis=1)"),
    (BIASED, "p = R.matmul(x, a); s = R.add(p, d); r = R.matmul(x, b); y = R.exp(e); t = R.add(r, y); " + SUMS),
    (BIASED, f"{TWO}; s = R.add(p, d); q = R.concat((s, r), axis=1)"),
    (BIASED, f"{SUM}; u = R.nn.relu(s); v = R.nn.relu(t); q = R.concat((u, v), axis=1)"),
    (BIASED, f"{SUM}; u = R.nn.relu(s); v = R.nn.gelu(t); q = R.concat((u, v), axis=1)"),
    *((PAIR, f"{TWO}; u = R.nn.{name}(p); v = R.nn.{name}(r); q = R.concat((u, v), axis=1)")
      for name in ("relu", "gelu", "gelu_tanh", "silu", "softmax")),
)  # fmt: skip


def after(params: str, lines: str) -> Stage:
    stage = passed(parse(program(params, lines)), NAME)
    same_values(stage.before, stage.after, rtol=1e-5)
    return stage


@pytest.mark.parametrize(("params", "lines"), ALIKE)
def test_products_are_combined_as_in_tvm(params: str, lines: str) -> None:
    stage = agrees(program(params, lines), relax.transform.CombineParallelMatmul(), NAME)
    # A product that is also used without its bias is left, and would be combined again, in TVM as well.
    assert not rc.run_pipeline(stage.after, NAME)[-1].is_changed or "(s, t, p)" in lines
    if stage.is_changed:
        assert remarks(stage, "applied")
        same_values(stage.before, stage.after, rtol=1e-2 if "float16" in lines else 1e-4)


def test_products_of_vectors_stay() -> None:
    # TVM stops: the axis of the split is out of range.
    stage = after("x (8,), a (8, 4), b (8, 6)", f"{TWO}; q = R.concat((p, r), axis=0)")
    assert not stage.is_changed
    assert remarks(stage, "missed") == ["p, r stay: they are not known to be products of matrices"]


def test_biases_that_are_repeated_are_added_to_the_parts() -> None:
    # TVM stops: it adds a bias of 7 columns to a product of 10.
    stage = after(f"{PAIR}, d (1,), e (6,)", f"{SUM}; {SUMS}")
    assert rc.script(stage.after).count("R.add(") == 2


def test_biases_of_several_heights_are_added_to_the_parts() -> None:
    # TVM stops: it joins biases of one and of two rows.
    stage = after(f"{PAIR}, d (1, 4), e (2, 6)", f"{SUM}; {SUMS}")
    assert rc.script(stage.after).count("R.add(") == 2


def test_a_product_that_another_is_made_from_stays() -> None:
    stage = after(SQUARES, "p = R.matmul(x, a); y1 = R.exp(p); r = R.matmul(x, y1); q = R.concat((p, r), axis=1)")
    assert remarks(stage, "missed") == ["p, r stay: one of them is made from another"]


def test_the_check_tells_what_is_combined() -> None:
    module = parse(program(PAIR, f"{TWO}; {JOINED}"))
    asked: list[int] = []

    def refuse(_matrix: Expr, weights: list[Expr], _biases: list[Expr], _value_of: Mapping[Var, Expr]) -> bool:
        asked.append(len(weights))
        return False

    (stage,) = rc.run_pipeline(module, [pass_(NAME, check=refuse)])
    assert asked == [2]
    assert remarks(stage, "missed") == ["p, r stay: the check refuses them"]
