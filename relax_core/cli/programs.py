"""Commands on programs as text: check, script, opt."""

import argparse
import os
from collections.abc import Iterable
from pathlib import PurePath

import msgspec

from relax_core.cli import opening, patches
from relax_core.cli.integration import mending
from relax_core.cli.review import batch, modules, named
from relax_core.cli.terminal import (
    BAD_USAGE,
    DIAGNOSED,
    MANY_HELP,
    PASSES_HELP,
    PATH_HELP,
    RULES_HELP,
    TABLE_HELP,
    Commands,
    Engine,
    UsageError,
    as_in_option,
    complain,
    complain_of,
    constants_option,
    failed,
    picture_asked,
    picture_options,
    say,
    watch_option,
    with_rules,
    write_bytes,
)
from relax_core.diagnostics import plural
from relax_core.engine.debug.requests import RecordedCostsOf
from relax_core.engine.files import printable
from relax_core.engine.pipelines import pipeline as pipelines
from relax_core.engine.protocol import (
    Asm,
    Check,
    CostsOf,
    EffectsOf,
    Failure,
    Opt,
    Program,
    Request,
    RewriteOf,
    Script,
    StageOf,
)
from relax_core.engine.replies import CostsView, Stages, StageText
from relax_core.present.models import Problem

_NO_CASE = "BC001"


class CheckedText(msgspec.Struct, frozen=True, omit_defaults=True):
    """What `check --json` prints of a text, or of the compiler that was recorded."""

    name: str
    has_errors: bool
    problems: tuple[Problem, ...] = ()
    stopped: str = ""
    """Why the compiler stopped."""
    mended: int = 0
    """How many mends are in `patch`."""
    patch: str = ""
    """What `--fix` wrote, and `--diff` would."""


def add_programs(command: Commands) -> None:
    """Add the commands."""
    check = command("check", "Report types and well-formedness.", _check)
    check.add_argument("files", nargs="+", metavar="FILE", help=f"{PATH_HELP}; {MANY_HELP}")
    policy = "where host scalars may stand: packed_only warns of all but arguments of packed functions"
    constants_option(check)
    check.add_argument("--report", metavar="MD", help="where to write a bug report, if a recorded compiler stopped")
    reproduces = "where to write a file that stops there with tvm and numpy alone, if a recorded compiler stopped"
    check.add_argument("--reproducer", metavar="FILE", help=reproduces)
    check.add_argument("--prims", choices=("everywhere", "packed_only"), default="everywhere", help=policy)
    mends = check.add_mutually_exclusive_group()
    fix = "write into the file what diagnostics know to mend and what is safe: fewer errors, none that was not there"
    mends.add_argument("--fix", action="store_true", help=fix)
    mends.add_argument("--diff", action="store_true", help="print what --fix would write, as a patch")
    check.add_argument("--json", action="store_true", help="print one object per module text and line")
    watch_option(check)

    script = command("script", "Print a module.", _script)
    script.add_argument("file", metavar="FILE", help=PATH_HELP)
    script.add_argument("--dialect", choices=("tvmscript", "relay", "ast"), default="", help="default: its own")
    script.add_argument(
        "--spelling", choices=("2026", "2025", "2023", "2022"), default="2026", help="year of TVMScript"
    )
    script.add_argument("--tvm", choices=("0.25", "0.27"), default="", help="the TVM that shall read the TVMScript")
    script.add_argument("--passes", metavar="P", help=PASSES_HELP)
    reads_back = "read what was printed, and say on standard error whether it is the same module (status 1: it is not)"
    script.add_argument("--read-back", action="store_true", help=reads_back)
    script.add_argument("--json", action="store_true", help="print one object")

    _add_passes(command)


