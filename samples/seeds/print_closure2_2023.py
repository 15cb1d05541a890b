# title: PrintClosure2, spelled as in 2023
# shows: a local function that captures the parameter x, passed to print
# source: tlc-pack/relax, issue "[Bug][VM] Cannot pass a closure to a function call", second comment
# changes: written in the spelling of 2023: pure=False, an explicit dtype of the constant; the lines around the module are left out
# from tvm.script import ir as I
# from tvm.script import relax as R

@I.ir_module
class PrintClosure2:
    @R.function(pure=False)
    def main(x: R.Tensor((2, 3), "float32")):
        @R.function
        def closure():
            return x

        y = R.print(closure, format="")
        return y
