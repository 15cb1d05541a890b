# title: Names that are defined elsewhere
# shows: a message about a name leads to its definition, behind the use or in a branch that has ended
# source: RelaxScope
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4,), "float32"), c: R.Tensor((), "bool")):
        early = R.add(late, x)  #! RS001
        late = R.exp(x)
        if c:
            half = R.sin(x)
            whole = R.add(half, half)
        else:
            whole = late
        return R.add(whole, half)  #! RS001
