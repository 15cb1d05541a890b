# title: Malformed types
# shows: a rank that disagrees, an unknown keyword, a dtype that is none
# source: RelaxScope
@I.ir_module
class Module:
    @R.function
    def main(
        x: R.Tensor((2, 3), "float32", ndim=3),  #! PA007
        y: R.Tensor((2, 3), dtyp="float32"),  #! PA007
        z: R.Tensor((2, 3), "float33"),  #! PA007
        w: R.Tensr((2, 3)),  #! RS006
    ):
        return x
