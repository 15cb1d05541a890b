# title: A function that the module does not have
# shows: the closest function is shown
# source: RelaxScope
@I.ir_module
class Module:
    @R.function
    def helper(x: R.Tensor((2, 3), "float32")):
        return x

    @R.function
    def main(x: R.Tensor((2, 3), "float32")):
        cls = Module
        return cls.helpr(x)  #! RS003
