"""Answers about what the compiler made: bytecode, LLVM IR, assembly and remarks."""

from dataclasses import replace

from relax_core.engine.debug.request_context import RequestContext
from relax_core.engine.protocol import Asm, KernelOf, PlansOf, StepCostsOf
from relax_core.engine.replies import Listing
from relax_core.engine.screens import kernel_view
from relax_core.jit.kernel import Kernel
from relax_core.jit.transforms.registry import without
from relax_core.present.code import plain_code
from relax_core.present.kernels import remarks_text


def listing(message: Asm, context: RequestContext) -> Listing:
    """Show the bytecode, or what the compiler made of a kernel."""
    opened = context.opened_by(message.program)
    executable = opened.compilation.executable(context.report, context.is_cancelled)
    kernels = tuple(executable.kernels)
    if message.form == "bytecode":
        return Listing(plain_code(executable.as_text(), "bytecode"), kernels)
    name, prim_func = kernel_view.kernel_of(message.kernel, executable.kernels)
    off, engine = without(message.without), context.engine_of(opened)
    if message.form == "steps":
        table = kernel_view.step_table(StepCostsOf(message.program, name, message.sizes, off), context)
        return Listing(plain_code(table.to_text(), f"{name}, steps"), kernels)
    if message.form == "plan":
        found = kernel_view.plans(PlansOf(message.program, name, message.sizes, off), context)
        return Listing(plain_code(found.to_text(), f"{name}, plan"), kernels)
    host = engine.variation(replace(engine.options, without=off)) if off else engine
    kernel = Kernel(host, prim_func, name, executable.log, executable.kernels)
    if message.form == "remarks":
        asked, stop = KernelOf(message.program, name, message.sizes, off), context.is_cancelled
        view = kernel_view.kernel_view(asked, opened, context.report, stop, engine)
        return Listing(plain_code(remarks_text(view), f"{name}, remarks"), kernels)
    if message.form == "llvm":
        return Listing(plain_code(kernel.optimized_ir(), f"{name}, LLVM IR", "llvm"), kernels)
    return Listing(plain_code(kernel.assembly(), f"{name}, assembly", "asm"), kernels)
