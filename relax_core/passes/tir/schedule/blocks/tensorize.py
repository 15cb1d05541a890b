"""Replace loops by an instruction on tensors."""

from dataclasses import dataclass

from relax_core.ir.module import IRModule
from relax_core.passes.core import Pass, PassContext
from relax_core.passes.tir.schedule.nest import nest_of


@dataclass(frozen=True, slots=True)
class TensorizeOptions:
    """A block, the outermost of the loops that the instruction stands for, and its name among TVM's intrinsics."""

    block: str
    loop: str = ""
    tensor_intrin: str = ""
    function: str = ""


def run(module: IRModule, options: TensorizeOptions, ctx: PassContext) -> IRModule:
    """Refuse: an instruction is a description of loops and a call that only the code generator of one target knows.

    Nothing here could run the call, so that the program could no longer be compared with what it was.
    """
    nest = nest_of(module, options.block, options.function, ctx)
    node = nest.loop(options.loop) if options.loop else nest.block
    name = options.tensor_intrin or "without a name"
    hint = "Blockize makes the tile; the instruction for it is chosen in TVM"
    return nest.refuse(f"the intrinsic {name} is not known here, and nothing here could run it", node, hint)


PASS = Pass(
    "Tensorize",
    "Schedule: recognised, and refused: an instruction on tensors is known to the code generator of one target.",
    run,
    TensorizeOptions,
    see="tvm/src/s_tir/schedule/primitive/blockize_tensorize.cc",
    dialect="tir",
)
