"""Tell of every prim func how it reads and writes, as an attribute that fusion uses."""

from dataclasses import replace

from relax_core.analysis.tir_pattern import PATTERN, prim_func_kind
from relax_core.ir.attrs import has_attr, with_attr
from relax_core.ir.module import Definition, IRModule
from relax_core.ir.tir import PrimFunc
from relax_core.passes.core import NoOptions, Pass, PassContext
from relax_core.passes.functions import with_definitions


def run(module: IRModule, _options: NoOptions, ctx: PassContext) -> IRModule:
    """Set `op_pattern` of every prim func that has none: 0 elementwise to 8 opaque.

    A prim func that stores in one place and has no blocks is elementwise, as in TVM.
    """
    definitions: list[Definition] = []
    for item in module.definitions:
        function = item.function
        if isinstance(function, PrimFunc) and has_attr(function.attrs, PATTERN):
            ctx.remark(function, "note", f"@{item.var.name} says itself what it is")
        elif isinstance(function, PrimFunc):
            kind = prim_func_kind(function)
            marked = replace(function, attrs=with_attr(function.attrs, PATTERN, int(kind)))
            ctx.log.replace(function, marked, "prim func -> prim func with op_pattern")
            ctx.remark(marked, "applied", f"@{item.var.name} is {kind.name.lower().replace('_', ' ')} ({int(kind)})")
            item = ctx.derive(replace(item, function=marked), item)
        definitions.append(item)
    return with_definitions(module, tuple(definitions), ctx)


PASS = Pass(
    "AnnotateTIROpPattern",
    "Sets the attribute op_pattern of every prim func: how it reads and writes, for fusion.",
    run,
    see="tvm/src/relax/transform/annotate_tir_op_pattern.cc",
)
