# title: Tabs  #! PA021
# shows: they are expanded to eight columns
# source: RelaxScope
@I.ir_module
class Module:
	@R.function
	def main(x: R.Tensor((2, 3), "float32")):
		return x
