# title: Names of the wrong kind
# shows: a buffer where a scalar is wanted, a type where a value is wanted
# source: RelaxScope
@I.ir_module
class Module:
    @T.prim_func
    def kernel(A: T.Buffer((8,), "float32"), n: T.int32):
        for i in range(8):
            A[i] = A + 1.0  #! RS004
            A[i] = n[i]  #! RS004

    @R.function
    def main(x: R.Tensor((2, 3), "float32")):
        return R.exp(R.Tensor)  #! RS004
