"""BoxPrims and UnboxScalars: programs that mix host scalars and tensors run after them, and the cost is told."""

from typing import Any

import numpy as np
import pytest

import relax_core as rc
from relax_core.passes.core import Stage
from relax_core.passes.pipeline import DEFAULT_PIPELINE
from tests.narrow import is_tuple

HEAD = "from tvm.script import ir as I\nfrom tvm.script import relax as R\nfrom tvm.script import tirx as T\n\n\n"
SCALE = """
    @R.function
    def scale(x: R.Tensor((2,), "float32"), k: R.Tensor((), "float32")) -> R.Tensor((2,), "float32"):
        return R.multiply(x, k)
"""
FILL = """
    @R.function
    def fill(n: R.Prim("int64"), v: R.Prim("float32")):
        y = R.full((2,), v, "float32")
        return (y, n)
"""
KERNEL = """
    @T.prim_func(private=True)
    def kernel(x: T.Buffer((T.int64(2),), "float32"), k: T.float32, out: T.Buffer((T.int64(2),), "float32")):
        for i in range(2):
            with T.sblock("scale"):
                v = T.axis.spatial(2, i)
                out[v] = x[v] * k
"""
X = np.array([1, 2], np.float32)
HALF = np.array(0.5, np.float32)
# name -> (functions, parameters, statements, arguments, result, conversions: all, literals, bytes)
BOXED: dict[str, tuple[str, str, str, tuple[Any, ...], Any, tuple[int, int, int]]] = {
    "operand": ("", "n: R.Prim('int64')", "y = x + n", (3,), X + 3, (1, 0, 4)),
    "literal": ("", "", "y = R.add(x, R.prim_value(2))", (), X + 2, (1, 1, 0)),
    "computed": ("", "n: R.Prim('int64')", "y = R.add(x, R.prim_value(n * 2))", (3,), X + 6, (1, 0, 4)),
    "chain": ("", "n: R.Prim('int64')", "y = (x + n) * n", (3,), (X + 3) * 3, (2, 0, 8)),
    "argument": (SCALE, "f: R.Prim('float32')", "y = Module.scale(x, f)", (0.5,), X / 2, (1, 0, 4)),
    "declared": ("", "f: R.Prim('float64')", "y: R.Tensor((), 'float64') = f", (0.5,), np.array(0.5), (1, 0, 8)),
    "tuple": ("", "n: R.Prim('int64')", "y = R.stack((R.sum(x), n))", (4,), np.array([3, 4]), (1, 0, 4)),
    "branch": (
        "", "c: R.Prim('bool'), f: R.Prim('float32')",
        "if c:\n            y = R.sum(x)\n        else:\n            y = f", (False, 2.5), np.array(2.5), (1, 0, 4),
    ),
}  # fmt: skip
UNBOXED: dict[str, tuple[str, str, str, tuple[Any, ...], Any, tuple[int, int, int]]] = {
    "attribute": (
        "", "a: R.Tensor((), 'int64')", "y = R.nn.softmax(x, axis=a)",
        (np.array(0),), np.exp(X) / np.exp(X).sum(), (1, 0, 0),
    ),
    "axes": ("", "a: R.Tensor((), 'int64')", "y = R.sum(x, axis=[a])", (np.array(0),), np.array(3), (1, 0, 0)),
    "argument": (
        FILL, "v: R.Tensor((), 'float32')", "y = Module.fill(R.const(3, 'int64'), v)",
        (HALF,), (np.array([0.5, 0.5]), 3), (2, 1, 0),
    ),
    "declared": ("", "v: R.Tensor((), 'float32')", "y: R.Prim('float32') = v", (HALF,), 0.5, (1, 0, 0)),
    "kernel": (
        KERNEL, "k: R.Tensor((), 'float32')",
        "y = R.call_tir(Module.kernel, (x, k), out_ty=R.Tensor((2,), 'float32'))", (HALF,), X / 2, (1, 0, 0),
    ),
    "branch": (
        "", "c: R.Prim('bool'), n: R.Prim('int64'), t: R.Tensor((), 'int64')",
        "if c:\n            y = n\n        else:\n            y = t", (False, 1, np.array(7)), 7, (1, 0, 0),
    ),
}  # fmt: skip
CASES = [
    *(("BoxPrims", name, case) for name, case in BOXED.items()),
    *(("UnboxScalars", name, case) for name, case in UNBOXED.items()),
]


