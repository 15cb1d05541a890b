"""ComputePrimValue: as apache-tvm has it, and what a run gives."""

import numpy as np

import relax_core as rc
from tests.apache_tvm import relax
from tests.passes.programs import parse
from tests.passes.wheel import agrees, passed, remarks

VALUES = """
    @R.function
    def main(x: R.Tensor(("n", 4), "float32"), s: R.Shape(["m"])):
        n = T.int64()
        m = T.int64()
        p = R.prim_value(n * n)
        q = R.prim_value(4)
        r = R.prim_value(n)
        t = R.prim_value(n * n)
        u = R.prim_value(m + n)
        return (p, q, r, t, u)
"""
PLACES = """
    @R.function(pure=False)
    def main(x: R.Tensor(("n", 4), "float32"), s: R.Shape(["m"])):
        n = T.int64()
        m = T.int64()
        b = R.call_packed("foo", R.prim_value(n > 4), R.prim_value(n // 2 + 1), ty_args=(R.Tensor((n, 4), "float32"),))
        if R.prim_value(n * 2 > m):
            d = R.prim_value(n + 1)
        else:
            d = R.prim_value(n + 2)
        z = R.full(R.shape([n + 1, 2]), R.const(1.0, "float32"))
        _ = R.assert_op(R.prim_value(n == m), format="no")
        return (b, d, z)
"""
SLICE = """
    @R.function
    def main(x: R.Tensor(("n", 4), "float32")):
        n = T.int64()
        y = R.strided_slice(x, axes=[0], begin=[n // 2], end=[n - 1])
        return y
"""


def test_scalars_are_computed_as_in_tvm() -> None:
    stage = agrees(VALUES, relax.transform.ComputePrimValue(), "ComputePrimValue")
    assert not rc.run_pipeline(stage.after, "ComputePrimValue")[-1].is_changed
    for module in (stage.before, stage.after):
        result = rc.VirtualMachine(rc.build(module))["main"](np.ones((3, 4), np.float32), (5,))
        assert list(result) == [9, 4, 3, 9, 8]


def test_scalars_are_computed_wherever_they_stand() -> None:
    agrees(PLACES, relax.transform.ComputePrimValue(), "ComputePrimValue")


def test_an_attribute_that_legalize_ops_reads_stays() -> None:
    # In TVM the shape of the slice is then one of variables that the type does not know.
    stage = passed(parse(SLICE), "ComputePrimValue")
    assert not stage.is_changed
    assert remarks(stage, "missed") == ["y keeps an expression: LegalizeOps reads it"]
