"""Take an annotation of a block or a loop away."""

from dataclasses import dataclass, replace

from relax_core.ir.attrs import has_attr
from relax_core.ir.module import IRModule
from relax_core.passes.core import Pass, PassContext
from relax_core.passes.tir.schedule.nest import UNKNOWN, nest_of, replaced


@dataclass(frozen=True, slots=True)
class UnannotateOptions:
    """A block, or a loop of it, and the name of an annotation."""

    block: str
    ann_key: str
    loop: str = ""
    function: str = ""


def run(module: IRModule, options: UnannotateOptions, ctx: PassContext) -> IRModule:
    """Take the annotation away from the block, or from its loop if one is named."""
    nest = nest_of(module, options.block, options.function, ctx)
    node = nest.loop(options.loop) if options.loop else nest.block
    name = options.loop or nest.block.name
    if not has_attr(node.annotations, options.ann_key):
        names = ", ".join(key for key, _ in node.annotations) or "none"
        ctx.fail(UNKNOWN, f"{name} has no annotation {options.ann_key}", node, f"annotations: {names}")
    made = replace(node, annotations=tuple(item for item in node.annotations if item[0] != options.ann_key))
    ctx.remark(node, "applied", f"{name} is not annotated with {options.ann_key}")
    return replaced(module, nest, node, made, "a block or a loop -> without an annotation")


PASS = Pass(
    "Unannotate",
    "Schedule: takes an annotation of a block or a loop away.",
    run,
    UnannotateOptions,
    see="tvm/src/s_tir/schedule/primitive/annotate.cc",
    dialect="tir",
)
