"""Files that hold several stages, wherever a command takes a file: which of them is meant, and with what constants."""

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import msgspec

from relax_core.cli import run_files
from relax_core.cli.review import named
from relax_core.cli.terminal import Engine, UsageError, complain, read_bytes, read_program, read_text, write_bytes
from relax_core.diagnostics import CompileError, DiagnosedError, Diagnostic, has_errors
from relax_core.engine.debug.requests import (
    BisectRecordedOf,
    CompareValuesOf,
    CrashOf,
    Parcel,
)
from relax_core.engine.debug.tolerance import Closeness
from relax_core.engine.files import printable
from relax_core.engine.pipelines import constants, recorded, sources
from relax_core.engine.pipelines import pipeline as pipelines
from relax_core.engine.pipelines.calls import results
from relax_core.engine.pipelines.recognize import is_pipeline
from relax_core.engine.pipelines.trace import writer
from relax_core.engine.protocol import (
    Failure,
    Program,
)
from relax_core.engine.replies import Crash, Stages

_STAGE: Final = re.compile(r"(.+)@(\d{1,9})", re.DOTALL)


def pipeline_at(path: str) -> "pipelines.Pipeline | None":
    """Open a path that holds several stages; `None` if it holds a program.

    Raises:
        UsageError: it holds stages that cannot be read, with the diagnostics.
    """
    try:
        return sources.open_pipeline(path) if path != "-" and "\0" not in path and is_pipeline(path) else None
    except CompileError as error:
        raise _refused(error) from None


def is_many(paths: Sequence[str]) -> bool:
    """Tell whether one of `paths` names modules of their own: a pattern, or a folder that is no recording."""
    return any(named.holds_modules(path) for path in paths if not os.path.isfile(path) and "\0" not in path)


def recorded_stage_at(path: str) -> tuple[Parcel, int] | None:
    """Return a recording to send, and the position of the stage that `PATH@N` means, without `@N` the first form.

    `None` if the path holds a program.

    Raises:
        UsageError: it holds stages that cannot be read, or there is no such stage.
    """
    path, number = _split(path)
    opened = pipeline_at(path)
    if opened is None:
        return None
    stage = _chosen(opened, number)
    return Parcel(printable(path), writer.write_trace(writer.without_runs(opened))), opened.stages.index(stage)


def pipeline_of(*paths: str) -> "pipelines.Pipeline":
    """Open one path whatever it holds, or several files in order: a file with one program is a pipeline of one stage.

    Raises:
        UsageError: it cannot be read.
    """
    try:
        return sources.open_pipeline(paths[0] if len(paths) == 1 else paths)
    except CompileError as error:
        raise _refused(error) from None


def recording_of(path: str) -> "pipelines.Pipeline | None":
    """Open the recording that a path holds, or that `PATH@N` names a stage of; `None` if it holds a program.

    Raises:
        UsageError: it cannot be read.
    """
    return pipeline_at(_split(path)[0])


def program_at(
    path: str, *, pipeline: str | None = None, entry: str = "", table: str | None = None, archive: str | None = None
) -> Program:
    """Read a program: a file, or a stage of a pipeline, `PATH@N`, the first one if no number is given.

    `archive` is the path of the constants that its text refers to. A file with a recorded run of this machine is the
    program that ran, which is not run again.

    Raises:
        UsageError: it cannot be read, or there is no such stage.
    """
    run = run_files.recorded_program(path)
    if run is not None:
        return run if pipeline is None else msgspec.structs.replace(run, pipeline=pipeline)
    whole, number = _split(path)
    opened = pipeline_at(whole)
    if opened is None:
        if number is not None and Path(whole).is_file():
            raise UsageError(f"{printable(whole)} holds one program, so that it has no stage {number}")
        program = read_program(path, pipeline=pipeline, entry=entry, table=table)
        if archive is None:
            return program
        given = read_given(archive)
        return msgspec.structs.replace(program, constants=constants.constants_archive(constants.in_order(given)))
    opened = opened.with_constants(read_given(archive))
    options = read_options(pipeline=pipeline, entry=entry, table=table)
    return recorded.program_of(opened, _chosen(opened, number), options)


def bisect_request(pipeline: "pipelines.Pipeline", asked: Program, closeness: Closeness) -> BisectRecordedOf:
    """Return the request to bisect a pipeline on the inputs that `asked` has, else on those that were recorded."""
    asked = recorded.with_recorded_inputs(pipeline, asked)
    return BisectRecordedOf(writer.write_trace(writer.without_runs(pipeline)), asked, closeness)


def crash_of(engine: Engine, pipeline: "pipelines.Pipeline") -> Crash:
    """Ask why the compiler that was recorded stopped; without words if it did not, or the answer is not to be had."""
    if not pipeline.has_crash:
        return Crash()
    found = engine.request(CrashOf(parcel_of(pipeline)))
    if isinstance(found, Failure):
        complain(f"note: why it stopped was not found out: {found.message or found.title}")
        return Crash()
    return found


def write_crash(crash: Crash, path: str) -> None:
    """Write the file that shows where a recorded compiler stopped, and beside it a report; or say why there is none."""
    if not crash.script:
        complain(f"note: there is no reproducer: {crash.unscripted}")
        return
    write_bytes(path, crash.script.encode())
    write_bytes(f"{path}.md", crash.report.encode())
    complain(f"note: {printable(path)} stops with apache-tvm and numpy alone; {printable(path)}.md is a report")


