"""The debug mode that finds reads of elements to which nothing was written."""

import numpy as np
import pytest

from relax_core import VirtualMachine, build, parse
from relax_core.diagnostics import Diagnostic, RunError
from relax_core.jit.engine import Engine
from relax_core.jit.options import KernelOptions
from tests.jit.low_level import prim_funcs

FINDING = Engine(options=KernelOptions(finds_uninitialised=True))
HEAD = """from tvm.script import ir as I
from tvm.script import relax as R
from tvm.script import tirx as T
"""


def kernel_text(body: str) -> str:
    """Write a prim func of a float32 matrix `A` and a vector `B` of 4 elements."""
    lines = "\n".join(f"    {line}" for line in body.strip().splitlines())
    head = 'def main(A: T.Buffer((4, 3), "float32"), B: T.Buffer((4,), "float32")):'
    return f"{HEAD}\n@T.prim_func(s_tir=True)\n{head}\n{lines}\n"


BROKEN = {
    "an output that is added to": ("for i in range(4):\n  B[i] = B[i] + A[i, 0]", "`B[0]` is read", "i = 0"),
    "the second half of an output": (
        "for i in range(2):\n  B[i] = T.float32(0)\nfor i in range(4):\n  B[i] = B[i] + A[i, 0]",
        "`B[2]` is read",
        "i = 2",
    ),
    "a temporary": (
        "C = T.alloc_buffer((4, 4))\nfor i in range(4):\n  C[i, i] = A[i, 0]\nfor i in range(4):\n  B[i] = C[i, 3 - i]",
        "`C[0, 3]` is read",
        "i = 0",
    ),
    "a side of a choice that is taken": (
        "for i in range(4):\n  B[i] = T.Select(i < 2, A[i, 0], B[i])",
        "`B[2]` is read",
        "i = 2",
    ),
}
SOUND = {
    "written before": "for i in range(4):\n  B[i] = A[i, 0]\nfor i in range(4):\n  B[i] = B[i] + A[i, 1]",
    "a reduction with a start": (
        "for i, j in T.grid(4, 3):\n  with T.sblock('sum'):\n    vi, vj = T.axis.remap('SR', [i, j])\n"
        "    with T.init():\n      B[vi] = T.float32(0)\n    B[vi] = B[vi] + A[vi, vj]"
    ),
    "a side of a choice that is not taken": "for i in range(4):\n  B[i] = T.Select(i < 9, A[i, 0], B[i])",
    "a temporary that is written": (
        "C = T.alloc_buffer((4,))\nfor i in range(4):\n  C[i] = A[i, 0]\nfor i in range(4):\n  B[i] = C[3 - i]"
    ),
}


def found(text: str) -> Diagnostic:
    with pytest.raises(RunError) as caught:
        FINDING.kernel(prim_funcs(text)["main"], "main")(np.ones((4, 3), "float32"), np.ones(4, "float32"))
    return caught.value.diagnostics[0]


@pytest.mark.parametrize("name", BROKEN)
def test_the_first_element_that_nothing_wrote_is_named(name: str) -> None:
    body, what, where = BROKEN[name]
    diagnostic = found(kernel_text(body))
    assert diagnostic.code == "JT020"
    assert diagnostic.message.startswith(what)
    assert diagnostic.message.endswith(f"at {where}")
    assert diagnostic.span is not None
    assert diagnostic.span.line >= 6


@pytest.mark.parametrize("name", BROKEN)
def test_without_the_mode_the_read_goes_unseen(name: str) -> None:
    function = prim_funcs(kernel_text(BROKEN[name][0]))["main"]
    Engine().kernel(function, "main")(np.ones((4, 3), "float32"), np.ones(4, "float32"))


@pytest.mark.parametrize("name", SOUND)
def test_values_are_the_same_with_the_mode(name: str) -> None:
    function = prim_funcs(kernel_text(SOUND[name]))["main"]
    a = np.random.default_rng(0).standard_normal((4, 3)).astype("float32")
    plain, looked = np.zeros(4, "float32"), np.zeros(4, "float32")
    Engine().kernel(function, "main")(a, plain)
    FINDING.kernel(function, "main")(a, looked)
    assert np.array_equal(plain, looked)
    assert plain.any()


PROGRAM = """
@I.ir_module(s_tir=True)
class Module:
    @T.prim_func(s_tir=True, private=True)
    def increase(A: T.Buffer((4,), "float32")):
        for i in range(4):
            A[i] = A[i] + T.float32(1)

    @T.prim_func(s_tir=True, private=True)
    def add(A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32")):
        for i in range(4):
            B[i] = {value}

    @R.function
    def main(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        cls = Module
        y = R.call_tir(cls.add, (x,), out_ty=R.Tensor((4,), "float32"))
        z = R.call_tir_inplace(cls.increase, (y,), inplace_indices=[0], out_ty=R.Tensor((4,), "float32"))
        return z
"""


def test_the_machine_knows_which_arguments_hold_values() -> None:
    x = np.ones(4, "float32")
    sound = build(parse(HEAD + PROGRAM.format(value="A[i] + A[i]")))
    assert VirtualMachine(sound, finds_uninitialised=True)["main"](x).tolist() == [3.0] * 4
    broken = build(parse(HEAD + PROGRAM.format(value="A[i] + B[i]")))
    with pytest.raises(RunError) as caught:
        VirtualMachine(broken, finds_uninitialised=True)["main"](x)
    assert [item.code for item in caught.value.diagnostics] == ["JT020"]
