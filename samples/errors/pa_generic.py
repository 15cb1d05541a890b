# title: An operator without rules
# shows: it is read and printed as it is written
# source: RelaxScope
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 3), "float32")):
        y = R.vm.load_shape(x, ty_args=R.Tensor((2, 3), "float32"))  #! PA030 TY030
        return y
