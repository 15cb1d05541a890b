# title: A bare number in a place that takes tensors and scalars
# shows: the message shows both spellings
# source: RelaxScope
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 3), "float32")):
        y = R.add(x, 1.0)
        z = 1  #! PA008
        s = (2, 3)  #! PA008
        return R.reshape(x, (3, 2))
