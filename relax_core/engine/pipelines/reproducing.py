"""What a reproducer is made of: the forms of a program, the bisection, and what the last good form computes."""

from collections.abc import Callable
from typing import cast

from relax_core.diagnostics import RunError
from relax_core.engine.debug.compared import compared_call, machine_for
from relax_core.engine.debug.replies import Bisection, Reproduced
from relax_core.engine.debug.request_context import RequestContext
from relax_core.engine.debug.requests import BisectOf, BisectRecordedOf, ReproducerOf
from relax_core.engine.inputs import members_of
from relax_core.engine.npy import Array
from relax_core.engine.pipelines.constants import in_order, read_constants
from relax_core.engine.pipelines.recorded import bisect_of
from relax_core.engine.pipelines.reproducer import Case, Form, reproducer_of
from relax_core.engine.pipelines.sources import open_given
from relax_core.engine.programs.open_program import OpenProgram
from relax_core.engine.programs.program import Program
from relax_core.printer.tvmscript import print_module
from relax_core.vm.virtual_machine import entry_arguments

_NOT_READ_BY_TVM = "R.dtype("
"""What apache-tvm 0.27 prints and does not read back; such a text is printed here in words that it reads."""


def reproduced(message: ReproducerOf, answer: Callable[[BisectOf], object], context: RequestContext) -> Reproduced:
    """Write the reproducer of the first difference; bisect to find it, unless that was done.

    Raises:
        CompileError: PL012: there is none, or it cannot be written.
        RunError: the last good form does not run to its end.
    """
    asked, names, facts = _asked(message.bisect)
    is_known = message.found is not None and (not asked.others or len(message.found.stages) == len(names))
    found = message.found if is_known and message.found is not None else cast("Bisection", answer(asked))
    opened = context.opened_by(asked.program)
    if asked.others:
        programs = (asked.program, *asked.others)
        forms = tuple(_form(program, name, context) for program, name in zip(programs, names, strict=True))
    else:
        stages = opened.compilation.stages(context.report, context.is_cancelled)
        texts = [print_module(module).text for module in (opened.source.module, *(stage.after for stage in stages))]
        forms = tuple(Form(stage.name, text) for stage, text in zip(found.stages, texts, strict=True))
    _, args = compared_call(opened, context)
    return reproducer_of(Case(forms, found, args, _expected(opened, context), facts))


def _asked(message: BisectOf | BisectRecordedOf) -> tuple[BisectOf, tuple[str, ...], dict[str, str]]:
    """Return the bisection of programs, the passes by name, and the facts that were recorded."""
    if isinstance(message, BisectOf):
        return message, tuple(item.name for item in (message.program, *message.others)), {}
    pipeline = open_given((("the trace", message.trace),))
    return bisect_of(message), tuple(stage.pass_name for stage in pipeline.forms()), dict(pipeline.facts)


def _form(program: Program, name: str, context: RequestContext) -> Form:
    if _NOT_READ_BY_TVM in program.text:
        return Form(name, print_module(context.opened_by(program).source.module).text)
    return Form(name, program.text, in_order(read_constants(program.constants)) if program.constants else ())


def _expected(opened: OpenProgram, context: RequestContext) -> dict[str, Array]:
    """Run the reference and return the arrays of its result."""
    executable = opened.compilation.executable(context.report, context.is_cancelled)
    name, args = compared_call(opened, context)
    machine = machine_for(executable, opened, context)
    trace = opened.runs.run_machine(machine, name, entry_arguments(executable, name, args), context.is_cancelled)
    if trace.error is not None:
        raise RunError((trace.error,))
    return members_of("out", trace.result)