def _add_passes(command: Commands) -> None:
    opt = command("opt", "Run passes and print what they make.", _opt)
    opt.add_argument("file", metavar="FILE", help=PATH_HELP)
    opt.add_argument("--passes", metavar="P", required=True, help=PASSES_HELP)
    constants_option(opt)
    opt.add_argument("--table", metavar="T", help=TABLE_HELP)
    opt.add_argument("--rules", metavar="R", help=RULES_HELP)
    as_in_option(opt)
    opt.add_argument("--print-after-all", action="store_true", help="print the module after each pass")
    opt.add_argument("--json", action="store_true", help="print one object per stage and line")
    opt.add_argument(
        "--verify", action="store_true", help="check what each pass leaves, and stop where it is ill-formed"
    )
    watch_option(opt)
    opt.add_argument("--trace", metavar="RXT", help="where to write the stages as a trace, which every command opens")
    picture_options(opt, "what all passes changed in the text")
    part = opt.add_mutually_exclusive_group()
    part.add_argument("--diff", action="store_true", help="print what each pass changes in the text, as patches")
    part.add_argument("--list-rewrites", action="store_true", help="list the rewrites of the last pass, with numbers")
    part.add_argument("--rewrites", metavar="N", type=int, help="make only the rewrites 1 to N of the last pass")
    part.add_argument(
        "--without-rewrite", metavar="N", type=int, help="make all rewrites of the last pass but the N-th"
    )

    _diff_command(command)

    effects = command("effects", "Say which passes would change a module, and where their order matters.", _effects)
    effects.add_argument("file", metavar="FILE", help=PATH_HELP)
    effects.add_argument("--passes", metavar="P", default="", help="passes that run before; default: none")
    effects.add_argument("--table", metavar="T", help=TABLE_HELP)
    effects.add_argument("--json", action="store_true", help="print one object")

    costs = command("costs", "Say what a call costs behind each pass, also in a recording.", _costs)
    costs.add_argument("file", metavar="FILE", help=PATH_HELP)
    costs.add_argument("--passes", metavar="P", help=PASSES_HELP)
    costs.add_argument("--table", metavar="T", help=TABLE_HELP)
    costs.add_argument("--entry", default="", metavar="NAME", help="the function that is called; default: main")
    costs.add_argument("--sizes", default="", metavar="n=64,m=8", help="of symbolic dimensions; default: small ones")
    costs.add_argument("--json", action="store_true", help="print one object")


def _diff_command(command: Commands) -> None:
    diff = command("diff", "Print what makes the text of one module or stage that of another, as a patch.", _diff)
    diff.add_argument("before", metavar="A", help=PATH_HELP)
    likewise = "likewise; A and B may be stages of two pipelines, or two folders whose modules are compared by name"
    diff.add_argument("after", metavar="B", help=likewise)
    printed = "compare the modules as they are printed here, so that layout and comments do not count"
    diff.add_argument("--printed", action="store_true", help=printed)
    by_part = (
        "compare the modules part by part in place of the lines: what was added, removed, renamed, moved or changed"
    )
    diff.add_argument("--structure", action="store_true", help=by_part)
    picture_options(diff, "the two texts beside each other; of two modules")
    objects = "with --structure: print one object; of two folders: one per module and line"
    diff.add_argument("--json", action="store_true", help=objects)
    _review_options(diff)


def _review_options(made: argparse.ArgumentParser) -> None:
    """Add the options of `--markdown`, which compares what modules are, and not their texts."""
    told = "of two modules, or of two folders of them: what became of operators, kernels, regions, bytes and values"
    made.add_argument("--markdown", action="store_true", help=f"print in Markdown, {told}")
    made.add_argument("--passes", metavar="P", help="with --markdown: passes that run on both before; default: none")
    made.add_argument("--seed", type=int, default=0, help="with --markdown: of the arguments that both run on")
    made.add_argument("--time", action="store_true", help="with --markdown: time a run of both")
    made.add_argument("--reports", metavar="DIR", help="with --markdown: where to write a report of each that changed")
    links = "with --reports: what its links begin with, such as the address of a build's files; default: DIR"
    made.add_argument("--link-base", metavar="URL", help=links)
    fails = "with --markdown: exit status 1 for any change, or only where values differ"
    made.add_argument("--fail-on", choices=("change", "values"), default="change", help=fails)


def _check(engine: Engine, options: argparse.Namespace) -> int:
    return _check_each(engine, ((file, "") for file in options.files), options)


def _check_at(engine: Engine, file: str, name: str, options: argparse.Namespace) -> int:
    """Check a file, the stages of a recording, or the modules that a folder or a pattern names.

    `name` is what a patch calls a file of a folder.
    """
    if opening.is_many((file,)):
        if options.is_repeated:
            raise UsageError(f"--watch looks at files and recordings, and {printable(file)} is neither")
        modules = named.module_files((file,))
        return _check_each(engine, ((module.path, _patch_name(module)) for module in modules), options)
    if options.fix or options.diff:
        _require_file(file)
    pipeline = _pipeline(file, options)
    programs = _programs(file, options) if pipeline is None else opening.form_programs(pipeline)
    status = max(0, *(_checked(engine, program, options, file, name) for program in programs))
    return status if pipeline is None else max(status, _explained(engine, printable(file), pipeline, options))


def _patch_name(module: "named.ModuleFile") -> str:
    """Return what a patch calls a file: its path from here, or that below the folder where the folder is elsewhere."""
    path = PurePath(module.path)
    return module.below if path.is_absolute() or ".." in path.parts else module.path


def _check_each(engine: Engine, files: Iterable[tuple[str, str]], options: argparse.Namespace) -> int:
    """Check files one after the other; one that cannot be read is told of, and the others are checked all the same."""
    status = 0
    for file, name in files:
        try:
            status = max(status, _check_at(engine, file, name, options))
        except UsageError as error:
            complain_of(error)
            status = max(status, BAD_USAGE)
    return status


