"""Capture what a CUDA device can run as a graph."""

from dataclasses import dataclass

from relax_core.ir.module import IRModule
from relax_core.passes.core import Pass, PassContext


@dataclass(frozen=True, slots=True)
class RewriteCUDAGraphOptions:
    """`use_cuda_graph` is TVM's configuration `relax.backend.use_cuda_graph`."""

    use_cuda_graph: bool = False


def run(module: IRModule, options: RewriteCUDAGraphOptions, ctx: PassContext) -> IRModule:
    """Leave the module as it is, as TVM does unless its configuration asks for graphs: no CUDA device runs it here."""
    if options.use_cuda_graph:
        message = "no part of the module can be captured as a CUDA graph: the machine has no CUDA device"
        ctx.fail("PS018", message, module, "leave use_cuda_graph out")
    ctx.remark(module, "missed", "nothing is captured as a CUDA graph: use_cuda_graph is not set")
    return module


PASS = Pass(
    "RewriteCUDAGraph",
    "Does nothing, as in TVM unless CUDA graphs are asked for, which are refused: it stands in TVM's default pipeline.",
    run,
    options=RewriteCUDAGraphOptions,
    see="tvm/src/relax/transform/rewrite_cuda_graph.cc",
)