def no_run_words(pipeline: "pipelines.Pipeline") -> str:
    """Say that a recording holds no run of TVM, and what it holds instead."""
    try:
        results.refuse_run(pipeline, "")
    except CompileError as error:
        return "\n".join(item.render() for item in error.diagnostics)


def parcel_of(pipeline: "pipelines.Pipeline") -> Parcel:
    """Return a recording with its runs as it is sent to the worker."""
    return Parcel(pipeline.name, writer.write_trace(pipeline))


def compare_request(
    pipeline: "pipelines.Pipeline", asked: Program, numbers: tuple[int, int], closeness: Closeness
) -> CompareValuesOf:
    """Return the request to compare the bindings of two forms of the program, given by their positions."""
    asked = recorded.with_recorded_inputs(pipeline, asked)
    left, right = (recorded.program_of(pipeline, pipeline.forms()[number], asked) for number in numbers)
    return CompareValuesOf(left, -1, right, -1, closeness)


def trace_of_stages(stages: Stages, file: str) -> bytes:
    """Return the stages of a pipeline of one's own as a trace."""
    recorded_stages = tuple(
        pipelines.RecordedStage(
            item.index,
            item.name if item.index else pipelines.INPUT,
            # A pass that failed left no module; the text is that of the one before it.
            None if item.problems and item is stages.stages[-1] else item.text,
            depth=0,
            seconds=item.seconds if item.index else -1.0,
            error=" ".join(item.problems[:1]) if item is stages.stages[-1] else "",
        )
        for item in stages.stages
    )
    return writer.write_trace(pipelines.Pipeline(pipelines.Recording(file, "trace", recorded_stages)))


def form_programs(pipeline: "pipelines.Pipeline") -> tuple[Program, ...]:
    """Return the forms of the program that a pipeline holds."""
    return tuple(recorded.program_of(pipeline, stage, Program("")) for stage in pipeline.forms())


def read_options(*, pipeline: str | None = None, entry: str = "", table: str | None = None) -> Program:
    """Return a program without a text: how one is compiled and entered."""
    return Program("", pipeline=pipeline, entry=entry, tables=read_text(table) if table else "")


def read_given(archive: str | None) -> "dict[int, constants.Array]":
    """Read the constants that an option names.

    Raises:
        UsageError: they cannot be read.
    """
    if archive is None:
        return {}
    try:
        return constants.read_constants(read_bytes(archive))
    except DiagnosedError as error:
        raise _refused(error) from None


def _split(path: str) -> tuple[str, int | None]:
    """Split `PATH@N` into the path and the number; `None` where the whole is a path, or none that can be."""
    place = None if path == "-" or "\0" in path or Path(path).exists() else _STAGE.fullmatch(path)
    return (path, None) if place is None else (place[1], int(place[2]))


def _chosen(pipeline: "pipelines.Pipeline", number: int | None) -> "pipelines.RecordedStage":
    if number is None:
        forms = pipeline.forms()
        if not forms:
            raise UsageError(f"{pipeline.name} holds no form of a program")
        complain(f"note: {forms[0].pass_name}, stage {forms[0].number} of {pipeline.name}; PATH@N is another one")
        return forms[0]
    try:
        stage = pipeline.stage(number)
        pipeline.parsed(stage) if stage.text is None else None
    except CompileError as error:
        raise _refused(error) from None
    return stage


def _refused(error: DiagnosedError) -> UsageError:
    return UsageError("\n".join(item.render() for item in error.diagnostics))


def say_remarks(pipeline: "pipelines.Pipeline") -> None:
    """Print to standard error what is to be said of a source, and which constants are missing."""
    for item in pipeline.diagnostics:
        complain(item.render())
    for item in missing_constants(pipeline):
        complain(item.render())


def missing_constants(pipeline: "pipelines.Pipeline") -> tuple[Diagnostic, ...]:
    """Return PL006 for each constant that is not at hand."""
    found: list[Diagnostic] = []
    for item in pipeline.missing_constants():
        type_ = f" of type {item.type}" if item.type else ""
        message = f"{item.name}{type_} is not at hand: stage {item.stage}, line {item.line}: {item.use}"
        found.append(Diagnostic("PL006", message, severity="warning"))
    if found:
        hint = "record with the recorder (python -m relax_core recorder), or give them with --constants FILE.npz"
        found[-1] = Diagnostic("PL006", found[-1].message, None, hint, "warning")
    assert not has_errors(found)
    return tuple(found)


def sizes_in(text: str) -> tuple[tuple[str, int], ...]:
    """Read sizes of symbolic dimensions, such as `n=64,m=8`.

    Raises:
        UsageError: that is not what the text is, or a name is there twice.
    """
    parts = tuple(part.strip() for part in text.split(",") if part.strip())
    found = tuple(re.fullmatch(r"(\w+)\s*=\s*(\d{1,18})", part) for part in parts)
    if None in found:
        raise UsageError(f"--sizes takes names with numbers, such as n=64,m=8, got {text}")
    sizes = tuple((item[1], int(item[2])) for item in found if item is not None)
    names = [name for name, _ in sizes]
    if repeated := next((name for name in names if names.count(name) > 1), None):
        raise UsageError(f"--sizes gives {repeated} twice")
    return sizes
