"""Follow lines of the source to what they became, and back."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from relax_core.bytecode.build import finishing_stages
from relax_core.bytecode.compile import compile_module
from relax_core.bytecode.executable import Executable
from relax_core.diagnostics import CompileError, Diagnostic
from relax_core.engine.programs.open_program import OpenProgram
from relax_core.engine.protocol import KernelOf, OriginsOf, Report
from relax_core.engine.screens.kernel_view import kernel_view
from relax_core.ir.dialect import dialect_of
from relax_core.ir.expr import GlobalVar
from relax_core.ir.module import Definition, IRModule
from relax_core.ir.rewriting.rewrite import RewriteLog
from relax_core.ir.tir import PrimFunc
from relax_core.jit.engine import Engine
from relax_core.passes.core import Stage
from relax_core.passes.pipeline import Passes, final_module, run_pipeline
from relax_core.present.code import without_header
from relax_core.present.nodes.node_id import NodeIndex, index_nodes
from relax_core.present.nodes.origin_models import OriginLayer, Origins
from relax_core.present.nodes.origins import (
    Lines,
    bytecode_layer,
    code_layers,
    kernel_layer,
    source_layer,
    stage_layer,
)
from relax_core.printer.printed import Printed
from relax_core.printer.relay_text.module import print_relay
from relax_core.printer.tvmscript import print_module
from relax_core.source import Source


@dataclass(frozen=True, slots=True, eq=False)
class _Made:
    """All forms of a program; `index(k)` and `printed(k)` give those of stage `k`."""

    name: str
    stages: tuple[Stage, ...]
    executable: Executable
    source: Source
    index: Callable[[int], NodeIndex]
    printed: Callable[[int], Printed]


def origins(module: IRModule, passes: Passes | None = None) -> Origins:
    """Follow every line of the text that `module` was read from through `passes` to the bytecode and the kernels.

    `found.to_text(line=8)` prints what line 8 became, `found.layer("FuseTIR").to_text()` a text with the lines that
    each of its lines stems from; without a line, `to_text()` prints the instructions and kernels of each.

    Raises:
        CompileError: the module has errors, was not read from a text, or a pass failed.
    """
    source = module.span.source if module.span is not None else None
    if source is None:
        hint = "parse a text: parse(script(module)) is the same module"
        raise CompileError((Diagnostic("EN005", "the module was not read from a text, so it has no lines", hint=hint),))
    stages = run_pipeline(module, passes)
    final_module(module, stages)
    stages = (*stages, *finishing_stages(module, stages))
    log = RewriteLog.merged(stage.log for stage in stages)
    executable = compile_module(final_module(module, stages), log)
    modules = (module, *(stage.after for stage in stages))

    def printed(stage: int) -> Printed:
        at = modules[stage]
        return print_relay(at) if dialect_of(at) == "relay" else print_module(at)

    indexed = tuple(index_nodes(item, number) for number, item in enumerate(modules))
    made = _Made(source.name, stages, executable, source, indexed.__getitem__, printed)
    return _origins(made, Lines(log, source))


def origins_view(
    message: OriginsOf, opened: OpenProgram, report: Report, is_cancelled: Callable[[], bool], engine: Engine
) -> Origins:
    """Follow the lines of a program; the code of a kernel is there if the line or the layer that is asked for needs it.

    Raises:
        CompileError: EN005 if there is no such line; what the program does wrong.
    """
    executable = opened.compilation.executable(report, is_cancelled)
    count = len(opened.source.parsed.source.text.split("\n"))
    if not 0 <= message.line <= count:
        raise CompileError((Diagnostic("EN005", f"there is no line {message.line}: the text has {count}"),))
    lines = Lines(executable.log, opened.source.parsed.source)
    made = _Made(
        opened.source.program.name,
        opened.compilation.known_stages,
        executable,
        opened.source.parsed.source,
        opened.compilation.index,
        opened.compilation.printed,
    )
    found = _origins(made, lines)
    kind, _, asked = message.layer.partition(" ")
    wanted = {asked} if kind in ("llvm", "asm") else set[str]()
    wanted |= {layer.name.partition(" ")[2] for layer, _ in found.became(message.line) if layer.kind == "kernel"}
    views = (
        kernel_view(KernelOf(message.program, name), opened, report, is_cancelled, engine)
        for name in executable.kernels
        if name in wanted
    )
    added = tuple(layer for view in views for layer in code_layers(view))
    return Origins(found.name, found.source, (*found.layers, *added))


def _origins(made: _Made, lines: Lines) -> Origins:
    return Origins(made.name, tuple(made.source.text.split("\n")), tuple(_layers(made, lines)))


def _layers(made: _Made, lines: Lines) -> Iterator[OriginLayer]:
    yield source_layer(made.index(0), lines)
    for number, stage in enumerate(made.stages, 1):
        if stage.is_changed:
            yield stage_layer(stage.pass_name, without_header(made.printed(number)), made.index(number), lines)
    executable = made.executable
    yield bytecode_layer(executable, lines)
    served = lines.served(executable.module)
    yield from _kernels(executable.kernels, served, lines)


def _kernels(
    kernels: Mapping[str, PrimFunc], served: Mapping[str, frozenset[int]], lines: Lines
) -> Iterator[OriginLayer]:
    for name, function in kernels.items():
        alone = IRModule((Definition(GlobalVar(name), function),))
        printed = without_header(print_module(alone))
        yield kernel_layer(name, printed, function, served.get(name, frozenset()), lines)
