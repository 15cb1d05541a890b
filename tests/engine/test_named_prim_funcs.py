"""A prim func runs by its name: alone, private, beside Relax functions, and one that returns a number."""

import pytest

from relax_core.engine.protocol import CostsOf, Execute, Program
from relax_core.engine.session import Session
from tests.engine.asking import ask

PLUS = """(private=True, s_tir=True)
{0}def plus(A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32")):
{0}    for i in range(4):
{0}        B[i] = A[i] * T.float32(0) + T.float32(2)
"""
ALONE = "@T.prim_func" + PLUS.format("")
BESIDE = f"""@I.ir_module
class Module:
    @T.prim_func{PLUS.format("    ")}
    @R.function
    def main(x: R.Tensor((4,), "float32")):
        cls = Module
        return R.call_tir(cls.plus, (x,), out_ty=R.Tensor((4,), "float32"))
"""
RETURNS = "@T.prim_func\ndef value(a: T.int32) -> T.int32:\n    return a * 0 + 7\n"
BOTH = """@T.prim_func
def both(A: T.Buffer((2,), "int32"), a: T.int32) -> T.int32:
    A[0] = 1
    A[1] = 2
    return a * 0 + 7
"""


@pytest.mark.parametrize(
    ("text", "entry", "result"),
    [(ALONE, "plus", "[2. 2. 2. 2.]"), (BESIDE, "plus", "[2. 2. 2. 2.]"), (BESIDE, "", "[2. 2. 2. 2.]"),
     (RETURNS, "value", "7"), (BOTH, "both", "([1 2], 7)")],
    ids=["alone", "beside a Relax function", "not named", "with a value", "with a buffer and a value"],
)  # fmt: skip
def test_it_gives_what_it_writes_and_what_it_returns(text: str, entry: str, result: str) -> None:
    done = ask(Session(), Execute(Program(text, entry=entry)))
    assert done.rendered == ""
    assert done.result == result


def test_one_beside_a_relax_function_has_costs() -> None:
    rows = ask(Session(), CostsOf(Program(BESIDE, entry="plus"))).rows
    assert {row.hindrance for row in rows} == {""}
    assert {row.launches for row in rows} == {1}
