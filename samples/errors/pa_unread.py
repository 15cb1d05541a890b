# title: What is written and not read
# shows: an import, a base and a metaclass, an argument that a form does not have
# source: RelaxScope
from tvm.script import ir as I, relax as R, tir as T


@I.ir_module
class Module(Base, metaclass=Meta):  #! PA056
    import os  #! PA055

    @R.function
    def main(x: R.Tensor((2, 3), "float32")):
        from os import path  #! PA055

        R.func_attr({"a": 1}, b=2)  #! PA057
        with R.dataflow(3):  #! PA057
            y = R.exp(x)
            R.output(y, last=True)  #! PA057
        return y
