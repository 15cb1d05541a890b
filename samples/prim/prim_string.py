# title: A string
# shows: strings are PrimValues: they are passed, returned and kept in tuples, and never computed
# source: RelaxScope
from tvm.script import ir as I
from tvm.script import relax as R


@I.ir_module
class Module:
    @R.function
    def main(name: R.Prim("string")):
        kind = R.str("tanh")
        return (name, kind)
