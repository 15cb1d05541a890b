"""Choose the kernels of operators that sort and accumulate."""

from relax_core.ir.module import IRModule
from relax_core.passes.core import NoOptions, Pass, PassContext
from relax_core.passes.relax import legalize_ops
from relax_core.passes.relax.legalize_ops import LegalizeOpsOptions

OPERATORS = ("sort", "argsort", "topk", "cumsum", "cumprod")


def run(module: IRModule, _options: NoOptions, ctx: PassContext) -> IRModule:
    """Lower sorts and running sums and products to the kernels of the machine, the only target there is.

    TVM asks the target of a function, and stops if there is none.
    """
    return legalize_ops.run(module, LegalizeOpsOptions(operators=OPERATORS), ctx)


PASS = Pass(
    "DispatchSortScan",
    "Lowers operators that sort or accumulate, before all others, to the kernels of the target.",
    run,
    needs=("normal form",),
    breaks=("explicit destinations",),
    see="tvm/python/tvm/relax/backend/dispatch_sort_scan.py",
)
