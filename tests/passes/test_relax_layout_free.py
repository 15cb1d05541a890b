"""AttachAttrLayoutFreeBuffers and LowerGPUIPCAllocStorage do as in apache-tvm."""

import relax_core as rc
from tests.apache_tvm import relax
from tests.passes.wheel import agrees, remarks

VECTOR = 'T.Buffer((T.int64(4),), "float32")'
ADD = f"""
    @T.prim_func(private=True)
    def {{name}}(a: {VECTOR}, b: {VECTOR}, c: {VECTOR}):
        {{attribute}}
        for i in range(T.int64(4)):
            c[i] = a[i] + b[i]
"""
CALLS = """
    @R.function
    def main(x: R.Tensor((4,), "float32"), w: R.Tensor((4,), "float32")):
        R.func_attr({"num_input": 1})
        cls = Module
        with R.dataflow():
            p = R.call_tir(cls.add, (x, w), out_ty=R.Tensor((4,), "float32"))
            q = R.call_tir(cls.add, (p, w), out_ty=R.Tensor((4,), "float32"))
            r = R.call_tir(cls.add, (q, p), out_ty=R.Tensor((4,), "float32"))
            s = R.call_tir(cls.add, (w, w), out_ty=R.Tensor((4,), "float32"))
            z = R.call_tir(cls.add, (r, s), out_ty=R.Tensor((4,), "float32"))
            R.output(z)
        return z
"""
SHARED = """
    @R.function(pure=False)
    def main(x: R.Tensor((8,), "float32")):
        s = R.memory.alloc_storage(R.shape([32]), R.prim_value(0), R.str("ipc_memory"), R.dtype("uint8"))
        t = R.memory.alloc_tensor(s, R.prim_value(0), R.shape([8]), R.dtype("float32"), R.prim_value(0))
        a = R.builtin.alloc_tensor(R.shape([8]), R.dtype("float32"), R.prim_value(0), R.str("ipc_memory"))
        b = R.builtin.alloc_tensor(R.shape([8]), R.dtype("float32"), R.prim_value(0), R.str("global"))
        return x
"""


def add(name: str = "add", attribute: str = 'T.func_attr({"x": 1})') -> str:
    return ADD.format(name=name, attribute=attribute)


def test_weights_are_layout_free_as_in_tvm() -> None:
    stage = agrees(add() + CALLS, relax.transform.AttachAttrLayoutFreeBuffers(), "AttachAttrLayoutFreeBuffers")
    assert [item.name for item, _ in stage.after.prim_funcs] == ["add1", "add2", "add3"]
    assert not rc.run_pipeline(stage.after, "AttachAttrLayoutFreeBuffers")[-1].is_changed
    assert remarks(stage, "applied")[0] == "@add1 may lay out its inputs 1 as it likes"


def test_a_prim_func_says_what_each_call_leaves_free_as_in_tvm() -> None:
    text = add(attribute='T.func_attr({"layout_free_buffers": [1]})') + CALLS
    stage = agrees(text, relax.transform.AttachAttrLayoutFreeBuffers(), "AttachAttrLayoutFreeBuffers")
    assert "@add says itself which of its inputs are free" in remarks(stage, "missed")


def test_memory_that_processes_share_is_allocated_as_in_tvm() -> None:
    stage = agrees(SHARED, relax.transform.LowerGPUIPCAllocStorage(), "LowerGPUIPCAllocStorage")
    assert remarks(stage, "applied") == [
        "s is memory that processes share",
        "a lies in memory that processes share",
    ]
    assert not rc.run_pipeline(stage.after, "LowerGPUIPCAllocStorage")[-1].is_changed
