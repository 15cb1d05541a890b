# title: A storage taken again in time
# shows: c takes a storage of its own, so that a is still there when it is read: the result is 10 x
# source: RelaxScope
from tvm.script import ir as I
from tvm.script import relax as R
from tvm.script import tirx as T


@I.ir_module
class Module:
    @T.prim_func(private=True)
    def double(x: T.Buffer((4,), "float32"), y: T.Buffer((4,), "float32")):
        for i in range(4):
            y[i] = x[i] * T.float32(2)

    @T.prim_func(private=True)
    def add(x: T.Buffer((4,), "float32"), y: T.Buffer((4,), "float32"), z: T.Buffer((4,), "float32")):
        for i in range(4):
            z[i] = x[i] + y[i]

    @R.function
    def main(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        R.func_attr({"relax.force_pure": True})
        cls = Module
        first = R.memory.alloc_storage(R.shape([16]), R.prim_value(0), R.str("global"), R.dtype("uint8"))
        a = R.memory.alloc_tensor(first, R.prim_value(0), R.shape([4]), R.dtype("float32"), R.prim_value(0))
        cls.double(x, a)
        second = R.memory.alloc_storage(R.shape([16]), R.prim_value(0), R.str("global"), R.dtype("uint8"))
        b = R.memory.alloc_tensor(second, R.prim_value(0), R.shape([4]), R.dtype("float32"), R.prim_value(0))
        cls.double(a, b)
        third = R.memory.alloc_storage(R.shape([16]), R.prim_value(0), R.str("global"), R.dtype("uint8"))
        c = R.memory.alloc_tensor(third, R.prim_value(0), R.shape([4]), R.dtype("float32"), R.prim_value(0))
        cls.double(b, c)
        R.memory.kill_tensor(b)
        R.memory.kill_storage(second)
        d = R.builtin.alloc_tensor(R.shape([4]), R.dtype("float32"), R.prim_value(0), R.str("global"))
        cls.add(a, c, d)
        return d
