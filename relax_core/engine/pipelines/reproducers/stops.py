"""A file that stops with apache-tvm and numpy alone as was recorded: in a pass, a build, or a run."""

from dataclasses import dataclass
from typing import Final

from relax_core.engine.npy import Array
from relax_core.engine.pipelines.calls.results import first_omitted, machine_value
from relax_core.engine.pipelines.entries import fail, shown
from relax_core.engine.pipelines.pipeline import Pipeline, RecordedStage
from relax_core.engine.pipelines.recorded_run import RecordedRun
from relax_core.engine.pipelines.reproducers.script import arguments_of, literal, named_constants, script_of

_NOT_READ: Final = ("RS", "WF024")
"""The codes of mistakes for which apache-tvm does not read the text: a variable that has no value there."""


@dataclass(frozen=True, slots=True)
class CompilerStop:
    """What stopped: the position of the pass among the stages, behind all of them for a run, and with what.

    `code` is that of the mistake in the module before, if one was found, and `since` the position of the first form
    that has it. `words` say it in a paragraph.
    """

    position: int
    error: str
    words: str
    run: RecordedRun | None = None
    code: str = ""
    since: int = -1


def script_of_stop(pipeline: Pipeline, stop: CompilerStop) -> str:
    """Return the file.

    Raises:
        CompileError: PL012: the recording lacks what it takes, or apache-tvm cannot read it.
    """
    stopped = pipeline.stages[stop.position] if stop.run is None else None
    is_pass = stopped is not None and not stopped.pass_name.startswith("(")
    start, passes = _start(pipeline, stop, is_pass=is_pass)
    missing = pipeline.missing_in(start)
    if missing:
        fail("PL012", f"the module needs constants that are not at hand: {missing[0].name}")
    arrays: dict[str, Array] = {}
    run = stop.run
    data = {
        "PASS_NAME": repr(stopped.pass_name if stopped is not None and is_pass else "the run" if run else "the build"),
        "ENTRY": repr(run.entry if run is not None else "main"),
        "TARGET": '"llvm"',
        "ENDS_IN": repr("run" if run is not None else "pass" if is_pass else "build"),
        "ERROR": repr(stop.error.removeprefix("it raised ")),
        "PASSES": repr(passes),
        "BEFORE": literal(start.text or ""),
        "BEFORE_CONSTANTS": repr(named_constants("before", pipeline.constants(start), arrays)),
        "BASE": '""',
        "BASE_CONSTANTS": "()",
        "ARGUMENTS": arguments_of(_inputs(run), arrays),
    }
    facts = ", ".join(f"{name} {value}" for name, value in pipeline.facts.items() if name in ("tvm", "python", "numpy"))
    heading = [stop.words, *((f"Recorded with: {facts}",) if facts else ())]
    heading.append("Passes are applied with their default options, since a recording tells only their names.")
    return script_of("\n".join(heading), data, arrays, "stop_again")


def _start(pipeline: Pipeline, stop: CompilerStop, *, is_pass: bool) -> tuple[RecordedStage, tuple[str, ...]]:
    """Return the form to begin with, and the passes from there to the one that stops.

    That is the last form; what only a pass takes may be prim funcs alone. One that apache-tvm does not read is made
    anew from the last form without the mistake.
    """
    position_of = {stage.number: at for at, stage in enumerate(pipeline.stages)}
    forms = [form for form in pipeline.forms() if position_of[form.number] < stop.position and form.text is not None]
    usable = [at for at, form in enumerate(forms) if is_pass or pipeline.kind(form) == "module"]
    if not usable:
        fail("PL012", "the recording holds no module from before")
    last = usable[-1]
    if not stop.code.startswith(_NOT_READ):
        return forms[last], ()
    sound = [at for at in usable if position_of[forms[at].number] < stop.since]
    if not sound:
        fail("PL012", "apache-tvm does not read a module in which a variable has no value, and there is none before it")
    return forms[sound[-1]], tuple(form.pass_name for form in forms[sound[-1] + 1 : last + 1])


def _inputs(run: RecordedRun | None) -> tuple[object, ...]:
    if run is None:
        return ()
    omitted = first_omitted(run.inputs)
    if omitted is not None:
        fail("PL012", f"the recording does not hold all inputs of the run: {shown(omitted.what)}")
    return tuple(machine_value(item) for item in run.inputs)
