"""LiftTransformParams: what depends on weights only moves as in apache-tvm, and the two halves give the same values."""

from typing import Any

import numpy as np
import pytest

import relax_core as rc
from relax_core.ir.expr import Function
from relax_core.passes.core import Stage
from tests.apache_tvm import relax
from tests.passes.programs import parse
from tests.passes.wheel import agrees, flat, input_of, passed, remarks

NAME = "LiftTransformParams"
WEIGHTS = "x (2, 8); w (4, 8); b (4,); u (8, 8)"
VECTORS = "x (4,); v (4,); w (4,)"


def function(params: str, lines: str, result: str, *, name: str = "main", count: int = 1, outputs: str = "") -> str:
    typed = (item.strip().split(" ", 1) for item in params.split(";"))
    rows = "\n            ".join([*(row.strip() for row in lines.split(";")), f"R.output({outputs or result})"])
    return f"""
    @R.function
    def {name}({", ".join(f'{key}: R.Tensor({shape}, "float32")' for key, shape in typed)}):
        R.func_attr({{"num_input": {count}}})
        with R.dataflow():
            {rows}
        return {result}
"""


LINEAR = "t = R.permute_dims(w); c = R.exp(b); p = R.matmul(x, t); q = R.add(p, c); z = R.matmul(x, u)"
ALIKE = {
    "some moves and some is passed on": function(WEIGHTS, f"{LINEAR}; o = (q, z)", "o"),
    "constants stay": function(VECTORS, "d = R.zeros(R.shape([4]), 'float32'); y = R.add(x, v); o = (y, d)", "o"),
    "sizes of inputs stay": function("x (2, 'k'); w (4,)", "t = R.reshape(w, R.shape([k, 4 // k])); y = R.matmul(x, t)",
                                     "y").replace("with R.data", "k = T.int64()\n        with R.data"),
    "sizes of weights move": function("x (2, 'k'); w ('k', 4)", "t = R.exp(w); y = R.matmul(x, t)", "y"),
    "copies of constants move": function(VECTORS, "d = R.zeros(R.shape([4]), 'float32'); e = R.exp(d); "
                                         "t = R.add(e, v); y = R.add(x, t); z = R.add(y, d)", "z"),
    "a weight moves and is passed on": function(VECTORS, "t = R.exp(v); y = R.add(x, t); z = R.add(y, v)", "z"),
    "each use takes a weight": function(VECTORS, "t = R.multiply(v, v); s = R.add(t, v); y = R.add(x, s)", "y"),
    "other names are no results": function(VECTORS, "t = R.exp(v); s = t; y = R.add(x, s)", "y"),
    "tuples of weights are opened": function(VECTORS, "l = (v,); m = (l, w); a = m[0]; b = a[0]; "
                                             "t = R.multiply(v, w); y = R.add(x, b); z = R.add(y, t)", "z"),
    "a tuple is returned": function(VECTORS, "t = R.exp(v); y = R.add(x, t)", "(y, x)", outputs="y"),
    "nothing is needed": function(VECTORS, "y = R.add(x, x)", "y"),
    "all is needed": function(VECTORS, "y = R.add(v, x); z = R.add(y, w)", "z"),
    "there is no weight": function("x (4,)", "y = R.add(x, x)", "y"),
}  # fmt: skip
TWO_BLOCKS = """
    @R.function
    def main(x: R.Tensor((4,), "float32"), v: R.Tensor((4,), dtype="float32"), w: R.Tensor((4,), dtype="float32")):
        R.func_attr({"num_input": 1})
        with R.dataflow():
            a = R.add(v, w)
            R.output(a)
        b = R.exp(a)
        with R.dataflow():
            c = R.exp(a)
            d = R.add(x, b)
            e = R.add(d, c)
            R.output(e)
        return e
    @R.function
    def without_dataflow(x: R.Tensor((4,), "float32"), v: R.Tensor((4,), dtype="float32")):
        R.func_attr({"num_input": 1})
        a = R.exp(v)
        y = R.add(x, a)
        return y
"""
SHARED = "".join(
    function("x (2, 8); w (4, 8); v (4,)", f"t = R.permute_dims(w); c = R.{op}(v); y = R.matmul(x, t); z = R.add(y, c)",
             "z", name=name)
    for name, op in (("f", "negative"), ("g", "exp"))
)  # fmt: skip


@pytest.mark.parametrize("text", [*ALIKE.values(), TWO_BLOCKS], ids=[*ALIKE, "two blocks"])
def test_what_depends_on_weights_moves_as_in_tvm(text: str) -> None:
    stage = agrees(text, relax.transform.LiftTransformParams(), NAME)
    same_in_halves(stage)


@pytest.mark.parametrize("shared", [True, ["f"], ["f", "g"]])
def test_functions_share_a_transformation_as_in_tvm(shared: bool | list[str]) -> None:
    theirs = relax.transform.LiftTransformParams(shared_transform=shared)
    stage = agrees(SHARED, theirs, f"{NAME}(shared_transform={shared})")
    same_in_halves(stage, "f", "transform_params")


@pytest.mark.parametrize(
    "text",
    [
        # TVM drops the definition of the result in each of these.
        function(VECTORS, "t = R.add(v, w); y = R.add(x, v)", "(t, y)", outputs="t, y"),
        function("x (4,); v (4,); w ('n', 4)", "t = R.sum(w, axis=0); y = R.add(x, t); o = R.zeros(R.shape([n]), "
                 "'float32')", "(y, o)", outputs="y, o").replace("with R.data", "n = T.int64()\n        with R.data"),
        function(VECTORS, "y = R.add(x, v)", "(y, w)", outputs="y"),
    ],
    ids=["a moved value is returned", "a size is of a weight only", "a weight is returned"],
)  # fmt: skip
def test_what_is_returned_is_passed_on(text: str) -> None:
    same_in_halves(passed(parse(text), NAME))


def same_in_halves(stage: Stage, name: str = "main", half: str = "main_transform_params") -> None:
    """Run a function, and the two that were made of it."""
    function_ = stage.before[name]
    assert isinstance(function_, Function)
    values = [input_of(param.annotation, seed) for seed, param in enumerate(function_.params)]
    count = 1
    before, after = (rc.VirtualMachine(rc.build(item)) for item in (stage.before, stage.after))
    weights: Any = after[half](tuple(values[count:]))
    for a, b in zip(flat(before[name](*values)), flat(after[name](*values[:count], *weights)), strict=True):
        np.testing.assert_allclose(b, a, rtol=1e-6)


def test_what_stays_says_why() -> None:
    stage = passed(parse(ALIKE["sizes of inputs stay"]), NAME)
    assert remarks(stage, "missed") == ["t stays: no weight has the size k"]
    plain = parse(function(VECTORS, "y = R.add(x, v)", "y").replace("num_input", "other"))
    assert remarks(passed(plain, NAME), "missed") == ["@main stays: it has no num_input that tells weights from inputs"]


def test_weights_of_several_numbers_are_not_shared() -> None:
    text = function("x (4,); v (4,)", "y = R.add(x, v)", "y", name="f") + function(VECTORS, "y = R.add(x, v)", "y")
    (stage,) = rc.run_pipeline(parse(text), f"{NAME}(shared_transform=True)")
    assert [item.code for item in stage.diagnostics] == ["PS018"]


def test_a_module_without_num_input_stays() -> None:
    text = """@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        y = x
        z = R.add(y, y)
        return z
"""
    assert not rc.run_pipeline(rc.parse(text), "LiftTransformParams")[-1].is_changed
