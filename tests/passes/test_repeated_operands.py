"""No pass takes `f(x, y, x)` for `f(x, y, y)`: values that differ only in which operand occurs again stay apart."""

from typing import Any

import numpy as np
import pytest

import relax_core as rc
from relax_core.check.check import check
from relax_core.ir.expr import TensorType
from relax_core.ir.module import IRModule
from relax_core.ir.prim import const
from relax_core.passes.pipeline import run_pipeline
from tests.passes.test_every_pass import GIVEN
from tests.passes.test_random_programs import FORMS, LOOSE, NAMES
from tests.passes.wheel import flat, input_of

pytestmark = pytest.mark.usefixtures("kept_kernels")

PROGRAM = """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 2), "float32"), y: R.Tensor((2, 2), "float32")):
        with R.dataflow():
            a = R.ewise_fma(x, y, x)
            b = R.ewise_fma(x, y, y)
            c = R.where(R.greater(x, y), x, x)
            d = R.where(R.greater(x, y), x, y)
            e = R.concat((x, y, x), axis=0)
            f = R.concat((x, y, y), axis=0)
            g = R.subtract(R.matmul(x, x), R.matmul(x, y))
            h = R.add(R.multiply(a, b), R.add(R.multiply(c, d), g))
            R.output(e, f, h)
        return (e, f, h, (h, h), (e, h))
"""


SQUARE = TensorType((const(2), const(2)), "float32")


def results(module: IRModule) -> list[Any]:
    return flat(rc.VirtualMachine(rc.build(module))["main"](input_of(SQUARE, 0), input_of(SQUARE, 1)))


@pytest.mark.parametrize("name", [name for name in NAMES if name != "BundleModelParams"])
def test_a_pass_keeps_values_apart(name: str) -> None:
    module = rc.parse(PROGRAM)
    expected, ran = results(module), 0
    for form in FORMS:
        before = run_pipeline(module, form)[-1].after if form else module
        stage = run_pipeline(before, GIVEN.get(name, name))[-1]
        if stage.is_failed or any(item.severity == "error" for item in check(stage.after)):
            continue
        for found, wanted in zip(results(stage.after), expected, strict=True):
            least = LOOSE.get(name, 1e-5)
            np.testing.assert_allclose(found, wanted, rtol=least, atol=least, err_msg=form)
        ran += 1
    assert ran, f"{name} took no form of the program"
