"""Prim funcs that a pass runs on arrays give what their kernels give."""

import numpy as np
import pytest

import relax_core as rc
from relax_core.ir.integer.evaluate import NoValueError
from relax_core.ir.tir import PrimFunc
from relax_core.passes.tir.running import statements
from relax_core.passes.tir.running.statements import run_prim_func

OPERATORS = (
    "R.add(x, R.const(1.5, 'float32'))",
    "R.matmul(x, x)",
    "R.nn.softmax(x, axis=1)",
    "R.nn.pad(x, (1, 1, 2, 0))",
    "R.sum(x, axis=[0])",
    "R.argmax(x, axis=1)",
    "R.permute_dims(x)",
    "R.concat((x, x), axis=1)",
    "R.tril(x, k=1)",
    "R.astype(x, dtype='int32')",
    "R.erf(x)",
    "R.floor_mod(x, R.const(0.3, 'float32'))",
    "R.variance(x, axis=[1], keepdims=True)",
    "R.nn.max_pool2d(R.reshape(x, R.shape([1, 1, 4, 4])), pool_size=[2, 2], padding=[1, 1, 1, 1])",
    "R.take(x, R.const([3, 1], 'int64'), axis=0)",
    "R.nn.conv2d(R.reshape(x, R.shape([1, 1, 4, 4])), R.reshape(x, R.shape([1, 1, 4, 4])), padding=[1, 1])",
)
HEADER = "@I.ir_module\nclass Module:\n"


@pytest.mark.parametrize("operator", OPERATORS)
def test_what_is_folded_is_what_runs(operator: str) -> None:
    data = np.random.default_rng(0).normal(size=(4, 4)).astype(np.float32)
    body = f'    def main(x: R.Tensor((4, 4), "float32")):\n        y = {operator}\n        return y\n'
    text = f"{HEADER}    @R.function\n{body}"
    legalized = rc.run_pipeline(rc.parse(text), "LegalizeOps")[-1].after
    bound = rc.run_pipeline(legalized, f"BindParams(params={{'x': {data.tolist()}}}), FoldConstant")[-1].after
    expected = rc.VirtualMachine(rc.build(legalized))["main"](data)
    found = rc.VirtualMachine(rc.build(bound))["main"]()
    assert "call_tir" not in rc.script(bound)
    assert found.dtype == expected.dtype
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-6)


def prim_func(body: str) -> PrimFunc:
    lines = "\n".join(f"        {line}" for line in body.splitlines())
    text = (
        f'{HEADER}    @T.prim_func\n    def f(A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32")):\n{lines}\n'
    )
    function = rc.parse(text)["f"]
    assert isinstance(function, PrimFunc)
    return function


SUM = """for i in range(4):
    with T.sblock("s"):
        v = T.axis.spatial(4, i)
        B[v] = T.if_then_else(v < 3, A[v + 1], T.float32(0))"""
SHIFT = """for i in range(3):
    B[i + 1] = B[i] + A[i]"""


def test_an_access_that_only_some_instances_make_is_made_by_these() -> None:
    made = run_prim_func(prim_func(SUM), (np.arange(4, dtype=np.float32), np.zeros(4, np.float32)), ())
    assert made[1].tolist() == [1, 2, 3, 0]


def test_instances_that_read_what_others_write_run_in_order() -> None:
    made = run_prim_func(prim_func(SHIFT), (np.ones(4, np.float32), np.zeros(4, np.float32)), ())
    assert made[1].tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ('T.evaluate(T.call_extern("int32", "f", A.data))', "a call for its effect"),
        ("for i in T.thread_binding(4, thread='threadIdx.x'):\n    B[i] = A[i]", "a loop over threadIdx.x"),
        ("while T.bool(True):\n    B[0] = A[0]", "it takes more than 100 steps"),
    ],
)
def test_what_is_not_run_is_said(body: str, words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(statements, "MAX_STORES", 100)
    with pytest.raises(NoValueError, match=words):
        run_prim_func(prim_func(body), (np.zeros(4, np.float32), np.zeros(4, np.float32)), ())
