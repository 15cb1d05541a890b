"""Choose the kernels of operators that draw samples."""

from relax_core.ir.module import IRModule
from relax_core.passes.core import NoOptions, Pass, PassContext
from relax_core.passes.relax import legalize_ops
from relax_core.passes.relax.legalize_ops import LegalizeOpsOptions

OPERATORS = ("multinomial_from_uniform",)


def run(module: IRModule, _options: NoOptions, ctx: PassContext) -> IRModule:
    """Lower `multinomial_from_uniform` to the kernel of the machine, the only target there is.

    TVM asks the target of a function, and stops if there is none.
    """
    return legalize_ops.run(module, LegalizeOpsOptions(operators=OPERATORS), ctx)


PASS = Pass(
    "DispatchSampling",
    "Lowers operators that draw samples, before all others, to the kernels of the target.",
    run,
    needs=("normal form",),
    breaks=("explicit destinations",),
    see="tvm/python/tvm/relax/backend/dispatch_sampling.py",
)
