# title: A global function as a value, in the code generator of 2022
# shows: the failure of seed 000, as a diagnostic at the binding whose value is a GlobalVar
# source: tlc-pack/relax, issue "[Bug][VM] Cannot pass a closure to a function call"
# as_in: reported
from tvm.script import ir as I
from tvm.script import relax as R
from tvm.script import tirx as T


@I.ir_module
class Module:
    @R.function
    def one():
        r = R.const(1)
        return r

    @R.function(pure=False)
    def main():
        cls = Module
        closure = cls.one  #! BC001
        y = R.print(closure)
        return y
