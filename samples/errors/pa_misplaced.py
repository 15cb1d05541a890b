# title: Statements that stand in the wrong place
# shows: an axis outside of a block, an output outside of a dataflow block
# source: RelaxScope
@I.ir_module
class Module:
    LIMIT = 3  #! PA005

    @T.prim_func
    def kernel(A: T.Buffer((8,), "float32")):
        for i in range(8):
            vi = T.axis.spatial(8, i)  #! PA005
            A[i] = 0.0

    @R.function
    def main(x: R.Tensor((2, 3), "float32")):
        y = R.func_attr({"a": 1})  #! PA005
        return x
