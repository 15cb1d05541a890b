# title: Malformed constants
# shows: lists of unequal length, a number that is too large, and a name
# source: RelaxScope
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 3), "float32")):
        a = R.const([[1, 2], [3]], "int32")  #! PA010
        b = R.const(300, "uint8")  #! PA010
        c = R.const(x, "float32")  #! PA010
        return x
