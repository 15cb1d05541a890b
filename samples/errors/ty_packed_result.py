# title: A result that the function does not give
# shows: the schema gives one shape, the destination has another
# source: RelaxScope
from tvm.script import ir as I
from tvm.script import relax as R


@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 3), "float32")):
        y = R.call_dps_packed("libtorch_gelu_out", (x,), out_ty=R.Tensor((3, 2), "float32"))  #! TY073
        z = R.call_pure_packed("libtorch_softmax", x, 0, ty_args=R.Tensor((2, 3), "int64"))  #! TY073
        return (y, z)
