"""Write composed operators as the arithmetic that they stand for in inference."""

from relax_core.ir.module import IRModule
from relax_core.passes.core import Pass, PassContext
from relax_core.passes.relax.operators.decompose_ops import DecomposeOptions, decompose
from relax_core.passes.relax.operators.decomposition import FOR_INFERENCE


def run(module: IRModule, options: DecomposeOptions, ctx: PassContext) -> IRModule:
    """Decompose batch_norm, which uses the averages that it is given, and tensor_to_shape."""
    return decompose(module, options, FOR_INFERENCE, ctx)


PASS = Pass(
    "DecomposeOpsForInference",
    "Writes batch_norm as arithmetic with the averages that it is given, and tensor_to_shape as a call of the machine.",
    run,
    options=DecomposeOptions,
    needs=("normal form",),
    see="tvm/src/relax/transform/decompose_ops.cc",
)
