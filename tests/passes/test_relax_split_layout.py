"""SplitLayoutRewritePreproc: as in apache-tvm, with the same values, and only where the parts are independent."""

import pytest

import relax_core as rc
from tests.apache_tvm import relax
from tests.passes.programs import parse
from tests.passes.wheel import agrees, passed, remarks, same_values

NAME = "SplitLayoutRewritePreproc"
PREPROC = 'T.sblock_attr({"meta_schedule.layout_rewrite_preproc": True})'
ONE = f"""
    @T.prim_func(private=True, s_tir=True)
    def mm(A: T.Buffer((8, 8), "float32"), W: T.Buffer((8, 8), "float32"), C: T.Buffer((8, 8), "float32")):
        T.func_attr({{"layout_free_buffers": [1], "tirx.noalias": True}})
        W2 = T.sblock_alloc_buffer((2, 8, 4))
        B = T.sblock_alloc_buffer((8, 8))
        for i, j in T.grid(8, 8):
            with T.sblock("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi, vj] + T.float32(1)
        for i, j in T.grid(8, 8):
            with T.sblock("W_rewrite"):
                vi, vj = T.axis.remap("SS", [i, j])
                {PREPROC}
                W2[vi // 4, vj, vi % 4] = W[vi, vj]
        for i, j, k in T.grid(8, 8, 8):
            with T.sblock("C"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                with T.init():
                    C[vi, vj] = T.float32(0)
                C[vi, vj] = C[vi, vj] + B[vi, vk] * W2[vk // 4, vj, vk % 4]
    @R.function
    def main(x: R.Tensor((8, 8), "float32"), w: R.Tensor((8, 8), "float32")) -> R.Tensor((8, 8), "float32"):
        cls = Module
        with R.dataflow():
            y = R.call_tir(cls.mm, (x, w), out_ty=R.Tensor((8, 8), "float32"))
            z = R.call_tir(cls.mm, (y, w), out_ty=R.Tensor((8, 8), "float32"))
            R.output(z)
        return z
"""
TWO = f"""
    @T.prim_func(s_tir=True)
    def scaled(
        A: T.Buffer((8,), "float32"), W: T.Buffer((8,), "float32"), V: T.Buffer((8,), "float32"),
        C: T.Buffer((8,), "float32"),
    ):
        W2 = T.sblock_alloc_buffer((2, 4))
        V2 = T.sblock_alloc_buffer((4, 2))
        for i in T.grid(8):
            with T.sblock("V_rewrite"):
                vi = T.axis.spatial(8, i)
                {PREPROC}
                V2[vi // 2, vi % 2] = V[vi]
        for i in T.grid(8):
            with T.sblock("W_rewrite"):
                vi = T.axis.spatial(8, i)
                {PREPROC}
                W2[vi // 4, vi % 4] = W[vi]
        for i in T.grid(8):
            with T.sblock("C"):
                vi = T.axis.spatial(8, i)
                C[vi] = A[vi] * W2[vi // 4, vi % 4] + V2[vi // 2, vi % 2]
    @R.function
    def main(
        x: R.Tensor((8,), "float32"), w: R.Tensor((8,), "float32"), v: R.Tensor((8,), "float32")
    ) -> R.Tensor((8,), "float32"):
        cls = Module
        y = R.call_tir(cls.scaled, (x, w, v), out_ty=R.Tensor((8,), "float32"))
        return y
"""


@pytest.mark.tvm
@pytest.mark.parametrize("text", [ONE, TWO], ids=["one weight in a dataflow block", "two weights of a public function"])
def test_weights_are_laid_out_as_in_tvm(text: str) -> None:
    stage = agrees(text, relax.transform.SplitLayoutRewritePreproc(), NAME)
    same_values(stage.before, stage.after)
    assert rc.structural_equal(rc.parse(rc.script(stage.after)), stage.after)


def test_the_parts_share_no_variables() -> None:
    after = passed(parse(TWO), NAME).after
    params = [item for _, function in after.prim_funcs for item in function.params]
    buffers = [item.buffer for _, function in after.prim_funcs for item in function.buffers]
    assert len(params) == len(set(params)) == len(buffers) == len(set(buffers))


REFUSED = {
    "the rest reads a weight as it was": ("V2[vi // 2, vi % 2]\n    @R", "V2[vi // 2, vi % 2] + W[vi]\n    @R"),
    "two statements share a buffer": ("V2[vi // 2, vi % 2] = V[vi]", "V2[vi // 2, vi % 2] = W[vi]"),
    "a statement does more than to write one buffer from another": ("= W[vi]", "= W[vi] + V[vi]"),
    "a statement does not write a buffer of its own from a parameter": (
        "W2[vi // 4, vi % 4] = W[vi]",
        "C[vi] = W[vi]",
    ),
    "nothing reads what a statement writes": ("A[vi] * W2[vi // 4, vi % 4]", "A[vi]"),
}


@pytest.mark.parametrize("why", REFUSED)
def test_a_prim_func_whose_parts_depend_on_each_other_stays(why: str) -> None:
    # In the first case apache-tvm makes a prim func that reads a buffer which nothing gives it.
    stage = passed(parse(TWO.replace(*REFUSED[why])), NAME)
    assert not stage.is_changed
    assert remarks(stage, "missed") == [f"@scaled stays: {why}"]


def test_a_weight_of_symbolic_size_stays() -> None:
    text = """
    @T.prim_func(private=True, s_tir=True)
    def scaled(a: T.handle, w: T.handle, c: T.handle):
        n = T.int64()
        A = T.match_buffer(a, (n,))
        W = T.match_buffer(w, (n,))
        C = T.match_buffer(c, (n,))
        W2 = T.sblock_alloc_buffer((n,))
        for i in T.grid(n):
            with T.sblock("W_rewrite"):
                vi = T.axis.spatial(n, i)
                T.sblock_attr({"meta_schedule.layout_rewrite_preproc": True})
                W2[vi] = W[vi]
        for i in T.grid(n):
            with T.sblock("C"):
                vi = T.axis.spatial(n, i)
                C[vi] = A[vi] * W2[vi]
    @R.function
    def main(x: R.Tensor(("n",), "float32"), w: R.Tensor(("n",), "float32")) -> R.Tensor(("n",), "float32"):
        n = T.int64()
        cls = Module
        y = R.call_tir(cls.scaled, (x, w), out_ty=R.Tensor((n,), "float32"))
        return y
"""
    stage = passed(parse(text), NAME)
    assert not stage.is_changed
    assert len(remarks(stage, "missed")) == 1


def test_what_calls_in_place_keeps_the_prim_func() -> None:
    result = 'out_ty=R.Tensor((8,), "float32"))'
    inplace = f"z = R.call_tir_inplace(cls.scaled, (x, w, v, y), inplace_indices=[3], {result}\n        return z"
    text = TWO.replace("@T.prim_func(s_tir", "@T.prim_func(private=True, s_tir").replace("return y", inplace)
    stage = passed(parse(text), NAME)
    assert stage.after.names == ("scaled", "main", "scaled_weight_prepack", "scaled_prepacked")
    same_values(stage.before, stage.after)
