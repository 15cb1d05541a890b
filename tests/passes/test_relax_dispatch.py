"""DispatchSortScan and DispatchSampling: the kernels of apache-tvm for the machine, and what they give."""

import numpy as np
import pytest

import relax_core as rc
from relax_core.ir.equality import first_difference
from relax_core.ir.module import IRModule
from tests.apache_tvm import relax, tvm
from tests.passes.wheel import in_tvm, passed, remarks, same_values

TENSOR = 'R.Tensor((2, 3), dtype="float32")'
CALLS = {
    "sort": ("R.sort(x, axis=1, descending=True)", TENSOR),
    "sort of the last of three axes": ("R.sort(x)", 'R.Tensor((2, 3, 4), dtype="int32")'),
    "sort of unknown sizes": ("R.sort(x, axis=0)", 'R.Tensor(("n", "m"), dtype="float64")'),
    "argsort": ("R.argsort(x, axis=0, dtype='int64')", TENSOR),
    "argsort of halves": ("R.argsort(x)", 'R.Tensor((4, 3), dtype="float16")'),
    "topk": ("R.topk(x, k=2, axis=-1)", TENSOR),
    "topk, the least values": ("R.topk(x, k=2, axis=1, ret_type='values', largest=False)", TENSOR),
    "topk, indices": ("R.topk(x, k=1, axis=0, ret_type='indices', dtype='int64')", TENSOR),
    "topk, all": ("R.topk(x, k=-1, axis=1)", TENSOR),
    "topk of unknown sizes": ("R.topk(x, k=2, axis=1)", 'R.Tensor(("n", "m"), dtype="float32")'),
    "cumsum": ("R.cumsum(x, axis=1)", TENSOR),
    "cumsum of all": ("R.cumsum(x)", TENSOR),
    "cumsum of what comes before": ("R.cumsum(x, axis=-1, exclusive=True)", TENSOR),
    "cumsum in another dtype": ("R.cumsum(x, axis=1, dtype='float64')", 'R.Tensor((2, 3, 4), dtype="int32")'),
    "cumsum of one axis": ("R.cumsum(x, axis=0)", 'R.Tensor((5,), dtype="float32")'),
    "cumsum of unknown lines": ("R.cumsum(x, axis=1)", 'R.Tensor(("n", 3), dtype="float32")'),
    "cumprod": ("R.cumprod(x, axis=0)", 'R.Tensor((3, 2, 4), dtype="float32")'),
    "cumprod of what comes before": ("R.cumprod(x, axis=1, exclusive=True)", 'R.Tensor((2, 3, 4), dtype="int64")'),
}
SAMPLES = """
    @R.function
    def main(
        p: R.Tensor((3, 5), "float32"), u: R.Tensor((6, 1), "float32"), i: R.Tensor((6, 1), "INDEX")
    ) -> R.Tensor((6, 1), "RESULT"):
        with R.dataflow():
            y = R.multinomial_from_uniform(p, u, i, dtype="RESULT")
            z = R.multinomial_from_uniform(p, u, i, dtype="RESULT")
            s = R.add(y, z)
            R.output(s)
        return s
"""


def program(call: str, type_: str) -> str:
    symbols = "".join(f"        {name} = T.int64()\n" for name in "nm" if f'"{name}"' in type_)
    return f"""
    @R.function
    def main(x: {type_}):
{symbols}        with R.dataflow():
            y = {call}
            R.output(y)
        return y
"""


def agrees_on_the_machine(text: str, name: str) -> IRModule:
    module = in_tvm(text)
    with tvm.target.Target("llvm"):
        theirs = getattr(relax.backend, name)()(module)
    before = rc.parse(module.script())
    after = passed(before, name).after
    assert first_difference(after, rc.parse(theirs.script())) is None
    return before


@pytest.mark.tvm
@pytest.mark.parametrize("name", CALLS)
def test_sorts_and_scans_have_the_kernels_of_tvm(name: str) -> None:
    agrees_on_the_machine(program(*CALLS[name]), "DispatchSortScan")


@pytest.mark.parametrize("name", CALLS)
def test_sorts_and_scans_give_the_values_of_the_operators(name: str) -> None:
    module = rc.parse(f"@I.ir_module\nclass Module:\n{program(*CALLS[name])}")
    same_values(module, passed(module, "DispatchSortScan").after)


def test_a_number_that_is_none_comes_last() -> None:
    module = rc.parse(f"@I.ir_module\nclass Module:\n{program(*CALLS['sort'])}")
    x = np.array([[1, np.nan, 2], [np.nan, 0, -1]], np.float32)
    before, after = (
        rc.VirtualMachine(rc.build(item))["main"](x) for item in (module, passed(module, "DispatchSortScan").after)
    )
    np.testing.assert_array_equal(before, after)


def test_an_axis_of_unknown_size_is_scanned_by_the_kernel_of_the_operator() -> None:
    text = program("R.cumsum(x, axis=0)", 'R.Tensor(("n", 3), dtype="float32")')
    module = rc.parse(f"@I.ir_module\nclass Module:\n{text}")
    after = passed(module, "DispatchSortScan").after
    empty = rc.VirtualMachine(rc.build(after))["main"](np.zeros((0, 3), np.float32))
    assert empty.shape == (0, 3)
    same_values(module, after)


@pytest.mark.tvm
@pytest.mark.parametrize(("index", "result"), [("int64", "int64"), ("int32", "int64"), ("int64", "int32")])
def test_samples_are_drawn_as_in_tvm(index: str, result: str) -> None:
    before = agrees_on_the_machine(SAMPLES.replace("INDEX", index).replace("RESULT", result), "DispatchSampling")
    rng = np.random.default_rng(7)
    weights = rng.random((3, 5)).astype(np.float32)
    values = (
        weights / weights.sum(axis=1, keepdims=True),
        rng.random((6, 1)).astype(np.float32),
        rng.integers(0, 3, (6, 1)).astype(index),
    )
    after = passed(before, "DispatchSampling, DispatchSortScan").after
    wanted, found = (rc.VirtualMachine(rc.build(item))["main"](*values) for item in (before, after))
    np.testing.assert_array_equal(wanted, found)


def test_samples_of_another_dtype_have_no_kernel() -> None:
    text = (
        SAMPLES.replace("INDEX", "int64").replace("RESULT", "int64").replace('(6, 1), "float32"', '(6, 1), "float16"')
    )
    stage = passed(rc.parse(f"@I.ir_module\nclass Module:\n{text}"), "DispatchSampling")
    assert not stage.is_changed
    shown = 'R.Tensor((3, 5), dtype="float32"), R.Tensor((6, 1), dtype="float16"), R.Tensor((6, 1), dtype="int64")'
    assert remarks(stage, "missed") == [f"multinomial_from_uniform stays: there is no kernel for {shown}"] * 2
