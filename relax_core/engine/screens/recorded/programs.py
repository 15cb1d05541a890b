"""Answers about the program of a recording: what it takes, and what our pass of a stage's name makes of it."""

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Final, Literal, cast

import msgspec

from relax_core.diagnostics import CompileError, DiagnosedError, Diagnostic, RunError
from relax_core.engine.debug import service
from relax_core.engine.debug.outcomes import diagnostic_words
from relax_core.engine.debug.replies import Bisection
from relax_core.engine.debug.request_context import RequestContext
from relax_core.engine.debug.requests import (
    BisectOf,
    OwnPassOf,
    RecordedInputsOf,
)
from relax_core.engine.inputs import argument_types, symbol_sizes
from relax_core.engine.pipelines import pipeline as pipelines
from relax_core.engine.pipelines.recorded import first_program, program_of, with_recorded_inputs
from relax_core.engine.programs.prim_entry import can_run, declared
from relax_core.engine.programs.program import Program
from relax_core.engine.replies import OwnPass, RecordedInputs
from relax_core.ir.equality import first_difference
from relax_core.ir.expr import ExternFunc, Function
from relax_core.ir.module import IRModule
from relax_core.ir.node import preorder
from relax_core.passes import library
from relax_core.passes.pipeline import DIALECTS, run_pipeline
from relax_core.present.diffs.diff import diff_texts
from relax_core.present.models import Diff
from relax_core.present.words import type_text
from relax_core.printer.tvmscript import print_module
from relax_core.vm.builtin.builtins import BUILTINS
from relax_core.vm.external.packed import HOST

_PARAM_LIMIT: Final = 400
_UNKNOWN_LIMIT: Final = 100
_VERDICTS: Final[Mapping[str, Literal["same", "different", "stops alike"]]] = MappingProxyType(
    {"same": "same", "different": "different", "stops alike": "stops alike"}
)


def inputs(message: RecordedInputsOf, context: RequestContext) -> RecordedInputs:
    """List the functions that can run, and what the chosen one takes."""
    opened = context.recorded_by(message.parcel)
    source = context.opened_by(first_program(opened, message.options)).source
    module = source.module
    known = _signatures(module, source.entries())
    unknown = _unknown(module, opened)
    entry = message.options.entry if message.options.entry in known else "main" if "main" in known else ""
    entry = entry or next(iter(known), "")
    if not entry:
        return RecordedInputs("", (), unknown=unknown)
    types = argument_types(known[entry])
    sizes = symbol_sizes(known[entry], dict(message.options.sizes))
    return RecordedInputs(
        entry,
        tuple(known),
        tuple((param.name, type_text(type_)) for param, type_ in types.items())[:_PARAM_LIMIT],
        tuple({var.name: size for var, size in sizes.items()}.items()),
        unknown,
    )


def _unknown(module: IRModule, opened: "pipelines.Pipeline") -> tuple[tuple[str, bool], ...]:
    """Return the packed functions that a module names and that are not here, and whether a run has their results."""
    functions = (function for _, function in module.relax_functions)
    named = dict.fromkeys(
        node.name for function in functions for node in preorder(function) if isinstance(node, ExternFunc)
    )
    called = {call.name for run in opened.runs for call in run.calls if call.is_finished}
    absent = [name for name in named if name not in BUILTINS and HOST.find(name) is None]
    return tuple((name, name in called) for name in absent[:_UNKNOWN_LIMIT])


def _signatures(module: IRModule, entries: tuple[str, ...]) -> dict[str, Function]:
    """Return what can be entered: Relax functions, or prim funcs where there are none."""
    if module.relax_functions:
        return {var.name: function for var, function in module.relax_functions if var.name in entries}
    return {var.name: declared(function) for var, function in module.prim_funcs if can_run(function)}


