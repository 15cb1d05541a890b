# title: PrintClosure after LambdaLift, spelled as in 2023
# shows: a variable bound to a global function, which is the value that print gets
# source: tlc-pack/relax, issue "[Bug][VM] Cannot pass a closure to a function call", second comment
# changes: written in the spelling of 2023: pure=False, `cls`, explicit types; the printed operator attributes are left out; the lines around the module are left out
# from tvm.script import ir as I
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function(pure=False)
    def main() -> R.Tuple:
        cls = Module
        closure = cls.lifted_func_0
        y: R.Tuple = R.print(closure, format="")
        return y

    @R.function
    def lifted_func_0() -> R.Tensor(dtype="int32", ndim=0):
        return R.const(1, "int32")
