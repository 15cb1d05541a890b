# title: Statements around a module
# shows: they are skipped, with one note for a run of them
# source: RelaxScope
import os  #! PA020
os.system("true")

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 3), "float32")):
        return x

mod = Module  #! PA020
print(mod)
