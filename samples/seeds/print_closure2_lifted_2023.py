# title: PrintClosure2 after LambdaLift, spelled as in 2023
# shows: a closure over the parameter x, made by make_closure
# source: tlc-pack/relax, issue "[Bug][VM] Cannot pass a closure to a function call", second comment
# changes: written in the spelling of 2023: pure=False, `cls`, explicit types; the printed operator attributes are left out; the lines around the module are left out
# from tvm.script import ir as I
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function(pure=False)
    def main(x: R.Tensor((2, 3), "float32")) -> R.Tuple:
        cls = Module
        closure: R.Object = R.make_closure(cls.lifted_func_0, (x,))
        y: R.Tuple = R.print(closure, format="")
        return y

    @R.function
    def lifted_func_0(x1: R.Tensor((2, 3), "float32")) -> R.Tensor(dtype="float32", ndim=2):
        return x1
