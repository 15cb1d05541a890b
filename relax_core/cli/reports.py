"""Commands that report: asm, partition, match, devices, origins, ops, explain."""

import argparse
from pathlib import Path
from types import MappingProxyType
from typing import Final

import msgspec

from relax_core.cli import opening
from relax_core.cli.review import batch
from relax_core.cli.terminal import (
    DIAGNOSED,
    FILE_HELP,
    MANY_HELP,
    PASSES_HELP,
    PATH_HELP,
    TABLE_HELP,
    Commands,
    Engine,
    UsageError,
    complain,
    failed,
    more_option,
    read_bytes,
    say,
)
from relax_core.engine.debug.requests import RecordedOriginsOf
from relax_core.engine.protocol import (
    Asm,
    DevicesOf,
    ExplanationsOf,
    Failure,
    OriginsOf,
    PatternsOf,
    Program,
    RegionReportOf,
    Request,
    ScheduleOf,
)
from relax_core.engine.scheduling import beside_tvm
from relax_core.lessons import explaining
from relax_core.present.catalog_of import operator_docs, ops, packed
from relax_core.present.device_models import DeviceOptions
from relax_core.present.nodes.origin_models import Origins
from relax_core.present.regions.partition_models import LETS
from relax_core.present.regions.region_models import RegionReport, compare_reports, read_report

_COMMENTS: Final = MappingProxyType({"llvm": ";", "asm": "#", "remarks": "#", "plan": "#", "steps": "#"})


def add_reports(command: Commands) -> None:
    """Add the commands."""
    _asm_command(command)
    _partition_command(command)
    _match_command(command)
    _devices_command(command)
    _origins_command(command)
    _ops_command(command)
    _explain_command(command)


def _asm_command(command: Commands) -> None:
    asm = command("asm", "Print the bytecode, or a kernel's code.", _asm)
    asm.add_argument("file", metavar="FILE", help=PATH_HELP)
    asm.add_argument("--kernel", default="", metavar="NAME", help="a prim func that the module calls; default: all")
    form = (
        "bytecode, or of the kernels: LLVM IR, machine code, what was transformed, the loops behind each step, "
        "what each step is worth (timed); "
        "default: bytecode, llvm of a kernel"
    )
    asm.add_argument("--as", dest="form", choices=("bytecode", "llvm", "asm", "remarks", "plan", "steps"), help=form)
    off = "transformations of kernels to switch off, by the names that `--as remarks` prints, with commas between"
    asm.add_argument("--without", default="", metavar="NAMES", help=off)
    asm.add_argument("--sizes", default="", metavar="n=64,m=8", help="symbols of a kernel; not for code")
    by_hand = (
        "apply these primitives to a kernel, the first one by default, and time it behind each; with commas between, "
        "such as \"Split(block='C', loop='i', factors=[None, 8])\""
    )
    asm.add_argument("--schedule", default="", metavar="S", help=by_hand)
    asm.add_argument("--json", action="store_true", help="print one object per listing and line")


def _partition_command(command: Commands) -> None:
    made = command("partition", "Partition a module and report its compiler regions.", _partition)
    made.add_argument("file", metavar="FILE", help=f"{FILE_HELP}; {MANY_HELP}")
    more_option(made)
    made.add_argument("--table", metavar="T", help=TABLE_HELP)
    made.add_argument("--targets", default="", metavar="A,B", help="in order of preference; default: all of the table")
    made.add_argument("--lets", choices=LETS, default="values", help="how let-bound values of Relay are annotated")
    made.add_argument("--through-lets", action="store_true", help="merge regions through lets without effects")
    form = made.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print one object")
    form.add_argument("--markdown", action="store_true", help="print tables in Markdown")
    made.add_argument(
        "--fail-under", type=float, metavar="C", help="exit status 1 if less than this share is offloaded"
    )
    made.add_argument("--diff", metavar="OLD", help="print what is different from an earlier report in JSON")


def _match_command(command: Commands) -> None:
    made = command("match", "Say where patterns fit in a module, and what came closest where they do not.", _match)
    made.add_argument("file", metavar="FILE", help=FILE_HELP)
    form = made.add_mutually_exclusive_group(required=True)
    form.add_argument("--pattern", metavar="P", help="a file of one pattern, or of the lines of a pattern context")
    form.add_argument("--table", metavar="T", help=TABLE_HELP)
    made.add_argument("--json", action="store_true", help="print one object")


