# title: Constants in a metadata table
# shows: what show_meta=True prints: tensors in JSON and base64, named by their kind and number
# source: RelaxScope
import tvm
from tvm.script import ir as I
from tvm.script import relax as R

metadata = tvm.ir.load_json("""{"root_index": 5, "nodes": [
    {"type": "ffi.String", "data": "relax.expr.Constant"},
    {"type": "None"},
    {"type": "ffi.Tensor", "data": "P6G0lvBAXt0AAAAAAAAAAAEAAAAAAAAAAgAAAAIgAQACAAAAAAAAAAIAAAAAAAAAEAAAAAAAAAAAAIA/AAAAQAAAQEAAAIBA"},
    {"type": "relax.expr.Constant", "data": {"span": 1, "data": 2}},
    {"type": "ffi.Array", "data": [3]},
    {"type": "ffi.Map", "data": [0, 4]}
]}""")


@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 2), dtype="float32")) -> R.Tensor((2, 2), dtype="float32"):
        y = R.add(x, metadata["relax.expr.Constant"][0])
        return R.multiply(y, R.const([[1.0, 0.0], [0.0, 1.0]], "float32"))
