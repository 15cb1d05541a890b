# title: A function of TOPI that Python would run
# shows: it is read as the operator of the same meaning
# source: RelaxScope
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 3), "float32")):
        y = R.emit_te(topi.nn.relu, x)  #! PA037
        return y
