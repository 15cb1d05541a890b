"""Passes on operators and reshapes: as apache-tvm has them, and what a run gives."""

import numpy as np
import pytest

import relax_core as rc
from tests.apache_tvm import relax
from tests.passes.programs import parse
from tests.passes.wheel import agrees, passed, remarks, same_values

LAYERS = """
    @R.function
    def main(
        x: R.Tensor((2,3,4), "float32"),
        g: R.Tensor((3,4), "float32"),
        b: R.Tensor((3,4), "float32"),
        s: R.Tensor((2,), "int64"),
        y: R.Tensor(("n", "k"), "float32"),
        u: R.Tensor(ndim=1, dtype="int64"),
    ):
        n = T.int64(); k = T.int64()
        with R.dataflow():
            a = R.nn.layer_norm(x, g, b, axes=[-2, -1], epsilon=1e-5)
            a2 = R.nn.layer_norm(x, g, b, axes=[-2, -1], epsilon=1e-5, center=False, scale=False)
            c = R.nn.dropout(x, rate=0.5)
            c0 = c[0]
            e = y
            R.output(a, a2, c0, e)
        return (a, a2, c0, e)
"""
TWO_FUNCTIONS = """
    @R.function(private=True)
    def other(
        x: R.Tensor((2,3,4,4), "float32"),
        g: R.Tensor((3,), "float32"),
        b: R.Tensor((3,), "float32"),
        m: R.Tensor((3,), "float32"),
        v: R.Tensor((3,), "float32"),
    ):
        b0 = R.nn.batch_norm(x, g, b, m, v, axis=1)
        return b0
    @R.function
    def main(
        x: R.Tensor((2,3,4,4), "float32"),
        g: R.Tensor((3,), "float32"),
        b: R.Tensor((3,), "float32"),
        m: R.Tensor((3,), "float32"),
        v: R.Tensor((3,), "float32"),
    ):
        b0 = R.nn.batch_norm(x, g, b, m, v, axis=1)
        return b0
"""
RESHAPES = """
    @R.function
    def main(x: R.Tensor((2,3), "float32"), y: R.Tensor(("n","m"), "float32")):
        n = T.int64(); m = T.int64()
        with R.dataflow():
            a = R.reshape(x, R.shape([6]))
            b = R.reshape(a, R.shape([3, 2]))
            c = R.reshape(b, R.shape([2, 3]))
            d = R.reshape(x, R.shape([2, 3]))
            e = R.reshape(y, R.shape([n, m]))
            f = R.reshape(y, R.shape([n * m]))
            g = R.exp(a)
            R.output(b, c, d, e, f, g)
        h = R.reshape(g, R.shape([6]))
        i = R.reshape(h, R.shape([2, 3]))
        j = R.reshape(i, R.shape([1, 6]))
        return (b, c, d, e, f, g, j)
"""
PRIM_FUNCS = """
    @T.prim_func(private=True, s_tir=True)
    def reshape(A: T.Buffer((T.int64(2), T.int64(3)), "float32"), B: T.Buffer((T.int64(6),), "float32")):
        for i in range(T.int64(6)):
            with T.sblock("b"):
                vi = T.axis.spatial(T.int64(6), i)
                B[vi] = A[vi // T.int64(3), vi % T.int64(3)]
    @T.prim_func(private=True, s_tir=True)
    def ex(
        A: T.Buffer((T.int64(2), T.int64(3)), "float32"),
        B: T.Buffer((T.int64(1), T.int64(2), T.int64(3)), "float32"),
    ):
        for i, j, k in T.grid(T.int64(1), T.int64(2), T.int64(3)):
            with T.sblock("b"):
                vi, vj, vk = T.axis.remap("SSS", [i, j, k])
                B[vi, vj, vk] = A[vj, vk]
    @T.prim_func(private=True, s_tir=True)
    def copy(A: T.Buffer((T.int64(2), T.int64(3)), "float32"), B: T.Buffer((T.int64(2), T.int64(3)), "float32")):
        for j, k in T.grid(T.int64(2), T.int64(3)):
            with T.sblock("b"):
                vj, vk = T.axis.remap("SS", [j, k])
                B[vj, vk] = A[vj, vk]
    @T.prim_func(private=True, s_tir=True)
    def tr(A: T.Buffer((T.int64(2), T.int64(3)), "float32"), B: T.Buffer((T.int64(3), T.int64(2)), "float32")):
        for j, k in T.grid(T.int64(3), T.int64(2)):
            with T.sblock("b"):
                vj, vk = T.axis.remap("SS", [j, k])
                B[vj, vk] = A[vk, vj]
    @T.prim_func(private=True, s_tir=True)
    def rel(A: T.Buffer((T.int64(2), T.int64(3)), "float32"), B: T.Buffer((T.int64(2), T.int64(3)), "float32")):
        for j, k in T.grid(T.int64(2), T.int64(3)):
            with T.sblock("b"):
                vj, vk = T.axis.remap("SS", [j, k])
                B[vj, vk] = T.max(A[vj, vk], T.float32(0))
    @T.prim_func(private=True, s_tir=True)
    def sy(a: T.handle, b: T.handle):
        n = T.int64()
        A = T.match_buffer(a, (n, T.int64(3)))
        B = T.match_buffer(b, (n * T.int64(3),))
        for i in range(n * T.int64(3)):
            with T.sblock("b"):
                vi = T.axis.spatial(n * T.int64(3), i)
                B[vi] = A[vi // T.int64(3), vi % T.int64(3)]
    @T.prim_func(private=True, s_tir=True)
    def part(A: T.Buffer((T.int64(2), T.int64(3)), "float32"), B: T.Buffer((T.int64(3),), "float32")):
        for i in range(T.int64(3)):
            with T.sblock("b"):
                vi = T.axis.spatial(T.int64(3), i)
                B[vi] = A[vi // T.int64(3), vi % T.int64(3)]
    @T.prim_func(private=True, s_tir=True)
    def cast(A: T.Buffer((T.int64(2), T.int64(3)), "float32"), B: T.Buffer((T.int64(6),), "float16")):
        for i in range(T.int64(6)):
            with T.sblock("b"):
                vi = T.axis.spatial(T.int64(6), i)
                B[vi] = T.Cast("float16", A[vi // T.int64(3), vi % T.int64(3)])
    @T.prim_func(private=True, s_tir=True)
    def two(
        A: T.Buffer((T.int64(2), T.int64(3)), "float32"),
        B: T.Buffer((T.int64(6),), "float32"),
        C: T.Buffer((T.int64(6),), "float32"),
    ):
        for i in range(T.int64(6)):
            with T.sblock("b"):
                vi = T.axis.spatial(T.int64(6), i)
                B[vi] = A[vi // T.int64(3), vi % T.int64(3)]
        for i in range(T.int64(6)):
            with T.sblock("c"):
                vi = T.axis.spatial(T.int64(6), i)
                C[vi] = A[vi // T.int64(3), vi % T.int64(3)]
    @R.function
    def main(x: R.Tensor((2,3), "float32"), y: R.Tensor(("n", 3), "float32")):
        n = T.int64()
        cls = Module
        with R.dataflow():
            a = R.call_tir(cls.reshape, (x,), out_ty=R.Tensor((6,), "float32"))
            b = R.call_tir(cls.ex, (x,), out_ty=R.Tensor((1,2,3), "float32"))
            c = R.call_tir(cls.copy, (x,), out_ty=R.Tensor((2,3), "float32"))
            d = R.call_tir(cls.tr, (x,), out_ty=R.Tensor((3,2), "float32"))
            e = R.call_tir(cls.rel, (x,), out_ty=R.Tensor((2,3), "float32"))
            f = R.call_tir(cls.sy, (y,), out_ty=R.Tensor((n * 3,), "float32"))
            h = R.call_tir(cls.cast, (x,), out_ty=R.Tensor((6,), "float16"))
            two = R.call_tir(cls.two, (x,), out_ty=[R.Tensor((6,), "float32"), R.Tensor((6,), "float32")])
            part = R.call_tir(cls.part, (x,), out_ty=R.Tensor((3,), "float32"))
            a9 = R.exp(a)
            b9 = R.exp(b)
            c9 = R.exp(c)
            d9 = R.exp(d)
            e9 = R.exp(e)
            f9 = R.exp(f)
            h9 = R.exp(h)
            part9 = R.exp(part)
            k = R.call_tir(cls.reshape, (x,), out_ty=R.Tensor((6,), "float32"))
            R.output(a9, b9, c9, d9, e9, f9, h9, part9, two, k)
        g = R.call_tir(cls.reshape, (x,), out_ty=R.Tensor((6,), "float32"))
        return (a9, b9, c9, d9, e9, f9, h9, part9, g, two, k)
"""
TO_SHAPE = """
    @R.function
    def main(s: R.Tensor((2,), "int64"), y: R.Tensor((6,), "float32")):
        with R.dataflow():
            d = R.tensor_to_shape(s)
            e = R.reshape(y, d)
            R.output(e)
        return e
"""


