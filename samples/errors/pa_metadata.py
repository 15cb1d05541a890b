# title: A table of metadata that is not there
# shows: a value that nobody knows stands for the constant, so that the module opens
# source: RelaxScope
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 3), "float32")):
        y = R.add(x, metadata["relax.expr.Constant"][0])  #! PA031, WF025
        return y