def own_pass(message: OwnPassOf, context: RequestContext) -> OwnPass:
    """Run our pass on the form before a stage, and compare its module with that of the stage."""
    opened = context.recorded_by(message.parcel)
    if not 0 <= message.position < len(opened.stages):
        raise CompileError((Diagnostic("PL013", f"there is no stage at position {message.position}"),))
    stage = opened.stages[message.position]
    dialect, name = _key(stage.pass_name)
    if stage.pass_name.startswith("("):
        return OwnPass("no such pass", "no pass made this stage")
    if (dialect, name) not in library.PASSES:
        return OwnPass("no such pass", f"RelaxScope has no Relax pass and no pass on TIR `{name}`")
    kinds = ("module", "prim funcs") if dialect == "tir" else ("module",)
    before = _form_before(opened, message.position)
    if before is None or opened.kind(before) not in kinds or opened.kind(stage) != opened.kind(before):
        words = "the stage, or the one before it, is no whole module of the program"
        return OwnPass("not comparable", words)
    try:
        made = run_pipeline(opened.module(before.number), f"{dialect}.{name}")
        theirs = opened.module(stage.number)
    except DiagnosedError as error:
        return OwnPass("not comparable", f"the text has errors: {diagnostic_words(error.diagnostics[0])}")
    if made[-1].is_failed:
        words = f"RelaxScope's {name} does not take the module: {diagnostic_words(made[-1].diagnostics[0])}"
        return OwnPass("not comparable", words)
    ours = made[-1].after
    diff = _diff(name, ours, theirs)
    difference = first_difference(ours, theirs)
    if difference is None:
        return OwnPass("equal", f"RelaxScope's {name} makes the same module", diff)
    options = with_recorded_inputs(opened, message.options)
    recorded = program_of(opened, stage, options)
    whole = _form_before(opened, message.position, "module")
    if opened.kind(stage) == "module" or whole is None:
        own = msgspec.structs.replace(program_of(opened, before, options), pipeline=f"{dialect}.{name}")
        return _by_value(name, (own, recorded), diff, context)
    own = msgspec.structs.replace(recorded, text=print_module(ours).text, name=f"RelaxScope's {name}")
    return _by_value(name, (program_of(opened, whole, options), recorded, own), diff, context)


def _key(pass_name: str) -> tuple[str, str]:
    """Return dialect and name of the pass of ours that has the name of a recorded one."""
    prefix, _, name = pass_name.rpartition(".")
    is_tir = DIALECTS.get(prefix) == "tir" or (not prefix and ("relax", name) not in library.PASSES)
    return ("tir" if is_tir and ("tir", name) in library.PASSES else "relax"), name


def _form_before(opened: "pipelines.Pipeline", position: int, kind: str = "") -> "pipelines.RecordedStage | None":
    """Return the form of the program that the pass at a position was given, or the last one of a kind."""
    numbers = {stage.number: at for at, stage in enumerate(opened.stages)}
    forms = (form for form in reversed(opened.forms()) if numbers[form.number] < position)
    return next((form for form in forms if not kind or opened.kind(form) == kind), None)


def _diff(name: str, ours: IRModule, theirs: IRModule) -> Diff:
    place_of = {function: place for place, function in enumerate(theirs.names)}
    in_order = sorted(ours.definitions, key=lambda item: place_of.get(item.var.name, len(place_of)))
    texts = [print_module(module).text for module in (replace(ours, definitions=tuple(in_order)), theirs)]
    return diff_texts(f"RelaxScope's {name}", texts[0], f"The recorded {name}, printed by RelaxScope", texts[1])


def _by_value(name: str, programs: tuple[Program, ...], diff: Diff, context: RequestContext) -> OwnPass:
    """Run programs on the same arguments: ours and the recorded one, or, in a whole program, the recorded one and ours.

    Prim funcs alone are run in the last whole program, with whose results both are compared.
    """
    first, *others = programs
    try:
        asked = BisectOf(first, tuple(others))
        found = cast("Bisection", service.answer(asked, context.opened_by(first), context))
    except RunError as error:
        return OwnPass("not comparable", diagnostic_words(error.diagnostics[0]), diff)
    result = found.stages[-1]
    if len(others) > 1 and (recorded := found.stages[1]).verdict not in ("same", "stops alike"):
        ours = "does" if result.verdict == recorded.verdict else "does not"
        what = f"the recorded {name} makes a module that computes something else, RelaxScope's {ours}"
        if recorded.verdict == "different" and result.verdict in ("same", "different"):
            return OwnPass("different", f"{what}: {recorded.words}", diff)
        return OwnPass("not comparable", f"the modules were not compared by value: {recorded.words}", diff)
    words = {
        "same": f"RelaxScope's {name} makes another text, which computes the same: {result.words}",
        "different": f"RelaxScope's {name} makes a module that computes something else: {result.words}",
        "stops alike": f"both modules stop alike: {result.words}",
    }.get(result.verdict, f"the modules are not equal, and were not compared by value: {result.words}")
    return OwnPass(_VERDICTS.get(result.verdict, "not comparable"), words, diff)