def _require_file(file: str) -> None:
    """Refuse to mend what is no file of one program.

    Raises:
        UsageError: it is standard input, a recording or a stage of one.
    """
    if not os.path.isfile(file) or opening.pipeline_at(file) is not None:
        raise UsageError(f"--fix and --diff mend a file of one program, and {printable(file)} is none")


def _explained(engine: Engine, file: str, pipeline: "pipelines.Pipeline", options: argparse.Namespace) -> int:
    """Say why the compiler that was recorded stopped, if it did."""
    crash = opening.crash_of(engine, pipeline)
    if not crash.words:
        return 0
    say(
        msgspec.json.encode(CheckedText(file, has_errors=True, stopped=crash.words)).decode()
        if options.json
        else crash.words
    )
    if options.report:
        write_bytes(options.report, crash.report.encode())
        complain(f"note: {printable(options.report)} is the text of a bug report")
    if options.reproducer:
        opening.write_crash(crash, options.reproducer)
    return DIAGNOSED


def _pipeline(file: str, options: argparse.Namespace) -> "pipelines.Pipeline | None":
    """Return the recorded pipeline that a path holds, with the constants that are given for it."""
    pipeline = opening.pipeline_at(file)
    if pipeline is None:
        return None
    pipeline = pipeline.with_constants(opening.read_given(options.constants))
    opening.say_remarks(pipeline)
    return pipeline


def _programs(file: str, options: argparse.Namespace) -> tuple[Program, ...]:
    return (opening.program_at(file, archive=options.constants),)


def _checked(engine: Engine, program: Program, options: argparse.Namespace, file: str, name: str) -> int:
    patch, count = "", 0
    if options.fix or options.diff:
        made = mending.mended(engine, Check(program, options.prims))
        if isinstance(made, Failure):
            return failed(made)
        patch, count = patches.patch_of(program.text, made.text, name or program.name), made.count
        program = msgspec.structs.replace(program, text=made.text)
        if options.fix and patch:
            write_bytes(file, made.text.encode())
            complain(f"note: {plural(count, 'mend')} in {program.name}")
    found = engine.request(Check(program, options.prims))
    if isinstance(found, Failure):
        return failed(found)
    if options.json:
        has_errors, problems = found.has_errors, found.problems
        checked = CheckedText(program.name, has_errors=has_errors, problems=problems, mended=count, patch=patch)
        say(msgspec.json.encode(checked).decode())
        return DIAGNOSED if found.has_errors else 0
    if patch:
        say(patch.removesuffix("\n"))
    for text in found.rendered:
        say(text)
    if not found.rendered:
        say(f"{program.name}: no problems")
    return DIAGNOSED if found.has_errors else 0


def _script(engine: Engine, options: argparse.Namespace) -> int:
    program = opening.program_at(options.file, pipeline=options.passes)
    if options.read_back and options.dialect == "ast":
        raise UsageError("--read-back needs a dialect that can be read, and --dialect ast is none")
    has_passes = options.passes is not None
    asked = Script(program, options.dialect, options.spelling, has_passes, options.tvm, options.read_back)
    text = engine.request(asked)
    if isinstance(text, Failure):
        return failed(text)
    found = text.read_back
    if options.json:
        told = {"name": program.name, "text": text.text} | ({} if found is None else {"read_back": found})
        say(msgspec.json.encode(told).decode())
    else:
        say(text.text)
        complain(f"{program.name}: {found.words}") if found is not None else None
    return 0 if found is None or found.is_equal else DIAGNOSED


def _opt(engine: Engine, options: argparse.Namespace) -> int:
    program = opening.program_at(options.file, pipeline=options.passes, table=options.table, archive=options.constants)
    program = msgspec.structs.replace(with_rules(program, options.rules), verify=options.verify, as_in=options.as_in)
    picture = picture_asked(options)
    reply = engine.request(Opt(program))
    if isinstance(reply, Failure):
        return failed(reply)
    if options.trace:
        write_bytes(options.trace, opening.trace_of_stages(reply, options.file))
    last = reply.stages[-1]
    if picture:
        first = reply.stages[0]
        patches.draw(options, (first.name, first.text), (last.name, last.text))
    if options.diff:
        return _print_patches(reply, program.name)
    if options.list_rewrites:
        return _list_rewrites(engine, StageOf(program, last.index))
    if options.rewrites is not None:
        return _print_part(engine, RewriteOf(program, last.index, options.rewrites))
    if options.without_rewrite is not None:
        return _print_part(engine, RewriteOf(program, last.index, options.without_rewrite, is_left_out=True))
    shown = reply.stages if options.print_after_all or options.json else (last,)
    for stage in shown:
        if options.json:
            say(msgspec.json.encode(stage).decode())
        else:
            if options.print_after_all:
                say(_heading(stage))
            say(stage.text)
    if options.rules and not (options.print_after_all or options.json):
        for text in (item for stage in reply.stages if stage.name.startswith("ApplyRules") for item in stage.remarks):
            complain(f"note: {text}")
    for text in last.problems:
        complain(text)
    return DIAGNOSED if last.problems else _generated(engine, program)


