# title: Branches that give different names
# shows: a conditional has the value that both branches assign
# source: RelaxScope
@I.ir_module
class Module:
    @R.function
    def main(c: R.Tensor((), "bool"), x: R.Tensor((2, 3), "float32")):
        if c:  #! PA013
            y = R.exp(x)
        else:
            z = R.negative(x)
        if c:  #! PA013
            w = x
        return x