def _devices_command(command: Commands) -> None:
    made = command("devices", "Plan the devices of a Relay module and report them.", _devices)
    made.add_argument("file", metavar="FILE", help="a Relay file; - reads standard input")
    made.add_argument(
        "--default", default="cpu", metavar="D", help="device of what no annotation reaches: cuda(0), ..."
    )
    made.add_argument("--clone", action="store_true", help="clone a function that is used on two devices")
    made.add_argument("--as-in", choices=("fixed", "reported"), default="fixed", help="reported: the analysis of 2020")
    made.add_argument("--visits", choices=("memo_body", "args_first"), default="memo_body", help="what its memo counts")
    made.add_argument("--visit-limit", type=int, default=1, metavar="N", help="how often it visits a function")
    form = made.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print one object")
    form.add_argument("--debug-print", action="store_true", help="print the module with <cpu(0)> behind its values")


def _origins_command(command: Commands) -> None:
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


def _ops_command(command: Commands) -> None:
    table = command("ops", "Print the operators: what they take, and what of them there is.", _ops)
    table.add_argument("name", nargs="?", metavar="NAME", help="one operator; default: all")
    form = table.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print one object per operator and line")
    form.add_argument("--markdown", action="store_true", help="print the page of the documentation")
    table.add_argument("--packed", action="store_true", help="the packed functions with schemas, not the operators")
    # The table is part of the program: no worker is needed.
    table.set_defaults(in_process=True)


def _explain_command(command: Commands) -> None:
    made = command("explain", "Say in plain words what a name means, and which lessons tell more.", _explain)
    named = "a pass, code of a diagnostic, operator, instruction, function of the machine, kind of remark, or word"
    made.add_argument("name", nargs="+", metavar="NAME", help=named)
    made.add_argument("--json", action="store_true", help="print one object")
    # Nothing of a user's is read: no worker is needed.
    made.set_defaults(in_process=True)


def _asm(engine: Engine, options: argparse.Namespace) -> int:
    program = opening.program_at(options.file)
    if options.schedule:
        return _schedule(engine, program, options)
    form = options.form or ("llvm" if options.kernel else "bytecode")
    off = tuple(name.strip() for name in options.without.split(",") if name.strip())
    asked = Asm(program, form, options.kernel, off, opening.sizes_in(options.sizes))
    listing = engine.request(asked)
    if isinstance(listing, Failure):
        return failed(listing)
    if form == "bytecode" or options.kernel:
        _say_listing(listing.code.text, form, options.kernel, options)
        return 0
    for number, kernel in enumerate(listing.kernels):
        if number:
            listing = engine.request(msgspec.structs.replace(asked, kernel=kernel))
            if isinstance(listing, Failure):
                return failed(listing)
        _say_listing(listing.code.text, form, kernel, options)
    return 0


def _schedule(engine: Engine, program: Program, options: argparse.Namespace) -> int:
    if options.form or options.without:
        raise UsageError("--schedule times a kernel behind its own steps: --as and --without do not go with it")
    tvm = beside_tvm.installed_tvm()
    sizes, words = opening.sizes_in(options.sizes), "" if tvm is None else tvm.words
    found = engine.request(ScheduleOf(program, options.kernel, sizes, options.schedule, words))
    if isinstance(found, Failure):
        return failed(found)
    found = beside_tvm.beside_tvm(found, tvm)
    say(msgspec.json.encode(found.without_diffs()).decode() if options.json else found.to_text())
    return DIAGNOSED if found.problems or any(rung.problem for rung in found.rungs) else 0


def _say_listing(text: str, form: str, kernel: str, options: argparse.Namespace) -> None:
    if options.json:
        say(msgspec.json.encode({"form": form, "kernel": kernel, "text": text}).decode())
    elif options.kernel or not kernel:
        say(text)
    else:
        say(f"{_COMMENTS[form]} kernel {kernel}\n{text}")


def _partition(engine: Engine, options: argparse.Namespace) -> int:
    if options.fail_under is not None and not 0 <= options.fail_under <= 1:
        raise UsageError(f"--fail-under is a share between 0 and 1, not {options.fail_under:g}")
    if options.more or opening.is_many((options.file,)):
        return batch.on_many("partition", (options.file, *options.more), options)
    program = opening.program_at(options.file, table=options.table)
    targets = tuple(item.strip() for item in options.targets.split(",") if item.strip())
    reply = engine.request(RegionReportOf(program, targets, options.lets, options.through_lets))
    if isinstance(reply, Failure):
        return failed(reply)
    if options.diff:
        _say_difference(reply, options)
    else:
        say(reply.to_json() if options.json else reply.to_markdown() if options.markdown else reply.to_text())
    if options.fail_under is not None and reply.coverage < options.fail_under:
        complain(f"error: coverage {reply.coverage:.4f} is under {options.fail_under:g}")
        return DIAGNOSED
    return 0


