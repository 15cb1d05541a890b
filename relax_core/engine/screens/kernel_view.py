"""The Kernels page: one prim func of the compiled program in TIR, LLVM IR and machine code."""

from collections.abc import Callable

import msgspec

from relax_core.diagnostics import CompileError, Diagnostic
from relax_core.engine.programs.open_program import OpenProgram
from relax_core.engine.protocol import KernelOf, Report
from relax_core.ir.expr import GlobalVar
from relax_core.ir.module import Definition, IRModule
from relax_core.ir.prim import PrimVar
from relax_core.jit.engine import Engine
from relax_core.jit.kernel_views import kernel_views
from relax_core.jit.lowering.known.symbols import shape_symbols
from relax_core.present.code import without_header
from relax_core.present.kernel_models import KernelView, SourceLine
from relax_core.present.kernels import present_kernel
from relax_core.present.nodes.origins import Lines, tir_lines
from relax_core.printer.tvmscript import print_module
from relax_core.source import Source


def kernel_view(
    message: KernelOf, opened: OpenProgram, report: Report, is_cancelled: Callable[[], bool], engine: Engine
) -> KernelView:
    """Compile a kernel, the first one if none is named, and present its forms.

    Raises:
        CompileError: EN005 if there is no such kernel or symbol; also for errors of the program or of lowering.
    """
    executable = opened.compilation.executable(report, is_cancelled)
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
    printed = without_header(print_module(alone, spelling=opened.source.spelling))
    made = present_kernel(name, function, printed, views, sizes=chosen, processor=engine.target.processor)
    lines = Lines(executable.log, opened.source.parsed.source)
    served = lines.served(executable.module).get(name, frozenset())
    found = tir_lines(printed, function, served, lines)
    parts = (msgspec.structs.replace(part, origins=found.get(part.line, ())) for part in made.parts)
    return msgspec.structs.replace(
        made, kernels=kernels, parts=tuple(parts), origins=_source_lines(served, opened.source.parsed.source)
    )


def _source_lines(served: frozenset[int], source: Source) -> tuple[SourceLine, ...]:
    """Return the lines of the user's text that a kernel computes: those that its call sites stem from."""
    lines = source.text.split("\n")
    return tuple(SourceLine(line, lines[line - 1].strip()) for line in sorted(served))
