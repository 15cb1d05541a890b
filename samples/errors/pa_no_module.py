# title: A text without a module
# shows: a class without a decorator is read as a module, with a message
# source: RelaxScope
class Module:  #! PA015
    @R.function
    def main(x: R.Tensor((2, 3), "float32")):
        return x
