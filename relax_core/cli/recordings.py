"""Commands on recorded pipelines: recorder, stages, pack."""

import argparse
from collections.abc import Iterator
from pathlib import Path

import msgspec

from relax_core.cli import opening
from relax_core.cli.terminal import Commands, Engine, UsageError, constants_option, say, write_bytes
from relax_core.diagnostics import CompileError
from relax_core.engine.pipelines import pipeline as recorded
from relax_core.engine.pipelines.trace import writer

_RECORDER = Path(__file__).resolve().parent.parent / "engine" / "pipelines" / "record_tvm.py"
_FILE_HELP = "a folder of numbered dumps, a log, a zip of either, a trace, or files in order"


class StageRow(msgspec.Struct, frozen=True):
    """One stage as `stages --json` prints it."""

    number: int
    name: str
    depth: int | None
    kind: str
    is_changed: bool
    is_helper: bool
    """It holds none of the program's functions."""
    seconds: float | None
    lines: int
    file: str
    line: int
    error: str
    constants: tuple[str, ...]
    """The types of the tensors that its text refers to, "" where one is not known."""
    missing: tuple[str, ...]
    """Those of them that are not at hand."""


def add_recordings(command: Commands) -> None:
    """Add the commands."""
    recorder = command("recorder", "Print the recorder: a file that records apache-tvm's passes and runs.", _recorder)
    recorder.set_defaults(in_process=True)

    stages = command("stages", "List the stages of a recorded pipeline.", _stages)
    stages.add_argument("files", nargs="+", metavar="PATH", help=_FILE_HELP)
    stages.add_argument("--print", dest="number", type=int, metavar="N", help="print the text of stage N")
    constants_option(stages)
    stages.add_argument("--json", action="store_true", help="print one object per stage and line")
    stages.set_defaults(in_process=True)

    pack = command("pack", "Write a recorded pipeline as one file, a trace (.rxt).", _pack)
    pack.add_argument("files", nargs="+", metavar="PATH", help=_FILE_HELP)
    pack.add_argument("--output", metavar="RXT", required=True, help="where to write it")
    constants_option(pack)
    pack.set_defaults(in_process=True)


def _recorder(_engine: Engine, _options: argparse.Namespace) -> int:
    say(_RECORDER.read_text(encoding="utf-8"))
    return 0


def _opened(options: argparse.Namespace) -> "recorded.Pipeline":
    return opening.pipeline_of(*options.files).with_constants(opening.read_given(options.constants))


def _stages(_engine: Engine, options: argparse.Namespace) -> int:
    pipeline = _opened(options)
    if options.number is not None:
        try:
            stage = pipeline.stage(options.number)
        except CompileError as error:
            raise UsageError(error.diagnostics[0].render()) from None
        if stage.text is None:
            raise UsageError(f"stage {stage.number}, {stage.pass_name}, has no text: {stage.error}")
        say(stage.text)
        return 0
    if options.json:
        for row in _rows(pipeline):
            say(msgspec.json.encode(row).decode())
        return 0
    say(pipeline.to_text())
    for item in (*pipeline.diagnostics, *opening.missing_constants(pipeline)):
        say(item.render())
    return 0


def _rows(pipeline: "recorded.Pipeline") -> Iterator[StageRow]:
    forms = frozenset(stage.number for stage in pipeline.forms())
    for stage in pipeline.stages:
        yield StageRow(
            stage.number, stage.pass_name, stage.depth, pipeline.kind(stage), stage.number in forms,
            pipeline.is_helper(stage), stage.seconds if stage.seconds >= 0 else None,
            len((stage.text or "").splitlines()), stage.file, stage.line, stage.error,
            tuple(entry.type for entry in stage.constants), _missing(pipeline, stage),
        )  # fmt: skip


def _missing(pipeline: "recorded.Pipeline", stage: "recorded.RecordedStage") -> tuple[str, ...]:
    return tuple(item.name for item in pipeline.missing_in(stage))


def _pack(_engine: Engine, options: argparse.Namespace) -> int:
    pipeline = _opened(options)
    opening.say_remarks(pipeline)
    write_bytes(options.output, writer.write_trace(pipeline))
    return 0
