# title: A dataflow block without R.output
# shows: what the block gives out is unknown, a use behind it is reported too
# source: RelaxScope
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 3), "float32")):
        with R.dataflow():  #! PA012
            y = R.exp(x)
        return R.exp(y)  #! RS001
