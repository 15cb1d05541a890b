# title: Names that are not defined
# shows: the closest name is shown; nothing follows from a name whose definition failed
# source: RelaxScope
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 3), "float32")):
        total = R.add(x, y)  #! RS001
        again = R.exp(total)
        with R.dataflow():
            inner = R.exp(x)
            given = R.exp(inner)
            R.output(given)
        last = R.add(given, inner)  #! RS001
        return R.exp(gven)  #! RS001
