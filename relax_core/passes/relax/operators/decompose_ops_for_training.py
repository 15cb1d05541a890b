"""Write composed operators as the arithmetic that they stand for in training."""

from relax_core.ir.module import IRModule
from relax_core.passes.core import Pass, PassContext
from relax_core.passes.relax.operators.decompose_ops import DecomposeOptions, decompose
from relax_core.passes.relax.operators.decomposition import FOR_TRAINING


def run(module: IRModule, options: DecomposeOptions, ctx: PassContext) -> IRModule:
    """Decompose batch_norm, which measures its averages, layer_norm, and tensor_to_shape."""
    return decompose(module, options, FOR_TRAINING, ctx)


PASS = Pass(
    "DecomposeOpsForTraining",
    "Writes batch_norm, which measures and moves its averages, and layer_norm as arithmetic.",
    run,
    options=DecomposeOptions,
    needs=("normal form",),
    see="tvm/src/relax/transform/decompose_ops.cc",
)
