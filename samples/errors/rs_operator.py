# title: Misspelled operators
# shows: the closest operator is shown
# source: RelaxScope
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 3), "float32")):
        y = R.permute_dim(x)  #! RS002
        z = R.nn.rellu(x)  #! RS002
        return R.add(y, z)
