# title: A key that is there twice
# shows: attributes with a key twice: the last value counts, and each repetition is told
# source: RelaxScope
from tvm.script import ir as I, relax as R


@I.ir_module
class Module:
    I.module_attrs({"version": 1, "version": 2})  #! PA059

    @R.function
    def main(x: R.Tensor((2, 3), "float32")):
        R.func_attr({"num_input": 1, "note": {"a": 1, "a": 2}})  #! PA059
        return x