def _generated(engine: Engine, program: Program) -> int:
    """Say what the code generator of the time had no case for, where the bugs that were reported are on."""
    if program.as_in == "fixed":
        return 0
    reply = engine.request(Asm(program, "bytecode"))
    is_refused = isinstance(reply, Failure) and any(item.code == _NO_CASE for item in reply.problems)
    return failed(reply) if isinstance(reply, Failure) and is_refused else 0


def _diff(engine: Engine, options: argparse.Namespace) -> int:
    picture = picture_asked(options)
    if picture and options.markdown:
        raise UsageError(f"{picture} draws two texts, and --markdown tells what modules are")
    if options.markdown:
        return modules.print_changes(engine, options)
    if os.path.isdir(options.before) and opening.is_many((options.before,)) and opening.is_many((options.after,)):
        return batch.on_many("diff", (options.after,), options, against=options.before)
    return patches.print_diff(engine, options)


def _print_patches(reply: Stages, name: str) -> int:
    for stage, patch in patches.stage_patches(reply, name):
        if patch:
            say(_heading(stage))
            say(patch.removesuffix("\n"))
        for text in stage.problems:
            complain(text)
    return DIAGNOSED if reply.stages[-1].problems else 0


def _list_rewrites(engine: Engine, asked: StageOf) -> int:
    """List the rewrites of a pass; those that it made in a way of its own have no part that can be made alone."""
    reply = engine.request(asked)
    if isinstance(reply, Failure):
        return failed(reply)
    for item in reply.detail.rewrites:
        place = f"line {item.line}: " if item.line else ""
        own = "" if item.is_single else " (not on its own)"
        say(f"{item.number:4}  {place}{item.before} -> {item.after}  [{item.rule}]{own}")
    left_out = reply.detail.rewrite_count - len(reply.detail.rewrites)
    if left_out:
        say(f"and {left_out} more, with the numbers up to {reply.detail.rewrite_count}")
    if not reply.detail.rewrites:
        say(f"{reply.detail.name} replaced nothing")
    return 0


def _print_part(engine: Engine, asked: RewriteOf) -> int:
    """Print the module after so many rewrites of the last pass, or without one."""
    reply = engine.request(asked)
    if isinstance(reply, Failure):
        return failed(reply)
    say(reply.text)
    for item in reply.problems:
        complain(f"{item.severity}[{item.code}]: {item.message}")
    return DIAGNOSED if any(item.severity == "error" for item in reply.problems) else 0


def _heading(stage: StageText) -> str:
    if stage.index == 0:
        return "# 0 Source"
    change = f"changed, {stage.rewrite_count} rewrites" if stage.is_changed else "unchanged"
    remarks = "".join(f"\n#   {item}" for item in stage.remarks)
    return f"# {stage.index} {stage.name}: {change}, {stage.seconds * 1000:.1f} ms{remarks}"


def _effects(engine: Engine, options: argparse.Namespace) -> int:
    program = opening.program_at(options.file, pipeline=options.passes, table=options.table)
    reply = engine.request(Opt(program))
    if isinstance(reply, Failure):
        return failed(reply)
    view = engine.request(EffectsOf(program, reply.stages[-1].index))
    if isinstance(view, Failure):
        return failed(view)
    say(msgspec.json.encode(view).decode() if options.json else view.to_text())
    return 0


def _costs(engine: Engine, options: argparse.Namespace) -> int:
    view = engine.request(_costs_asked(options))
    if isinstance(view, Failure):
        return failed(view)
    say(msgspec.json.encode(view).decode() if options.json else view.to_text())
    return 0


def _costs_asked(options: argparse.Namespace) -> Request[CostsView]:
    """Return what to ask of the file: all forms of a recorded pipeline, unless passes are to be run on one."""
    found = opening.pipeline_at(options.file) if options.passes is None else None
    sizes = opening.sizes_in(options.sizes)
    if found is not None:
        asked = opening.read_options(entry=options.entry)
        return RecordedCostsOf(opening.parcel_of(found), msgspec.structs.replace(asked, sizes=sizes))
    program = opening.program_at(options.file, pipeline=options.passes, entry=options.entry, table=options.table)
    return CostsOf(msgspec.structs.replace(program, sizes=sizes))
