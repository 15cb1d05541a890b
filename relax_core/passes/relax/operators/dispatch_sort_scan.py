"""Choose the kernels of operators that sort and accumulate."""

from collections.abc import Mapping
from types import MappingProxyType

from relax_core.ir.module import IRModule
from relax_core.ops.spec import Legalize
from relax_core.passes.core import NoOptions, Pass, PassContext
from relax_core.passes.relax import legalize_ops
from relax_core.passes.relax.legalize_ops import LegalizeOpsOptions
from relax_core.passes.relax.operators.scan_kernels import CUMPROD, CUMSUM
from relax_core.passes.relax.operators.sort_kernels import ARGSORT, SORT, TOPK

KERNELS: Mapping[str, Legalize] = MappingProxyType(
    {
        "relax.sort": SORT,
        "relax.argsort": ARGSORT,
        "relax.topk": TOPK,
        "relax.cumsum": CUMSUM,
        "relax.cumprod": CUMPROD,
    }
)


def run(module: IRModule, _options: NoOptions, ctx: PassContext) -> IRModule:
    """Lower sorts to functions of TVM's runtime, and running sums and products to lines that run side by side.

    These are the kernels of the machine, the only target there is: TVM asks the target of a function, and stops if
    there is none. Where they do not fit, the call is lowered as LegalizeOps lowers it.
    """
    return legalize_ops.legalized(module, LegalizeOpsOptions(operators=tuple(KERNELS)), ctx, KERNELS)


PASS = Pass(
    "DispatchSortScan",
    "Lowers operators that sort or accumulate, before all others, to the kernels of the target.",
    run,
    needs=("normal form",),
    breaks=("explicit destinations",),
    see="tvm/python/tvm/relax/backend/dispatch_sort_scan.py",
)
