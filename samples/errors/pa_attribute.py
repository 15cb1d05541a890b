# title: Attributes and decorators
# shows: a function without a decorator, and an attribute that is no plain data
# source: RelaxScope
@I.ir_module
class Module:
    def lost(x: R.Tensor((2, 3), "float32")):  #! PA016
        return x

    @R.function
    def main(x: R.Tensor((2, 3), "float32")):
        R.func_attr({"value": x})  #! PA016
        return lost(x)
