"""Sizes that a kernel behind SplitHostDevice is not told, but that the memory it is given has."""

from typing import Any

import numpy as np
import pytest

import relax_core as rc
from relax_core.diagnostics import RunError

KERNEL = """# from tvm.script import ir as I, tirx as T
d, e = TypeVar("d"), TypeVar("e")
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def main_kernel(x_ptr: T.handle("float32", "global"), y_ptr: T.handle("float32", "global"), n: T.int64):
        T.func_attr({{"tirx.is_global_func": True, "tirx.noalias": True}})
        y = T.decl_buffer((n,), data=y_ptr, elem_offset=0)
        d = T.int64()
        e = T.int64()
        x = T.decl_buffer(({extent},), data=x_ptr, elem_offset=0)
        with T.launch_thread("blockIdx.x", n) as block:
            with T.launch_thread("threadIdx.x", 32) as thread:
                if thread == 0:
                    y[block] = x[block * T.int64(8) + T.int64({beyond})]
"""
HOST = """
    @T.prim_func(s_tir=True)
    def main(x: T.Buffer((d, T.int64(8)), "float32"), y: T.Buffer((d,), "float32")):
        x_1 = T.decl_buffer((d * T.int64(8),), data=x.data, elem_offset=0)
        y_1 = T.decl_buffer((d,), data=y.data, elem_offset=0)
        Module.main_kernel(x_1.data, y_1.data, d)
"""
X = np.arange(40, dtype="float32").reshape(5, 8)


def simulated(extent: str, *args: Any, entry: str = "main", beyond: int = 7) -> "rc.Simulated":
    """Run the host, or the kernel without it."""
    text = KERNEL.format(extent=extent, beyond=beyond) + (HOST if entry == "main" else "")
    return rc.simulate(rc.parse(text), entry, *args)


@pytest.mark.parametrize("extent", ["d * T.int64(8)", "d", "d * T.int64(16) - T.int64(40)", "n * d"])
def test_the_memory_of_a_launch_tells_a_size_that_the_kernel_is_not_given(extent: str) -> None:
    found = simulated(extent, X, np.zeros(5, "float32"))
    assert found.is_clean
    assert found.outputs[0].value.tolist() == X[:, 7].tolist()


def test_what_lies_behind_the_memory_is_out_of_range() -> None:
    found = simulated("d * T.int64(8)", X, np.zeros(5, "float32"), beyond=8)
    assert {item.code for item in found.diagnostics if item.severity == "error"} == {"GP007", "GP006"}
    assert "`x` has the shape (40)" in found.diagnostics[0].message


def test_a_kernel_without_its_host_takes_the_size_of_its_argument() -> None:
    found = simulated("d * T.int64(8)", X.reshape(-1), np.zeros(5, "float32"), 5, entry="main_kernel")
    assert found.is_clean
    assert found.outputs[0].value.tolist() == X[:, 7].tolist()


@pytest.mark.parametrize("extent", ["d * e", "d * T.int64(7)", "d // T.int64(0)"])
def test_an_extent_that_does_not_tell_the_size_is_not_guessed(extent: str) -> None:
    with pytest.raises(RunError, match="`d`, which has no value here"):
        simulated(extent, X, np.zeros(5, "float32"))


def test_an_extent_may_be_computed_behind_the_first_axis_of_a_launch() -> None:
    text = """# from tvm.script import tirx as T
@T.prim_func(s_tir=True)
def main(x: T.Buffer((d,), "float32"), y: T.Buffer((d,), "float32")):
    with T.launch_thread("blockIdx.y", T.int64(2)) as by:
        half: T.let[T.int64] = (d + T.int64(1)) // T.int64(2)
        own: T.let[T.int64] = by * half
        with T.launch_thread("threadIdx.x", half) as tx:
            at: T.let[T.int64] = own + tx
            if at < d:
                y[at] = x[at] + T.float32(1)
"""
    x = np.arange(7, dtype="float32")
    module = rc.parse(text.replace("@T", 'd = TypeVar("d")\n@T'))
    found = rc.simulate(module, "main", x, np.zeros(7, "float32"))
    assert found.is_clean
    assert dict(found.grids[0].extents) == {"blockIdx.y": 2, "threadIdx.x": 4}
    assert found.outputs[0].value.tolist() == (x + 1).tolist()
