# title: Two functions of one name
# shows: of two functions the last one counts; a parameter is not there twice
# source: RelaxScope
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 3), "float32"), x: R.Tensor((2,), "float32")):  #! PA022
        return x

    @R.function
    def other(x: R.Tensor((2, 3), "float32")):
        return x

    @R.function
    def other(x: R.Tensor((2, 3), "float32")):  #! PA022
        return R.exp(x)
