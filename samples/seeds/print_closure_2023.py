# title: PrintClosure, spelled as in 2023
# shows: a local function without captures, passed to print
# source: tlc-pack/relax, issue "[Bug][VM] Cannot pass a closure to a function call"
# changes: written in the spelling of 2023: pure=False, an explicit dtype of the constant; the lines around the module are left out
# from tvm.script import ir as I
# from tvm.script import relax as R

@I.ir_module
class PrintClosure:
    @R.function(pure=False)
    def main():
        @R.function
        def closure():
            return R.const(1, "int32")

        y = R.print(closure, format="")
        return y
