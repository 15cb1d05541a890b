"""Replies for the command line: programs, stages and results as text."""

import re
from collections.abc import Callable, Iterable
from typing import Final

from relax_core.diagnostics import CompileError, Diagnostic, plural
from relax_core.engine.inputs import write_archive
from relax_core.engine.programs import reading
from relax_core.engine.programs.open_program import OpenProgram
from relax_core.engine.programs.program import Program
from relax_core.engine.protocol import Report, Script
from relax_core.engine.replies import Appearance, Appearances, Change, Executed, ReadBack, Stages, StageText, Text
from relax_core.ir.dialect import dialect_of
from relax_core.ir.equality import first_difference
from relax_core.ir.module import IRModule
from relax_core.ir.rewriting.rewrite import RewriteLog
from relax_core.passes.core import Stage
from relax_core.passes.options import options_text
from relax_core.passes.pipeline import final_module
from relax_core.present.models import StageDetail
from relax_core.present.problems import problem_of
from relax_core.printer.ast import print_ast
from relax_core.printer.relay_text.module import print_relay
from relax_core.printer.tvmscript import print_for_tvm, print_module
from relax_core.vm.external.stand_ins import calls_words
from relax_core.vm.objects.values import show
from relax_core.vm.recording.trace import Trace

_ROW_LIMIT: Final = 200
_NAME: Final = re.compile(r"\w+(?:\.\w+)*")
_OF_RELAX: Final = "relax."
NO_LOG = RewriteLog()
SOURCE_DETAIL = StageDetail("Source", "the module as it was read")


def script(message: Script, opened: OpenProgram, report: Report, is_cancelled: Callable[[], bool]) -> Text:
    """Print the module, after the passes of the program if `message.passes` says so."""
    source = opened.source.module
    errors = [item for item in opened.source.parsed.diagnostics if item.severity == "error"]
    if errors:
        raise CompileError(errors)
    module = final_module(source, opened.compilation.stages(report, is_cancelled)) if message.passes else source
    text = _printed(message, module)
    if not message.reads_back or message.dialect == "ast":
        return Text(text)
    return Text(text, read_back=_read_back(module, text, opened.source.program))


def _printed(message: Script, module: IRModule) -> str:
    is_relay = dialect_of(module) == "relay"
    match message.dialect or ("relay" if is_relay else "tvmscript"):
        case "tvmscript" if is_relay:
            hint = "print it with --dialect relay"
            raise CompileError((Diagnostic("EN006", "a Relay module cannot be printed as TVMScript", hint=hint),))
        case "tvmscript":
            if message.tvm:
                return print_for_tvm(module, message.tvm).text
            return print_module(module, spelling=message.spelling).text
        case "ast":
            return print_ast(module).text
        case "relay":
            return print_relay(module).text


def _read_back(module: IRModule, text: str, program: Program) -> ReadBack:
    """Read what was printed of `module`, and say whether it is the same."""
    name = "printed.relay" if dialect_of(module) == "relay" else "printed.py"
    parsed = reading.read(text, name, program.constants)
    errors = [item for item in parsed.diagnostics if item.severity == "error"]
    if errors:
        return ReadBack(is_equal=False, words=f"printed, it does not read: {errors[0].code}: {errors[0].message}")
    if len(parsed.modules) != 1:
        return ReadBack(is_equal=False, words=f"printed, it reads as {plural(len(parsed.modules), 'module')}")
    found = first_difference(module, parsed.modules[0])
    if found is not None:
        return ReadBack(is_equal=False, words=f"printed and read back: not equal at {found.path}: {found.message}")
    return ReadBack(is_equal=True, words="printed and read back: equal")


def stages(opened: OpenProgram, ran: tuple[Stage, ...]) -> Stages:
    """Print every stage."""
    text = opened.compilation.printed(0).text
    first = StageText(0, "Source", is_changed=False, seconds=0.0, rewrite_count=0, remarks=(), text=text)
    return Stages((first, *(_stage(opened, stage, number) for number, stage in enumerate(ran, 1))))


def _stage(opened: OpenProgram, stage: Stage, number: int) -> StageText:
    return StageText(
        number,
        stage.pass_name + options_text(stage.options),
        stage.is_changed,
        stage.seconds,
        len(stage.log.replacements),
        tuple(f"{item.kind}: {item.message}" for item in stage.remarks),
        opened.compilation.printed(number).text,
        tuple(item.render() for item in stage.diagnostics),
    )


def executed(trace: Trace) -> Executed:
    """Present output and result of a run."""
    error = trace.error
    return Executed(
        tuple(item.text for item in trace.output),
        "" if error is not None else show(trace.result),
        b"" if error is not None else write_archive(trace.result),
        len(trace),
        error.render() if error is not None else "",
        trace.outcome == "limit",
        problems=(problem_of(error),) if error is not None else (),
        stand_ins=calls_words(trace.stand_ins) if trace.stand_ins else "",
        interventions=tuple(item.words_for(trace) for item in trace.interventions),
    )


def appearances_in(sought: str, forms: Iterable[tuple[int, str, str]]) -> Appearances:
    """Say from which forms on a text occurs, and from which on it does no longer.

    Args:
        sought: a name, which is not looked for within a longer one, or any other text. `relax.add` is `R.add`, too.
        forms: the position, the name and the text of each form of the program.
    """
    pattern = _sought(sought)
    rows: list[Appearance] = []
    total, count, line, holding = 0, 0, 0, 0
    for position, name, text in forms:
        total += 1
        places = [found.start() for found in pattern.finditer(text)] if sought else []
        first = text.count("\n", 0, places[0]) + 1 if places else line
        if len(places) != count:
            rows.append(Appearance(position, name, _change(count, len(places)), len(places), first))
        count, line = len(places), first
        holding += bool(places)
    conclusion = _conclusion(sought, rows, holding, total)
    return Appearances(tuple(rows[:_ROW_LIMIT]), conclusion, has_more=len(rows) > _ROW_LIMIT)


def _sought(text: str) -> re.Pattern[str]:
    words = re.escape(text)
    if text.startswith(_OF_RELAX):
        words = rf"(?:R|relax)\.{re.escape(text.removeprefix(_OF_RELAX))}"
    return re.compile(rf"(?<!\w){words}(?!\w)" if _NAME.fullmatch(text) else words)


def _change(before: int, after: int) -> Change:
    if not before:
        return "appears"
    if not after:
        return "goes"
    return "more often" if after > before else "less often"


def _conclusion(text: str, rows: list[Appearance], holding: int, count: int) -> str:
    if not rows:
        return f"`{text}` is in no form of the program"
    last = f"; it is gone from {rows[-1].name} on" if rows[-1].change == "goes" else "; it is there at the end"
    return f"`{text}` first appears in {rows[0].name}, and is in {holding} of {plural(count, 'form')}{last}"
