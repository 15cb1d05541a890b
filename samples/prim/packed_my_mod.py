# title: MyMod, as it was proposed in 2022
# shows: keyword attributes become host scalars in the order of the callee's schema; tabs are expanded; `unique`
#   gives a tuple with its inverse, where the text declares a tensor
# source: tlc-pack/relax, "Relax PrimValue"
@tvm.script.ir_module
class MyMod:
    @R.function
    def main(c0: Tensor((32, 32), "float32"), c1: Tensor((32, 32), "float32")):

	# libtorch function with "out" as its suffix follows DPS calling convention  
        x = R.call_dps_packed("libtorch_add_out", (c0, c1), alpha=2, output_shape=(32, 32), dtype="float32")
				
        # bind a PrimValue to a Var
	approximate: PrimType = R.PrimValue("tanh")
	y = R.call_dps_packed("libtorch_gelu_out", x, approximate, output_shape=(32, 32), dtype="float32")

	out = R.call_packed("libtorch_unique", x, sorted=True, return_inverse=True, type_args=(Tensor(ndim=1, dtype="float32")))
        return out
