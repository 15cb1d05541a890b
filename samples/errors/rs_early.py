# title: A local function that is used too early
# shows: local functions may call each other, but not run before they exist
# source: RelaxScope
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 3), "float32")):
        y = second(x)  #! RS005

        @R.function
        def first(z: R.Tensor((2, 3), "float32")) -> R.Tensor((2, 3), "float32"):
            return second(z)

        @R.function
        def second(z: R.Tensor((2, 3), "float32")) -> R.Tensor((2, 3), "float32"):
            return R.exp(z)

        return first(x)
