"""Answers about what the compiler made: bytecode, LLVM IR, assembly and remarks."""

from relax_core.diagnostics import CompileError, Diagnostic
from relax_core.engine.debug.request_context import RequestContext
from relax_core.engine.protocol import Asm, KernelOf
from relax_core.engine.replies import Listing
from relax_core.engine.screens import kernel_view
from relax_core.present.code import plain_code
from relax_core.present.kernels import remarks_text


def listing(message: Asm, context: RequestContext) -> Listing:
    """Show the bytecode, or what the compiler made of a kernel."""
    opened = context.opened_by(message.program)
    executable = opened.compilation.executable(context.report, context.is_cancelled)
    kernels = tuple(executable.kernels)
    if message.form == "bytecode":
        return Listing(plain_code(executable.as_text(), "bytecode"), kernels)
    name = message.kernel or (kernels[0] if kernels else "")
    if name not in executable.kernels:
        hint = f"kernels: {', '.join(kernels)}" if kernels else "this program has no kernels"
        raise CompileError((Diagnostic("EN005", f"there is no kernel `{name}`", hint=hint),))
    prim_func = executable.kernels[name]
    kernel = context.engine_of(opened).kernel(prim_func, name, executable.log, executable.kernels)
    if message.form == "remarks":
        stop, engine = context.is_cancelled, context.engine_of(opened)
        view = kernel_view.kernel_view(KernelOf(message.program, name), opened, context.report, stop, engine)
        return Listing(plain_code(remarks_text(view), f"{name}, remarks"), kernels)
    if message.form == "llvm":
        return Listing(plain_code(kernel.optimized_ir(), f"{name}, LLVM IR", "llvm"), kernels)
    return Listing(plain_code(kernel.assembly(), f"{name}, assembly", "asm"), kernels)