def batch_norm(options: str = "") -> str:
    return f"""
    @R.function
    def main(
        x: R.Tensor((2, 3, 4, 4), "float32"),
        g: R.Tensor((3,), "float32"),
        b: R.Tensor((3,), "float32"),
        m: R.Tensor((3,), "float32"),
        v: R.Tensor((3,), "float32"),
    ):
        with R.dataflow():
            w = R.multiply(v, v)
            b0 = R.nn.batch_norm(x, g, b, m, w, axis=1{options})
            b1 = b0[0]
            b2 = b0[1]
            b3 = b0[2]
            R.output(b1, b2, b3)
        return (b1, b2, b3)
"""


OPTIONS = ("", ", center=False, scale=False, epsilon=0.1, momentum=0.3")


@pytest.mark.parametrize("options", OPTIONS)
def test_batch_norm_is_decomposed_as_in_tvm(options: str) -> None:
    stage = agrees(batch_norm(options), relax.transform.DecomposeOpsForTraining(), "DecomposeOpsForTraining")
    same_values(stage.before, stage.after, rtol=1e-4)
    inference = agrees(batch_norm(options), relax.transform.DecomposeOpsForInference(), "DecomposeOpsForInference")
    assert not rc.run_pipeline(inference.after, "DecomposeOpsForInference")[-1].is_changed


