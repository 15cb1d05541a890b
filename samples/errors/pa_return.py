# title: Functions that do not return as they declare
# shows: no return, and a statement behind one
# source: RelaxScope
@I.ir_module
class Module:
    @R.function
    def first(x: R.Tensor((2, 3), "float32")) -> R.Tensor((2, 3), "float32"):  #! PA011
        y = R.exp(x)

    @R.function
    def second(x: R.Tensor((2, 3), "float32")):
        return x
        y = R.exp(x)  #! PA011
