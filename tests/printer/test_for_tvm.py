"""What is printed for a version of apache-tvm is read there, and gives the same values."""

import subprocess
from typing import Any

import numpy as np
import pytest

import relax_core as rc
from relax_core.ir.equality import first_difference
from relax_core.ir.expr import Function
from relax_core.ir.module import IRModule
from tests.conftest import OLD_TVM
from tests.passes.wheel import flat, input_of

HEAD = "@I.ir_module\nclass Module:\n"
COMPOUND_DIMENSION = """
    @R.function
    def main(x: R.Tensor(("n * 8",), "float32"), s: R.Shape(["n"])):
        n = T.int64()
        y = R.exp(x)
        z = R.full(R.shape([n, n + 1]), R.const(2.0, "float32"), dtype="float32")
        return (y, z)
"""
SCALARS = """
    @T.prim_func
    def scaled(A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32"), k: T.int64):
        for i in range(4):
            with T.block("b"):
                v = T.axis.spatial(4, i)
                B[v] = A[v] * T.Cast("float32", k)
    @R.function
    def main(p: R.Prim(value="n"), x: R.Tensor((4,), "float32"), y: R.Tensor(("m",), "float32")):
        n = T.int64()
        m = T.int64()
        cls = Module
        a = R.call_tir(cls.scaled, (x,), out_sinfo=R.Tensor((4,), "float32"), tir_vars=R.shape([n + m]))
        b = R.call_tir(cls.scaled, (a,), out_sinfo=R.Tensor((4,), "float32"), tir_vars=R.shape([n]))
        return (b, R.full(R.shape([n]), R.const(1.0, "float32"), dtype="float32"), p)
"""
IN_PLACE = """
    @T.prim_func(private=True)
    def grow(A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32"), k: T.int64):
        for i in range(4):
            A[i] = A[i] + T.Cast("float32", k)
            B[i] = A[i] * T.float32(2)
    @R.function
    def main(x: R.Tensor((4,), "float32"), y: R.Tensor(("n",), "float32")):
        n = T.int64()
        cls = Module
        a = R.add(x, x)
        both = R.call_tir_inplace(
            cls.grow, (a,), inplace_indices=[0, -1], tir_vars=R.shape([n]),
            out_sinfo=[R.Tensor((4,), "float32"), R.Tensor((4,), "float32")],
        )
        return both
"""
ONE_NAME = """
    @R.function
    def f(x: R.Tensor(("k",), "float32")) -> R.Tensor(("k",), "float32"):
        return x
    @R.function
    def main(x: R.Tensor(ndim=1, dtype="float32")):
        k = T.int64()
        y = R.match_cast(x, R.Tensor((k,), "float32"))
        return R.reshape(y, R.shape([1, k]))
"""
MEMORY = """
    @T.prim_func(private=True)
    def turned(A: T.Buffer((4,), "float32"), C: T.Buffer((4,), "float32")):
        p = T.allocate([4], "float32", "global")
        B = T.Buffer((4,), "float32", data=p)
        for i in range(4):
            B[i] = A[i]
        for i in range(4):
            C[i] = B[3 - i]
    @T.prim_func(private=True)
    def views(A: T.Buffer((4,), "float32"), C: T.Buffer((4,), "float32")):
        with T.allocate([4], "float32", "global") as p:
            B = T.decl_buffer((4,), "float32", data=p)
            D = T.decl_buffer((2, 2), "float32", data=p)
            for i in range(4):
                B[i] = A[i] * T.float32(2)
            for i, j in T.grid(2, 2):
                C[i * 2 + j] = D[i, j]
    @R.function
    def main(x: R.Tensor((4,), "float32")):
        cls = Module
        y = R.call_tir(cls.turned, (x,), out_sinfo=R.Tensor((4,), "float32"))
        z = R.call_tir(cls.views, (y,), out_sinfo=R.Tensor((4,), "float32"))
        return z
"""
VOID = """
    @R.function
    def main(x: R.Tensor((2, 3), "float32"), w: R.Tensor((3, 2), "float32")):
        return R.matmul(x, w, out_dtype="void")
"""
PROGRAMS = {
    "a compound dimension": COMPOUND_DIMENSION,
    "scalars": SCALARS,
    "in place": IN_PLACE,
    "one name": ONE_NAME,
    "memory": MEMORY,
    "a dtype that says nothing": VOID,
}
PASSES = {
    "as read": "",
    "legalized": "LegalizeOps",
    "fused": "LegalizeOps, AnnotateTIROpPattern, FuseOps, FuseTIR",
    "its dimensions proven": "LegalizeOps, CanonicalizeTIRVariables",
    "its calls rewritten": "LegalizeOps, ToNonDataflow, RemovePurityChecking, CallTIRRewrite",
}


