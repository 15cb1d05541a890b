"""What changed between texts, as patches: of two modules or stages, and of each pass; or part by part."""

import argparse
from collections.abc import Iterator
from itertools import pairwise

from relax_core.cli import opening
from relax_core.cli.terminal import DIAGNOSED, Engine, UsageError, complain, failed, picture_asked, say, write_picture
from relax_core.engine.protocol import Failure, Program, Script, StructureOf
from relax_core.engine.replies import Stages, StageText
from relax_core.present.diffs.diff import diff_texts
from relax_core.present.diffs.patch import patch_of
from relax_core.present.drawings.still import diff_svg


def stage_patches(reply: Stages, name: str) -> Iterator[tuple[StageText, str]]:
    """Yield each stage with what its pass changed in the text; one after the other the patches make the last text."""
    for before, stage in pairwise(reply.stages):
        yield stage, patch_of(before.text, stage.text, name)


def print_diff(engine: Engine, options: argparse.Namespace) -> int:
    """Print the patch that makes one text of the other; the status is 1 if there is a difference."""
    if options.json and not options.structure:
        raise UsageError("--json is for --structure")
    picture = picture_asked(options)
    if picture and options.structure:
        raise UsageError(f"{picture} draws lines of two texts, and --structure compares no lines")
    programs = opening.program_at(options.before), opening.program_at(options.after)
    if options.structure:
        return _print_structure(engine, StructureOf(*programs), is_json=options.json)
    texts: list[str] = []
    for program in programs:
        text = _printed(engine, program) if options.printed else program.text
        if isinstance(text, Failure):
            return failed(text)
        texts.append(text)
    before, after = programs
    if picture:
        draw(options, (before.name, texts[0]), (after.name, texts[1]))
    patch = patch_of(texts[0], texts[1], before.name, after.name)
    if not patch:
        complain("note: the texts are equal")
        return 0
    say(patch.removesuffix("\n"))
    return DIAGNOSED


def draw(options: argparse.Namespace, before: tuple[str, str], after: tuple[str, str]) -> None:
    """Write a picture of the two texts, each behind its title, beside each other with what differs."""
    write_picture(options, diff_svg(diff_texts(*before, *after)), f"{before[0]} and {after[0]}")


def _print_structure(engine: Engine, asked: StructureOf, *, is_json: bool) -> int:
    """Print what became of the parts; the status is 1 if more than names of variables differs."""
    reply = engine.request(asked)
    if isinstance(reply, Failure):
        return failed(reply)
    say(reply.to_json() if is_json else reply.to_text())
    return 0 if reply.is_same else DIAGNOSED


def _printed(engine: Engine, program: Program) -> str | Failure:
    reply = engine.request(Script(program))
    return reply if isinstance(reply, Failure) else reply.text
