# title: What is no dimension
# shows: a tensor, a float and a tuple where a dimension is wanted
# source: RelaxScope
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 3), "float32")):
        a = R.reshape(x, R.shape([x, 2]))  #! PA009
        b = R.shape([1.5])  #! PA009
        c: R.Tensor(6, "float32") = R.flatten(x)  #! PA009
        return x