def _match(engine: Engine, options: argparse.Namespace) -> int:
    program = opening.program_at(options.file, table=options.table)
    if options.pattern:
        text = read_bytes(options.pattern).decode("utf-8", errors="replace")
        table = {"patterns": [[Path(options.pattern).stem.lstrip(".") or "pattern", text]]}
        program = msgspec.structs.replace(program, tables=msgspec.json.encode(table).decode())
    reply = engine.request(PatternsOf(program))
    if isinstance(reply, Failure):
        return failed(reply)
    say(msgspec.json.encode(reply).decode() if options.json else reply.to_text())
    return 0


def _say_difference(new: RegionReport, options: argparse.Namespace) -> None:
    try:
        old = read_report(read_bytes(options.diff))
    except msgspec.MsgspecError as error:
        raise UsageError(f"{options.diff} is no report: {error}") from None
    changes = compare_reports(old, new)
    if options.json:
        say(msgspec.json.encode(changes).decode())
    else:
        bullet = "- " if options.markdown else ""
        say("\n".join(f"{bullet}{item.text}" for item in changes) or "no difference")


def _devices(engine: Engine, options: argparse.Namespace) -> int:
    asked = DeviceOptions(options.default, options.clone, options.as_in, options.visits, options.visit_limit)
    view = engine.request(DevicesOf(opening.program_at(options.file), asked))
    if isinstance(view, Failure):
        return failed(view)
    if options.debug_print:
        say(view.code.text)
    else:
        say(view.report.to_json() if options.json else view.report.to_text())
    return DIAGNOSED if view.report.conflicts else 0


def _origins(engine: Engine, options: argparse.Namespace) -> int:
    if options.line < 0:
        raise UsageError(f"lines count from 1, there is no line {options.line}")
    reply = engine.request(_origins_asked(options))
    if isinstance(reply, Failure):
        return failed(reply)
    if not options.stage:
        say(reply.to_json(options.line) if options.json else reply.to_text(options.line))
        return 0
    layer = reply.layer(options.stage)
    if layer is None:
        raise UsageError(f"there is no stage {options.stage}; stages: {_stage_names(reply)}")
    say(layer.to_json() if options.json else layer.to_text())
    return 0


def _origins_asked(options: argparse.Namespace) -> Request[Origins]:
    """Return what to ask of the file: the stages of a recorded pipeline are matched, unless passes are to be run."""
    found = opening.recorded_stage_at(options.file) if options.passes is None else None
    if found is not None:
        return RecordedOriginsOf(*found, options.line)
    return OriginsOf(opening.program_at(options.file, pipeline=options.passes), options.line, options.stage)


def _stage_names(reply: Origins) -> str:
    return ", ".join(dict.fromkeys(layer.name for layer in reply.layers))


def _ops(engine: Engine, options: argparse.Namespace) -> int:
    if options.packed or (options.name and packed.packed_function(options.name) and not ops.operator(options.name)):
        return _packed_ops(options)
    found = ops.operators() if options.name is None else (ops.operator(options.name),)
    known = tuple(item for item in found if item is not None)
    if len(known) < len(found):
        raise UsageError(f"there is no operator {options.name}")
    if options.markdown:
        say(operator_docs.markdown())
    elif options.json:
        for item in known:
            say(msgspec.json.encode(item).decode())
    else:
        say(ops.listing(known) if options.name is None else ops.page(known[0]))
    return 0


def _packed_ops(options: argparse.Namespace) -> int:
    found = packed.packed_functions() if options.name is None else (packed.packed_function(options.name),)
    known = tuple(item for item in found if item is not None)
    if len(known) < len(found):
        raise UsageError(f"there is no packed function {options.name}")
    if options.json:
        for item in known:
            say(msgspec.json.encode(item).decode())
    else:
        say(packed.packed_listing(known) if options.name is None else packed.packed_page(known[0]))
    return 0


def _explain(engine: Engine, options: argparse.Namespace) -> int:
    reply = engine.request(ExplanationsOf(tuple(options.name)))
    if isinstance(reply, Failure):
        return failed(reply)
    if options.json:
        say(reply.to_json())
        return 0
    for item in reply.found:
        say(item.to_text())
        for file, step in explaining.lessons_on(item):
            say(f"  Lesson: {file.name}, step {step}")
    return 0
