# title: PrintClosure
# shows: a local function without captures, passed to print
# source: tlc-pack/relax, issue "[Bug][VM] Cannot pass a closure to a function call"
# changes: indentation restored; a blank line after the imports
import tvm
import tvm.script
from tvm import relax
from tvm.script import relax as R

@tvm.script.ir_module
class PrintClosure:
    @R.function
    def main():
        @R.function
        def closure():
            return relax.const(1)
        y = relax.print(closure)
        return y

mod = PrintClosure
mod = relax.transform.LambdaLift()(mod)
target = tvm.target.Target("llvm", host="llvm")
ex = relax.vm.build(mod, target) # error happens on this line
vm = relax.VirtualMachine(ex, tvm.cpu())
ret = vm["main"]()
