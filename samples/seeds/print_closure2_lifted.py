# title: PrintClosure2 after LambdaLift
# shows: a closure over the parameter x, made by make_closure
# source: tlc-pack/relax, issue "[Bug][VM] Cannot pass a closure to a function call", second comment
# changes: indentation restored
@tvm.script.ir_module
class Module:
    @R.function
    def main(x: Tensor((2, 3), "float32")) -> Tuple():
        # block 0
        closure: Object = relax.make_closure(lifted_func_0, (x,))
        y: Tuple() = relax.print(closure, format="", attrs_type_key="relax.attrs.PrintAttrs")
        return y
    @R.function
    def lifted_func_0(x1: Tensor((2, 3), "float32")) -> Tensor(None, "float32", ndim = 2):
        return x1
