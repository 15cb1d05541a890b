# title: A tensor before its storage
# shows: a negative offset is refused; so is a tensor that reaches behind the last byte
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

    @R.function
    def main(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        R.func_attr({"relax.force_pure": True})
        cls = Module
        storage = R.memory.alloc_storage(R.shape([32]), R.prim_value(0), R.str("global"), R.dtype("uint8"))
        y = R.memory.alloc_tensor(storage, R.prim_value(-4096), R.shape([4]), R.dtype("float32"), R.prim_value(0))  #! VM052
        cls.double(x, y)
        return y
