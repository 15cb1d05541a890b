# title: Attributes of a wrong type
# shows: words, floats and numbers where the schema says otherwise
# source: RelaxScope
from tvm.script import ir as I
from tvm.script import relax as R


@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 3), "float32"), s: R.Prim("string"), f: R.Prim("float32")):
        a = R.nn.softmax(x, axis="last")  #! TY040
        b = R.nn.softmax(x, axis=1.5)  #! TY040
        c = R.sum(x, axis=[0], keepdims=3)  #! TY040
        d = R.nn.leakyrelu(x, alpha=s)  #! TY040
        e = R.nn.softmax(x, axis=f)  #! TY040
        g = R.sum(x, axis=[0.5])  #! TY040
        return (a, b, c, d, e, g)
