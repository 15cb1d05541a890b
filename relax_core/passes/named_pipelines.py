"""The pipelines of TVM that have a name, in TVM's order; RelaxScope's own default is `DEFAULT_PIPELINE`.

None of them has LambdaLift: a local function reaches VMShapeLower, which refuses it, as in TVM.
"""

from collections.abc import Mapping
from types import MappingProxyType

ZERO = "LegalizeOps, AnnotateTIROpPattern, FoldConstant, FuseOps, FuseTIR"
_LIBRARIES = "DispatchSampling, DispatchSortScan"
_DATAFLOW = "RewriteDataflowReshape, ToNonDataflow, RemovePurityChecking, CallTIRRewrite"
_RUNTIME = "LowerAllocTensor, KillAfterLastUse, LowerRuntimeBuiltin, ComputePrimValue, VMShapeLower, AttachGlobalSymbol"
DEFAULT_BUILD = f"{_LIBRARIES}, LegalizeOps, {_DATAFLOW}, StaticPlanBlockMemory, RewriteCUDAGraph, {_RUNTIME}"
S_TIR = (
    "CanonicalizeLoop, LowerInitBlock, PlanAndUpdateBufferAllocationLocation, ConvertBlocksToOpaque, "
    "CompactBufferAllocation, LowerMatchBuffer, StmtSimplify, LowerOpaqueBlock, FlattenBuffer, NarrowDataType, "
    "LoopPartition, VectorizeLoop, StorageRewrite, HoistIfThenElse, UnrollLoop, StmtSimplify, RemoveNoOp, "
    "CommonSubexprElim"
)
"""TVM's default for prim funcs on a CPU, `tirx.get_tir_pipeline("s_tir")`, as far as its passes are here."""

PIPELINES: Mapping[str, str] = MappingProxyType(
    {
        "zero": ZERO,
        "default_build": DEFAULT_BUILD,
        "default": DEFAULT_BUILD,
        "s_tir": S_TIR,
        "cpu_generic": f"{_LIBRARIES}, {ZERO}, {_DATAFLOW}, StaticPlanBlockMemory, {_RUNTIME}",
    }
)
"""What `relax.get_pipeline` of a name runs, `tirx.get_tir_pipeline` as `s_tir`, and as `cpu_generic` what
`relax.get_default_pipeline` of a CPU target does."""
