# title: Constructs that are not read
# shows: each is named where it stands, and the rest of the program is read
# source: RelaxScope
@I.ir_module
class Module:
    @T.prim_func
    def kernel(A: T.Buffer((8,), "float32")):
        B = [x for x in A]  #! PA009
        for i in T.grid(8):
            A[i] = T.no_such_function(i)  #! PA004

    @R.function
    def main(x: R.Tensor((2, 3), "float32")):
        y = [R.exp(item) for item in x]  #! PA004
        for i in range(3):  #! PA004
            x = R.exp(x)
        return R.exp(x[0:2])  #! PA004
