"""Give a block or a loop an annotation."""

from dataclasses import dataclass, replace
from typing import Any

from relax_core.ir.attrs import has_attr, with_attr
from relax_core.ir.module import IRModule
from relax_core.passes.core import Pass, PassContext
from relax_core.passes.tir.schedule.nest import nest_of, replaced


@dataclass(frozen=True, slots=True)
class AnnotateOptions:
    """A block, or a loop of it, and what it is annotated with."""

    block: str
    ann_key: str
    ann_val: Any
    loop: str = ""
    function: str = ""


def run(module: IRModule, options: AnnotateOptions, ctx: PassContext) -> IRModule:
    """Annotate the block, or its loop if one is named; one that has the key keeps its value, as in TVM."""
    nest = nest_of(module, options.block, options.function, ctx)
    node = nest.loop(options.loop) if options.loop else nest.block
    name = options.loop or nest.block.name
    if not options.ann_key:
        nest.refuse("an annotation has a name", node, "write ann_key='pragma_auto_unroll_max_step'")
    if has_attr(node.annotations, options.ann_key):
        ctx.remark(node, "missed", f"{name} has the annotation {options.ann_key} already")
        return module
    made = replace(node, annotations=with_attr(node.annotations, options.ann_key, options.ann_val))
    ctx.remark(node, "applied", f"{name} is annotated with {options.ann_key}")
    return replaced(module, nest, node, made, "a block or a loop -> with an annotation")


PASS = Pass(
    "Annotate",
    "Schedule: gives a block or a loop an annotation.",
    run,
    AnnotateOptions,
    see="tvm/src/s_tir/schedule/primitive/annotate.cc",
    dialect="tir",
)
