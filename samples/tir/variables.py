# title: Variables that are assigned again
# shows: in 2026 `x: T.int32 = 0` is a variable, and T.alloc_buffer a statement; both are buffers of the function
# source: RelaxScope
from tvm.script import ir as I
from tvm.script import relax as R
from tvm.script import tirx as T


@I.ir_module(s_tir=True)
class Module:
    @T.prim_func(private=True, s_tir=True)
    def running_maximum(x: T.handle, y: T.handle):
        n = T.int64()
        X = T.match_buffer(x, (n,), "float32")
        Y = T.match_buffer(y, (n,), "float32")
        best = T.alloc_buffer((1,), "float32")
        changes: T.int32 = 0
        best[0] = T.min_value("float32")
        for i in range(n):
            if X[i] > best[0]:
                best[0] = X[i]
                changes += 1
            Y[i] = best[0]
        assert changes > 0 or n == 0, "a number is greater than the least one"

    @R.function
    def main(x: R.Tensor(("n",), "float32")) -> R.Tensor(("n",), "float32"):
        n = T.int64()
        cls = Module
        y = R.call_tir(cls.running_maximum, (x,), out_ty=R.Tensor((n,), "float32"))
        return y
