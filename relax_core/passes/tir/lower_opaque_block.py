"""Take blocks away: their statements stand in the loops themselves."""

from relax_core.ir.attrs import Attrs, attr
from relax_core.ir.module import IRModule
from relax_core.ir.node import Node
from relax_core.ir.prim import is_number
from relax_core.ir.tir import Block, Buffer, DeclBuffer, For, IfThenElse, LaunchThread, Stmt
from relax_core.passes.core import NoOptions, Pass, PassContext
from relax_core.passes.functions import change_prim_funcs
from relax_core.passes.tir.sequences import flat, leaves_early


def run(module: IRModule, _options: NoOptions, ctx: PassContext) -> IRModule:
    """Replace blocks by their bodies, thread bindings by launches, and drop loops that run once.

    The condition of a block becomes an `if`, its buffers are allocated around the body. What a block reads and writes,
    and its annotations, are facts for schedules and go. TVM makes attributes of those that begin with "pragma_"; here
    they go as well, with a remark, and those of a loop stay with the loop.
    """

    def lower(node: Node) -> Node | None:
        """Rule: a block -> its body."""
        match node:
            case Block(matches=(match, *_)):
                hint = "run LowerMatchBuffer before, or read and write the buffer that it is a region of"
                ctx.fail("PS019", f"blocks with a view are not lowered here: {match.buffer.name} is one", node, hint)
            case Block():
                return _body(node, ctx)
            case For(kind="thread_binding", thread=str() as tag) if is_number(node.start, 0):
                body = (
                    ctx.substitute(node.body, None, {node.var: node.start}) if is_number(node.extent, 1) else node.body
                )
                ctx.remark(node, "applied", f"{node.var.name} numbers the threads of {tag}")
                return LaunchThread(node.var, tag, node.extent, body, span=node.span)
            case For(annotations=(), step=None) if is_number(node.extent, 1) and not leaves_early(node.body):
                ctx.remark(node, "applied", f"{node.var.name} runs once")
                return ctx.substitute(node.body, None, {node.var: node.start})
            case _:
                return None

    return change_prim_funcs(module, ctx, lambda _, function: ctx.rewrite(function, lower, flat))


def _body(block: Block, ctx: PassContext) -> Stmt:
    body = block.body
    for buffer in reversed(block.alloc_buffers):
        body = DeclBuffer(buffer, body, annotations=_annotations(buffer), span=block.span)
    if block.predicate is not None and not is_number(block.predicate, 1):
        body = IfThenElse(block.predicate, body, span=block.span)
    name = block.name or "the block"
    ctx.remark(block, "applied", f"{name} is taken away{_with(block.alloc_buffers)}")
    _note_annotations(block, name, block.annotations, ctx)
    return body


def _annotations(buffer: Buffer) -> Attrs:
    """Return what TVM notes of an allocation that came from a block: no address is set, and how memory is aligned."""
    return (("buffer_allocated_addr", ()), ("buffer_data_alignment", attr(buffer.attrs, "align") or 64))


def _with(buffers: tuple[Buffer, ...]) -> str:
    names = ", ".join(item.name for item in buffers)
    return f"; {names} {'is' if len(buffers) == 1 else 'are'} allocated in its place" if buffers else ""


def _note_annotations(block: Block, name: str, annotations: Attrs, ctx: PassContext) -> None:
    for key, _ in annotations:
        ctx.remark(block, "missed", f"the annotation {key} of {name} is dropped: no pass behind this one reads it")


PASS = Pass(
    "LowerOpaqueBlock",
    "Takes blocks away; conditions become `if`s, thread bindings launches.",
    run,
    needs=("no init blocks", "opaque blocks"),
    gives=("no blocks",),
    see="tvm/src/s_tir/transform/lower_opaque_block.cc",
    dialect="tir",
)
