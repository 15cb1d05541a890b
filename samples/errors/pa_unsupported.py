# title: Constructs that are not read
# shows: each is named where it stands, and the rest of the program is read
# source: RelaxScope
@I.ir_module
class Module:
    @T.prim_func
    def kernel(A: T.Buffer((8,), "float32")):
        tx = T.launch_thread("threadIdx.x", 8)  #! PA004
        for i in T.grid(8):
            A[i] = T.call_extern("float32", "f", i)  #! PA004

    @R.function
    def main(x: R.DTensor((2, 3), "float32")):  #! PA004
        y = [R.exp(item) for item in x]  #! PA004
        for i in range(3):  #! PA004
            x = R.exp(x)
        return R.exp(x[0:2])  #! PA004
