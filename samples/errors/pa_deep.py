# title: An expression that is nested too deeply
# shows: a chain of sums is no nesting, calls in calls are
# source: RelaxScope
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 3), "float32")):
        y = x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x
        z = R.exp(R.exp(R.exp(R.exp(R.exp(R.exp(R.exp(R.exp(R.exp(R.exp(R.exp(R.exp(R.exp(R.exp(R.exp(R.exp(R.exp(R.exp(R.exp(R.exp(R.exp(R.exp(R.exp(R.exp(R.exp(R.exp(R.exp(R.exp(R.exp(R.exp(R.exp(R.exp(R.exp(R.exp(R.exp(R.exp(R.exp(R.exp(R.exp(R.exp(R.exp(R.exp(R.exp(R.exp(R.exp(R.exp(R.exp(R.exp(R.exp(R.exp(R.exp(R.exp(R.exp(R.exp(R.exp(R.exp(R.exp(R.exp(R.exp(R.exp(R.exp(R.exp(R.exp(R.exp(R.exp(R.exp(R.exp(R.exp(R.exp(R.exp(R.exp(R.exp(R.exp(R.exp(R.exp(R.exp(R.exp(R.exp(R.exp(R.exp(R.exp(R.exp(R.exp(R.exp(R.exp(y)))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))  #! PA003
        return z
