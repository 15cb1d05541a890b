"""What a reproducer is made of: the forms of a program, the bisection, and what the last good form computes."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, Final, cast

import msgspec

from relax_core.diagnostics import DiagnosedError, RunError
from relax_core.engine.debug.compared import compared_call, machine_for
from relax_core.engine.debug.replies import Bisection, Reproduced
from relax_core.engine.debug.request_context import RequestContext
from relax_core.engine.debug.requests import BisectOf, BisectRecordedOf, ReproducerOf
from relax_core.engine.halving.reply import Budget
from relax_core.engine.inputs import members_of
from relax_core.engine.npy import Array
from relax_core.engine.pipelines.constants import constants_archive, in_order, read_constants
from relax_core.engine.pipelines.recorded import bisect_of
from relax_core.engine.pipelines.reproducers.reduce import functions_in, only, reached
from relax_core.engine.pipelines.reproducers.reproducer import Case, Form, reproducer_of
from relax_core.engine.programs.open_program import OpenProgram
from relax_core.engine.programs.prim_entry import entry_name, with_entries
from relax_core.engine.programs.program import Program
from relax_core.frontend.parse import parse_text
from relax_core.ir.tir import PrimFunc
from relax_core.printer.tvmscript import print_module
from relax_core.vm.virtual_machine import entry_arguments

_OWN: Final = MappingProxyType[str, Any]({"inputs": None, "sizes": (), "module": "", "pipeline": None})
"""What the arguments of a function of its own do not take from the program that it was in."""
_NOT_READ_BY_TVM = "R.dtype("
"""What apache-tvm 0.27 prints and does not read back; such a text is printed here in words that it reads."""


def reproduced(message: ReproducerOf, answer: Callable[[BisectOf], object], context: RequestContext) -> Reproduced:
    """Write the reproducer of the first difference; bisect to find it, unless that was done.

    Raises:
        CompileError: PL012: there is none, or it cannot be written.
        RunError: the last good form does not run to its end.
    """
    asked, names, facts = _asked(message.bisect, context)
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
    alone = _alone(asked, forms, found, answer)
    if alone is not None:
        programs, forms, small = alone
        opened = context.opened_by(programs.program)
        _, args = compared_call(opened, context)
        return reproducer_of(Case(forms, small, args, _expected(opened, context), facts, found.entry))
    _, args = compared_call(opened, context)
    return reproducer_of(Case(forms, found, args, _expected(opened, context), facts))


def _alone(
    asked: BisectOf, forms: tuple[Form, ...], found: Bisection, answer: Callable[[BisectOf], object]
) -> tuple[BisectOf, tuple[Form, ...], Bisection] | None:
    """Return the function that halving isolated as a program of its own, if it differs there as well.

    That is told by another bisection, of the two forms of the function, on made-up inputs.
    """
    name = _isolated(found)
    if not name:
        return None
    made = [_form_alone(forms[at], name) for at in (found.last_good, found.first_different)]
    small = tuple(item for item in made if item is not None)
    if len(small) < len(made) or small[0].entry != small[1].entry:
        return None
    programs: list[Program] = []
    for at, item in enumerate(small):
        held = constants_archive(item.form.constants)
        given = {"text": item.text, "name": f"{at}.py", "entry": name, "constants": held, **_OWN}
        programs.append(msgspec.structs.replace(asked.program, **given))
    again = BisectOf(programs[0], (programs[1],), asked.closeness, Budget(runs=0))
    try:
        judged = cast("Bisection", answer(again))
    except DiagnosedError:
        return None
    is_shown = judged.first_different == 1 and judged.entry == small[0].entry
    return (again, tuple(item.form for item in small), judged) if is_shown else None


@dataclass(frozen=True, slots=True)
class _FormAlone:
    """A function as a program of its own: how it is read here, how by apache-tvm, and what is called there."""

    text: str
    form: Form
    entry: str


def _isolated(found: Bisection) -> str:
    """Return the only function whose change makes the result wrong, "" if there is none but the entry."""
    if found.halved is None or not found.halved.is_isolated:
        return ""
    names = {item.function for item in found.halved.changes}
    return names.pop() if len(names) == 1 and found.entry not in names else ""


def _form_alone(form: Form, name: str) -> _FormAlone | None:
    """Return what a function reaches of a form; around a prim func stands a Relax function that takes its buffers."""
    functions = functions_in(form.text)
    if name not in functions:
        return None
    text = only(form.text, reached(form.text, name))
    whole = parse_text(text, form.pass_name, form.constants)
    if not whole.modules or any(item.severity == "error" for item in whole.diagnostics):
        return None
    module = whole.modules[0]
    function = module[name]
    if isinstance(function, PrimFunc):
        entry = entry_name(module, name)
        around = functions_in(print_module(with_entries(module)).text).get(entry)
        return None if around is None else _FormAlone(text, replace(form, text=only(text, (name,), around)), entry)
    return None if function.is_private else _FormAlone(text, replace(form, text=text), name)


def _asked(
    message: BisectOf | BisectRecordedOf, context: RequestContext
) -> tuple[BisectOf, tuple[str, ...], dict[str, str]]:
    """Return the bisection of programs, the passes by name, and the facts that were recorded."""
    if isinstance(message, BisectOf):
        return message, tuple(item.name for item in (message.program, *message.others)), {}
    pipeline = context.recorded_by(message.parcel)
    return bisect_of(message, pipeline), tuple(stage.pass_name for stage in pipeline.forms()), dict(pipeline.facts)


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
