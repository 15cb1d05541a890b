# title: A bracket that is not closed
# shows: one statement is left out, the error behind it is reported as well
# source: RelaxScope
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 3), "float32")):
        y = R.exp((x)  #! PA001
        z = R.add(y, x)
        return R.add(z, u)  #! RS001
