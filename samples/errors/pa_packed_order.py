# title: Keywords without a schema
# shows: they follow in the order of the text, and a note says so
# source: RelaxScope
from tvm.script import ir as I
from tvm.script import relax as R


@I.ir_module
class Module:
    @R.function(pure=False)
    def main(x: R.Tensor((2,), "float32")):
        y = R.call_packed("my_library_scale", x, by=2, bias=1, ty_args=R.Tensor((2,), "float32"))  #! PA050
        return y
