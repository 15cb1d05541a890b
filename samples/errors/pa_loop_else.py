# title: The else of a loop
# shows: what TVM leaves out without a word is left out with one
# source: RelaxScope
@I.ir_module
class Module:
    @T.prim_func
    def main(A: T.Buffer((16,), "float32")):
        for i in range(4):
            A[i] = 1.0
        else:
            A[5] = 2.0  #! PA040
