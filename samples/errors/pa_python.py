# title: A Python function in a module
# shows: its text is kept, and it is never run
# source: RelaxScope
@I.ir_module
class Module:
    @I.pyfunc  #! PA032
    def double(self, x):
        return x * 2

    @R.function
    def main(x: R.Tensor((2, 3), "float32")):
        return x
