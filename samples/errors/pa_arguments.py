# title: Calls whose arguments do not fit
# shows: the hint lists the parameters or shows the one that is meant
# source: RelaxScope
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 3), "float32")):
        a = R.add(x)  #! PA006
        b = R.exp(x, x)  #! PA006
        c = R.sum(x, axes=1)  #! PA006
        d = R.call_tir(kernel, (x,))  #! PA006
        return x

    @T.prim_func
    def kernel(A: T.Buffer((2, 3), "float32"), B: T.Buffer((2, 3), "float32")):
        for i, j in T.grid(2, 3):
            B[i] = A[i, j]  #! PA006
