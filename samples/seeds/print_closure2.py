# title: PrintClosure2
# shows: a local function that captures the parameter x, passed to print
# source: tlc-pack/relax, issue "[Bug][VM] Cannot pass a closure to a function call", second comment
# changes: indentation restored
@tvm.script.ir_module
class PrintClosure2:
    @R.function
    def main(x: Tensor((2, 3), "float32")):
        @R.function
        def closure():
            return x
        y = relax.print(closure)
        return y