def printed(name: str, passes: str, tvm: Any) -> tuple[IRModule, str]:
    module = rc.parse(HEAD + PROGRAMS[name])
    if passes:
        module = rc.run_pipeline(module, passes)[-1].after
    return module, rc.script(module, tvm=tvm)


def inputs(module: IRModule) -> list[Any]:
    function = module["main"]
    assert isinstance(function, Function)
    # One size for all dimensions that have no name.
    return [
        np.ones(5, "float32") if getattr(item.annotation, "shape", ()) is None else input_of(item.annotation, seed)
        for seed, item in enumerate(function.params)
    ]


@pytest.mark.parametrize("passes", PASSES)
@pytest.mark.parametrize("name", PROGRAMS)
def test_the_text_reads_back_with_the_same_values(name: str, passes: str) -> None:
    for tvm in ("0.25", "0.27"):
        module, text = printed(name, PASSES[passes], tvm)
        again = rc.parse(text)
        assert [str(item) for item in rc.check(again) if item.severity == "error"] == []
        values = [flat(rc.VirtualMachine(rc.build(item))["main"](*inputs(module))) for item in (module, again)]
        for a, b in zip(*values, strict=True):
            np.testing.assert_array_equal(a, b)


@pytest.mark.tvm
@pytest.mark.parametrize("passes", PASSES)
@pytest.mark.parametrize("name", PROGRAMS)
def test_the_wheel_reads_the_text_and_gives_the_same_values(name: str, passes: str) -> None:
    from tests.apache_tvm import from_source, relax, tvm

    module, text = printed(name, PASSES[passes], "0.27")
    machine = relax.VirtualMachine(relax.build(from_source(text), "llvm"), tvm.cpu())
    given = inputs(module)
    ours = flat(rc.VirtualMachine(rc.build(module))["main"](*given))
    theirs = machine["main"](*[_for_the_wheel(item) for item in given])
    for a, b in zip(ours, _flat(theirs), strict=True):
        np.testing.assert_allclose(b, a, rtol=1e-6)


@pytest.mark.tvm
def test_the_wheel_reads_an_absent_argument_of_a_packed_function() -> None:
    from tests.apache_tvm import from_source

    module = rc.parse("""
@R.function(pure=False)
def main(x: R.Tensor((4,), "float32")):
    y = R.call_packed("unknown", x, None, ty_args=(R.Tensor((4,), "float32"),))
    return y
""")
    text = rc.script(module, tvm="0.27")
    assert "None" not in text
    from_source(text)
    assert first_difference(rc.parse(text), module) is None


def _for_the_wheel(value: Any) -> Any:
    from tests.apache_tvm import tvm

    if isinstance(value, tuple):
        return tvm.runtime.ShapeTuple(value)
    return tvm.runtime.tensor(value) if isinstance(value, np.ndarray) else value


def _flat(value: Any) -> list[Any]:
    if hasattr(value, "numpy"):
        return [value.numpy()]
    return [value] if isinstance(value, int) else [part for item in value for part in _flat(item)]


@pytest.mark.old_tvm
def test_apache_tvm_0_25_reads_the_texts() -> None:
    texts = [printed(name, passes, "0.25")[1] for name in PROGRAMS for passes in PASSES.values()]
    code = f"from tvm.script import from_source\nfor text in {texts!r}:\n    from_source(text)\n"
    subprocess.run([OLD_TVM / "bin" / "python", "-c", code], check=True, env={}, capture_output=True)
