# title: A tuple of scalars as a parameter
# shows: fields of a parameter are computed with
# source: RelaxScope
from tvm.script import ir as I
from tvm.script import relax as R


@I.ir_module
class Module:
    @R.function
    def main(size: R.Tuple(R.Prim("int64"), R.Prim("int64"))):
        rows = size[0]
        columns = size[1]
        y = R.ones((rows, columns), "float32")
        return (y, rows * columns)
