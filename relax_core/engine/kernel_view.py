"""The Kernels page: one prim func of the compiled program in TIR, LLVM IR and machine code."""

from collections.abc import Callable

import msgspec

from relax_core.bytecode.executable import Executable
from relax_core.bytecode.isa import CallInstruction
from relax_core.diagnostics import CompileError, Diagnostic
from relax_core.engine.protocol import KernelOf
from relax_core.engine.study import Report, Study
from relax_core.ir.expr import Call, GlobalVar, VarBinding
from relax_core.ir.module import Definition, IRModule
from relax_core.ir.prim import PrimVar
from relax_core.ir.relay import Let
from relax_core.jit.engine import Engine
from relax_core.jit.kernel_views import kernel_views
from relax_core.jit.lowering.symbols import shape_symbols
from relax_core.present.code import without_header
from relax_core.present.kernel_models import KernelView, SourceLine
from relax_core.present.kernels import present_kernel
from relax_core.printer.tvmscript import print_module
from relax_core.source import Source


def kernel_view(
    message: KernelOf, study: Study, report: Report, is_cancelled: Callable[[], bool], engine: Engine
) -> KernelView:
    """Compile the asked kernel, the first one if none is named, and present its forms.

    Raises:
        CompileError: EN005 if there is no such kernel or symbol; what the program or the kernel does wrong.
    """
    executable = study.executable(report, is_cancelled)
    kernels = tuple(executable.kernels)
    name = message.kernel or (kernels[0] if kernels else "")
    function = executable.kernels.get(name)
    if function is None:
        hint = f"kernels: {', '.join(kernels)}" if kernels else "this program has no kernels"
        raise CompileError((Diagnostic("EN005", f"there is no kernel `{name}`", hint=hint),))
    symbols = shape_symbols(function)
    asked = dict(message.sizes)
    unknown = sorted(asked.keys() - {symbol.name for symbol in symbols})
    if unknown:
        hint = f"its symbols: {', '.join(symbol.name for symbol in symbols) or 'none'}"
        raise CompileError((Diagnostic("EN005", f"`{name}` has no dimension `{unknown[0]}`", hint=hint),))
    chosen: dict[PrimVar, int | None] = {symbol: asked.get(symbol.name) for symbol in symbols}
    known = {symbol: value for symbol, value in chosen.items() if value is not None}
    views = kernel_views(
        engine.target,
        function,
        known if len(known) == len(symbols) else None,
        lambda node: executable.log.locate(node),
        options=engine.options,
        functions=executable.kernels,
    )
    alone = IRModule((Definition(GlobalVar(name), function),), name=executable.module.name)
    printed = without_header(print_module(alone, spelling=study.spelling))
    made = present_kernel(name, kernels, function, printed, views, sizes=chosen, processor=engine.target.processor)
    return msgspec.structs.replace(made, origins=_origins(name, executable, study.parsed.source))


def _origins(name: str, executable: Executable, source: Source) -> tuple[SourceLine, ...]:
    """Return the lines of the text whose operators a kernel computes: those that its calls stem from."""
    number = executable.index_of.get(name)
    found: set[int] = set()
    for instruction, node in zip(executable.instructions, executable.nodes, strict=True):
        if isinstance(instruction, CallInstruction) and instruction.function == number:
            parts = (node, node.value) if isinstance(node, VarBinding) else (node,)
            origins = (origin for part in parts for origin in executable.log.ancestry(part))
            spans = [origin.span for origin in origins if isinstance(origin, Call | VarBinding | Let)]
            nearest = (executable.log.locate(node),)
            found.update(span.line for span in (spans if any(spans) else nearest) if span and span.source is source)
    lines = source.text.split("\n")
    return tuple(SourceLine(line, lines[line - 1].strip()) for line in sorted(found))
