"""What workers exchange: LegalizeOps gives the calls of apache-tvm, and a run is that of the first worker."""

from dataclasses import replace

import numpy as np
import pytest

import relax_core as rc
from relax_core.ir.equality import first_difference
from relax_core.ir.expr import Function
from relax_core.ir.module import IRModule
from tests.apache_tvm import relax
from tests.passes.programs import parse
from tests.passes.wheel import in_tvm, passed, remarks, same_values

EXCHANGES = {
    "reduced in each way": """
        a = R.ccl.allreduce(x, "sum")
        b = R.ccl.allreduce(a, "prod", False)
        c = R.ccl.allreduce(b, "min", True)
        d = R.ccl.allreduce(c, "max")
        z = R.ccl.allreduce(d, "avg")""",
    "gathered in a group and among all": "a = R.ccl.allgather(x, 2)\n        z = R.ccl.allgather(a, 3, False)",
    "given by the first": "z = R.ccl.broadcast_from_worker0(x)",
    "divided at the first axis": "z = R.ccl.scatter_from_worker0(x, 4)",
    "divided at the second axis": "z = R.ccl.scatter_from_worker0(x, num_workers=3, axis=1)",
    "divided at the last axis": "a = R.exp(x)\n        z = R.ccl.scatter_from_worker0(a, 2, axis=2)",
    "divided among one": "z = R.ccl.scatter_from_worker0(x, 1)",
    "in a dataflow block": """
        with R.dataflow():
            a = R.ccl.scatter_from_worker0(x, 2, axis=1)
            z = R.ccl.allgather(a, 2)
            R.output(z)""",
}
SHAPES = {"divided at the second axis": "(8, 6, 2)", "divided at the last axis": '("n", 3, 4)'}


def program(name: str) -> str:
    shape = SHAPES.get(name, "(8, 4)")
    return f"""
    @R.function
    def main(x: R.Tensor({shape}, "float32")):
        {EXCHANGES[name].strip()}
        return z
"""


def functions_of(module: IRModule) -> IRModule:
    """Leave prim funcs away, which say the same in another form."""
    return replace(
        module, definitions=tuple(item for item in module.definitions if isinstance(item.function, Function))
    )


@pytest.mark.tvm
@pytest.mark.parametrize("name", EXCHANGES)
def test_an_exchange_calls_what_it_calls_in_tvm(name: str) -> None:
    module = in_tvm(program(name))
    stage = passed(rc.parse(module.script()), "LegalizeOps")
    wanted = rc.parse(relax.transform.LegalizeOps()(module).script())
    assert first_difference(functions_of(stage.after), functions_of(wanted)) is None


@pytest.mark.parametrize("name", EXCHANGES)
def test_the_value_is_that_of_the_operators(name: str) -> None:
    stage = passed(parse(program(name)), "LegalizeOps")
    same_values(stage.before, stage.after)
    x = np.arange(64, dtype=np.float32).reshape(8, 8)
    text = program("divided at the first axis").replace("(8, 4)", "(8, 8)")
    np.testing.assert_array_equal(rc.VirtualMachine(rc.build(parse(text)))["main"](x), x[:2])


def test_sizes_that_may_not_divide_leave_the_operator() -> None:
    stage = passed(parse(program("divided at the first axis").replace("(8, 4)", '("n", 4)')), "LegalizeOps")
    assert not stage.is_changed
    assert [item for item in remarks(stage, "missed") if "is not known to divide" in item]


@pytest.mark.parametrize(
    "options", ["operators=['add']", "skip_ops=['ccl.allgather']", "custom={'ccl.allgather': 'keep'}", "functions=[]"]
)
def test_options_choose_exchanges_as_any_operator(options: str) -> None:
    text = program("gathered in a group and among all")
    stage = passed(parse(text), f"LegalizeOps({options})")
    assert ("runtime.disco" in rc.script(stage.after)) == (options == "functions=[]")
