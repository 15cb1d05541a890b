"""The command that follows lines of the source to what they became, and back: origins."""

import argparse

from relax_core.cli import opening
from relax_core.cli.terminal import PASSES_HELP, PATH_HELP, Commands, Engine, UsageError, failed, say
from relax_core.engine.debug.requests import (
    RecordedOriginsOf,
)
from relax_core.engine.protocol import (
    Failure,
    OriginsOf,
    Request,
)
from relax_core.present.nodes.origin_models import Origins


def add_origins(command: Commands) -> None:
    """Add the command."""
    made = command("origins", "Say what lines of the source became, and where lines stem from.", _origins)
    made.add_argument("file", metavar="FILE", help=PATH_HELP)
    chosen = made.add_mutually_exclusive_group()
    chosen.add_argument(
        "--line", type=int, default=0, metavar="N", help="what line N became, pass by pass; default: all lines in short"
    )
    stages = "print a text with the lines it stems from: a pass or its number, bytecode, 'kernel|llvm|asm NAME'"
    chosen.add_argument("--stage", default="", metavar="S", help=stages)
    made.add_argument("--passes", metavar="P", help=PASSES_HELP)
    made.add_argument("--json", action="store_true", help="print one object per text and line")


def _origins(engine: Engine, options: argparse.Namespace) -> int:
    if options.line < 0:
        raise UsageError(f"lines count from 1, there is no line {options.line}")
    reply = engine.request(_asked(options))
    if isinstance(reply, Failure):
        return failed(reply)
    if not options.stage:
        say(reply.to_json(options.line) if options.json else reply.to_text(options.line))
        return 0
    layer = reply.layer(options.stage)
    if layer is None:
        raise UsageError(f"there is no stage {options.stage}; stages: {_names(reply)}")
    say(layer.to_json() if options.json else layer.to_text())
    return 0


def _asked(options: argparse.Namespace) -> Request[Origins]:
    """Return what to ask of the file: the stages of a recorded pipeline are matched, unless passes are to be run."""
    found = opening.recorded_stage_at(options.file) if options.passes is None else None
    if found is not None:
        return RecordedOriginsOf(*found, options.line)
    return OriginsOf(opening.program_at(options.file, pipeline=options.passes), options.line, options.stage)


def _names(reply: Origins) -> str:
    return ", ".join(dict.fromkeys(layer.name for layer in reply.layers))