def test_inference_uses_the_averages_that_are_given() -> None:
    text = batch_norm(", training=False")
    stage = passed(parse(text), "DecomposeOpsForInference")
    same_values(stage.before, stage.after, rtol=1e-4)


def test_layer_norm_is_decomposed_in_training_only() -> None:
    agrees(LAYERS, relax.transform.DecomposeOpsForTraining(), "DecomposeOpsForTraining")
    assert not passed(parse(LAYERS), "DecomposeOpsForInference").is_changed


@pytest.mark.parametrize("name", ["other", "absent"])
def test_one_function_is_decomposed(name: str) -> None:
    theirs = relax.transform.DecomposeOpsForInference(name)
    stage = agrees(TWO_FUNCTIONS, theirs, f"DecomposeOpsForInference(func_name='{name}')")
    assert stage.is_changed == (name == "other")
    wanted = ["nothing is decomposed: there is no function absent"] if name == "absent" else []
    assert remarks(stage, "missed") == wanted


@pytest.mark.parametrize("name", ["DecomposeOpsForInference", "DecomposeOpsForTraining"])
def test_a_shape_that_is_read_binds_its_dimensions(name: str) -> None:
    stage = passed(parse(TO_SHAPE), name)
    assert "R.match_cast(lv, R.Shape([x, x1]))" in rc.script(stage.after)
    for module in (stage.before, stage.after):
        made = rc.VirtualMachine(rc.build(module))["main"](np.array([2, 3]), np.arange(6, dtype=np.float32))
        assert made.shape == (2, 3)


def test_reshapes_are_joined_as_in_tvm() -> None:
    stage = agrees(RESHAPES, relax.transform.RemoveRedundantReshape(), "RemoveRedundantReshape")
    assert not rc.run_pipeline(stage.after, "RemoveRedundantReshape")[-1].is_changed
    same_values(stage.before, stage.after)


def test_prim_funcs_that_reshape_become_reshapes_as_in_tvm() -> None:
    stage = agrees(PRIM_FUNCS, relax.transform.RewriteDataflowReshape(), "RewriteDataflowReshape")
    assert remarks(stage, "applied") == [
        "@reshape only reshapes: a is a view",
        "@ex only reshapes: b is a view",
        "@copy only reshapes: c is a view",
        "@sy only reshapes: f is a view",
    ]
    assert remarks(stage, "missed") == ["@reshape only reshapes, but k leaves the dataflow block"]
    same_values(stage.before, stage.after)


def test_patterns_are_those_of_tvm() -> None:
    stage = agrees(PRIM_FUNCS, relax.transform.AnnotateTIROpPattern(), "AnnotateTIROpPattern")
    assert remarks(stage, "applied")[0] == "@cast is injective (2)"
    assert not rc.run_pipeline(stage.after, "AnnotateTIROpPattern")[-1].is_changed