def text_of(functions: str, params: str, statements: str) -> str:
    more = f", {params}" if params else ""
    main = f"    @R.function\n    def main(x: R.Tensor((2,), 'float32'){more}):\n        {statements}"
    return f"{HEAD}@I.ir_module\nclass Module:{functions}\n{main}\n        return y\n"


def words(stage: Stage) -> str:
    return "\n".join(item.message for item in stage.remarks)


def agree(found: Any, expected: Any) -> None:
    if is_tuple(expected):
        for field, wanted in zip(found, expected, strict=True):
            agree(field, wanted)
        return
    assert isinstance(found, np.ndarray) == isinstance(expected, np.ndarray)
    np.testing.assert_allclose(found, expected, rtol=1e-6)


@pytest.mark.parametrize("rest", ["", f", {DEFAULT_PIPELINE}"], ids=["alone", "before the whole pipeline"])
@pytest.mark.parametrize(
    ("name", "case"), [(name, case) for name, _, case in CASES], ids=[f"{a} {b}" for a, b, _ in CASES]
)
def test_a_mixed_program_runs_after_the_conversion(name: str, case: Any, rest: str) -> None:
    functions, params, statements, args, expected, (total, literals, size_bytes) = case
    module = rc.parse(text_of(functions, params, statements))
    assert [item for item in rc.check(module) if item.severity == "error"]
    (stage,) = rc.run_pipeline(module, name)
    assert not rc.check(stage.after)
    assert f"conversions: {total}; of literals, which cost nothing: {literals};" in words(stage)
    assert f"of {size_bytes} bytes together" in words(stage)
    agree(rc.VirtualMachine(rc.build(module, passes=f"{name}{rest}"))["main"](X, *args), expected)


# Branches of two kinds are brought to either kind, so each pass repairs them.
ONE_SIDED = [item for item in CASES if item[1] != "branch"]


@pytest.mark.parametrize(
    ("name", "case"), [(name, case) for name, _, case in ONE_SIDED], ids=[f"{a} {b}" for a, b, _ in ONE_SIDED]
)
def test_the_other_pass_does_not_repair_it(name: str, case: Any) -> None:
    other = "UnboxScalars" if name == "BoxPrims" else "BoxPrims"
    module = rc.parse(text_of(*case[:3]))
    with pytest.raises(rc.CompileError):
        rc.run_pipeline(module, other)


def test_both_passes_repair_a_program_with_both_mistakes() -> None:
    text = text_of("", "n: R.Prim('int64'), t: R.Tensor((), 'int64')", "y = R.nn.softmax(x + n, axis=t)")
    stages = rc.run_pipeline(rc.parse(text), "BoxPrims, UnboxScalars")
    assert not rc.check(stages[-1].after)


def test_other_errors_are_not_repaired() -> None:
    text = text_of("", "n: R.Prim('int64')", "y = R.matmul(x + n, R.const([1.0, 2.0, 3.0], 'float32'))")
    with pytest.raises(rc.CompileError) as caught:
        rc.run_pipeline(rc.parse(text), "BoxPrims")
    assert "TY012" in {item.code for item in caught.value.diagnostics}


def test_a_module_without_mixing_is_left_alone() -> None:
    module = rc.parse(text_of("", "n: R.Prim('int64')", "y = R.add(x, x)"))
    for name in ("BoxPrims", "UnboxScalars"):
        (stage,) = rc.run_pipeline(module, f"Normalize, {name}")[-1:]
        assert not stage.is_changed
        assert not stage.remarks


def test_a_large_integer_is_not_boxed_as_something_smaller() -> None:
    module = rc.parse(text_of("", "f: R.Prim('float32'), i: R.Tensor((), 'int64')", "y = R.add(i, f)"))
    with pytest.raises(rc.CompileError) as caught:
        rc.run_pipeline(module, "BoxPrims")
    assert {item.code for item in caught.value.diagnostics} == {"TY011"}
