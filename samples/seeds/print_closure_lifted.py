# title: PrintClosure after LambdaLift
# shows: a variable bound to a global function, which is the value that print gets
# source: tlc-pack/relax, issue "[Bug][VM] Cannot pass a closure to a function call", second comment
# changes: indentation restored
@tvm.script.ir_module
class Module:
    @R.function
    def main() -> Tuple():
        # block 0
        closure = lifted_func_0
        y: Tuple() = relax.print(closure, format="", attrs_type_key="relax.attrs.PrintAttrs")
        return y
    @R.function
    def lifted_func_0() -> Tensor(None, "int32", ndim = 0):
        return 1
