"""The command line: the engine's session as text.

    python -m relax_core check  FILE... [--prims everywhere|packed_only]
    python -m relax_core script FILE [--dialect tvmscript|relay|ast] [--spelling 2026|2025|2023|2022]
                                       [--tvm 0.25|0.27] [--passes P]
    python -m relax_core opt    FILE --passes P [--table T] [--print-after-all] [--json]
    python -m relax_core run    FILE [--entry main] [--inputs in.npz | --seed 0] [--outputs out.npz] [--passes P]
                                       [--mode exact|bitwise|fast] [--find-uninitialised]
    python -m relax_core asm    FILE [--kernel NAME --as bytecode|llvm|asm|remarks]
    python -m relax_core devices FILE [--default cpu] [--clone] [--json | --debug-print]
                                       [--as-in reported --visits memo_body|args_first --visit-limit N]
    python -m relax_core ops    [NAME] [--json | --markdown] [--packed]

Programs run in a worker with limits, or with `--in-process` in this process. Exit status: 0, 1 for a diagnosed
program, 2 for bad usage, 3 for a limit reached.
"""

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol, TypeVar, get_args

import msgspec

from relax_core.engine.client import Client
from relax_core.engine.protocol import (
    Asm,
    Check,
    DevicesOf,
    Execute,
    Failure,
    Opt,
    Program,
    RegionReportOf,
    Request,
    Script,
)
from relax_core.engine.replies import StageText
from relax_core.engine.session import Session
from relax_core.jit.options import Mode
from relax_core.present import operator_docs, ops, packed
from relax_core.present.device_models import DeviceOptions
from relax_core.present.partition_models import LETS
from relax_core.present.region_models import RegionReport, compare_reports, read_report

R = TypeVar("R")

DIAGNOSED, BAD_USAGE, LIMIT = 1, 2, 3
_TABLE_HELP = "a JSON file of patterns and supported operators, for the passes that partition"
_STANDARD_INPUT = "-"


class Engine(Protocol):
    """A worker's client or a session in this process."""

    def request(self, message: Request[R]) -> R | Failure:
        """Answer a request."""
        ...


class _UsageError(Exception):
    """The command cannot be carried out as given."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Carry out one command and return the exit status."""
    try:
        options = _parser().parse_args(arguments)
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else BAD_USAGE
    command: Callable[[Engine, argparse.Namespace], int] = options.command
    try:
        if options.in_process:
            return command(Session(), options)
        with Client() as client:
            return command(client, options)
    except _UsageError as error:
        _complain(f"error: {error}")
        return BAD_USAGE
    except BrokenPipeError:
        # The reader of the output is gone; what Python still holds for it must not be written at the end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def _check(engine: Engine, options: argparse.Namespace) -> int:
    status = 0
    for file in options.files:
        program = _program(file)
        found = engine.request(Check(program, options.prims))
        if isinstance(found, Failure):
            status = max(status, _failed(found))
            continue
        for text in found.rendered:
            _say(text)
        if not found.rendered:
            _say(f"{program.name}: no problems")
        status = max(status, DIAGNOSED if found.has_errors else 0)
    return status


def _script(engine: Engine, options: argparse.Namespace) -> int:
    program = _program(options.file, pipeline=options.passes)
    has_passes = options.passes is not None
    text = engine.request(Script(program, options.dialect, options.spelling, has_passes, options.tvm))
    if isinstance(text, Failure):
        return _failed(text)
    _say(text.text)
    return 0


def _opt(engine: Engine, options: argparse.Namespace) -> int:
    reply = engine.request(Opt(_program(options.file, pipeline=options.passes, table=options.table)))
    if isinstance(reply, Failure):
        return _failed(reply)
    last = reply.stages[-1]
    shown = reply.stages if options.print_after_all or options.json else (last,)
    for stage in shown:
        if options.json:
            _say(msgspec.json.encode(stage).decode())
        else:
            if options.print_after_all:
                _say(_heading(stage))
            _say(stage.text)
    for text in last.problems:
        _complain(text)
    return DIAGNOSED if last.problems else 0


def _heading(stage: StageText) -> str:
    if stage.index == 0:
        return "# 0 Source"
    change = f"changed, {stage.rewrite_count} rewrites" if stage.is_changed else "unchanged"
    remarks = "".join(f"\n#   {item}" for item in stage.remarks)
    return f"# {stage.index} {stage.name}: {change}, {stage.seconds * 1000:.1f} ms{remarks}"


def _run(engine: Engine, options: argparse.Namespace) -> int:
    program = _program(options.file, pipeline=options.passes, entry=options.entry, table=options.table)
    program = msgspec.structs.replace(
        program, seed=options.seed, mode=options.mode, finds_uninitialised=options.find_uninitialised
    )
    archive = _read_bytes(options.inputs) if options.inputs else b""
    ran = engine.request(Execute(program, archive))
    if isinstance(ran, Failure):
        return _failed(ran)
    for line in ran.output:
        _say(line)
    if ran.rendered:
        _complain(ran.rendered)
        return LIMIT if ran.is_limit else DIAGNOSED
    _say(ran.result)
    if options.outputs:
        _write_bytes(options.outputs, ran.archive)
    return 0


def _asm(engine: Engine, options: argparse.Namespace) -> int:
    program = _program(options.file)
    form = options.form or ("llvm" if options.kernel else "bytecode")
    listing = engine.request(Asm(program, form, options.kernel))
    if isinstance(listing, Failure):
        return _failed(listing)
    _say(listing.code.text)
    more = () if form == "bytecode" or options.kernel else listing.kernels[1:]
    for kernel in more:
        listing = engine.request(Asm(program, form, kernel))
        if isinstance(listing, Failure):
            return _failed(listing)
        _say(listing.code.text)
    return 0


def _partition(engine: Engine, options: argparse.Namespace) -> int:
    program = _program(options.file, table=options.table)
    targets = tuple(item.strip() for item in options.targets.split(",") if item.strip())
    reply = engine.request(RegionReportOf(program, targets, options.lets, options.through_lets))
    if isinstance(reply, Failure):
        return _failed(reply)
    if options.diff:
        _say_difference(reply, options)
    else:
        _say(reply.to_json() if options.json else reply.to_markdown() if options.markdown else reply.to_text())
    if options.fail_under is not None and reply.coverage < options.fail_under:
        _complain(f"error: coverage {reply.coverage:.4f} is under {options.fail_under:g}")
        return DIAGNOSED
    return 0


def _say_difference(new: RegionReport, options: argparse.Namespace) -> None:
    try:
        old = read_report(_read_bytes(options.diff))
    except msgspec.MsgspecError as error:
        raise _UsageError(f"{options.diff} is no report: {error}") from None
    changes = compare_reports(old, new)
    if options.json:
        _say(msgspec.json.encode(changes).decode())
    else:
        bullet = "- " if options.markdown else ""
        _say("\n".join(f"{bullet}{item.text}" for item in changes) or "no difference")


def _devices(engine: Engine, options: argparse.Namespace) -> int:
    asked = DeviceOptions(options.default, options.clone, options.as_in, options.visits, options.visit_limit)
    view = engine.request(DevicesOf(_program(options.file), asked))
    if isinstance(view, Failure):
        return _failed(view)
    if options.debug_print:
        _say(view.code.text)
    else:
        _say(view.report.to_json() if options.json else view.report.to_text())
    return DIAGNOSED if view.report.conflicts else 0


def _ops(engine: Engine, options: argparse.Namespace) -> int:
    if options.packed or (options.name and packed.packed_function(options.name) and not ops.operator(options.name)):
        return _packed_ops(options)
    found = ops.operators() if options.name is None else (ops.operator(options.name),)
    known = tuple(item for item in found if item is not None)
    if len(known) < len(found):
        raise _UsageError(f"there is no operator {options.name}")
    if options.markdown:
        _say(operator_docs.markdown())
    elif options.json:
        for item in known:
            _say(msgspec.json.encode(item).decode())
    else:
        _say(ops.listing(known) if options.name is None else ops.page(known[0]))
    return 0


def _packed_ops(options: argparse.Namespace) -> int:
    found = packed.packed_functions() if options.name is None else (packed.packed_function(options.name),)
    known = tuple(item for item in found if item is not None)
    if len(known) < len(found):
        raise _UsageError(f"there is no packed function {options.name}")
    if options.json:
        for item in known:
            _say(msgspec.json.encode(item).decode())
    else:
        _say(packed.packed_listing(known) if options.name is None else packed.packed_page(known[0]))
    return 0


def _program(file: str, *, pipeline: str | None = None, entry: str = "", table: str | None = None) -> Program:
    name = "<stdin>" if file == _STANDARD_INPUT else file
    return Program(_text(file), name, pipeline=pipeline, entry=entry, tables=_text(table) if table else "")


def _text(file: str) -> str:
    raw = sys.stdin.buffer.read() if file == _STANDARD_INPUT else _read_bytes(file)
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        name = "<stdin>" if file == _STANDARD_INPUT else file
        raise _UsageError(f"{name} is not UTF-8 text: byte {error.start}") from None


def _read_bytes(path: str) -> bytes:
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise _UsageError(f"cannot read {path}: {error.strerror}") from None


def _write_bytes(path: str, content: bytes) -> None:
    try:
        Path(path).write_bytes(content)
    except OSError as error:
        raise _UsageError(f"cannot write {path}: {error.strerror}") from None


def _failed(failure: Failure) -> int:
    _complain(failure.rendered or f"error: {failure.title}. {failure.message}".rstrip())
    return DIAGNOSED if failure.kind in ("diagnosed", "internal") else LIMIT


def _say(text: str) -> None:
    sys.stdout.write(_printable(text, sys.stdout.encoding))
    sys.stdout.flush()


def _complain(text: str) -> None:
    sys.stderr.write(_printable(text, sys.stderr.encoding))
    sys.stderr.flush()


def _printable(text: str, encoding: str | None) -> str:
    """End `text` with one newline, and escape what the stream's encoding has no character for."""
    text = text if text.endswith("\n") else f"{text}\n"
    name = encoding or "utf-8"
    return text.encode(name, "backslashreplace").decode(name)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="relax_core", description="Check, print, transform and run Relax modules.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    def command(name: str, what: str, run: Callable[[Engine, argparse.Namespace], int]) -> argparse.ArgumentParser:
        made = commands.add_parser(name, help=what, description=what)
        made.set_defaults(command=run)
        made.add_argument("--in-process", action="store_true", help="without the worker and its limits")
        return made

    file_help = "a TVMScript or Relay file; - reads standard input"
    passes_help = "passes with options, such as 'LambdaLift, LegalizeOps'"
    check = command("check", "Report types and well-formedness.", _check)
    check.add_argument("files", nargs="+", metavar="FILE", help=file_help)
    policy = "where host scalars may stand: packed_only warns of all but arguments of packed functions"
    check.add_argument("--prims", choices=("everywhere", "packed_only"), default="everywhere", help=policy)

    script = command("script", "Print a module.", _script)
    script.add_argument("file", metavar="FILE", help=file_help)
    script.add_argument("--dialect", choices=("tvmscript", "relay", "ast"), default="", help="default: its own")
    script.add_argument("--spelling", choices=("2026", "2025", "2023", "2022"), default="2026")
    script.add_argument("--tvm", choices=("0.25", "0.27"), default="", help="the TVM that shall read the TVMScript")
    script.add_argument("--passes", metavar="P", help=passes_help)

    opt = command("opt", "Run passes and print what they make.", _opt)
    opt.add_argument("file", metavar="FILE", help=file_help)
    opt.add_argument("--passes", metavar="P", required=True, help=passes_help)
    opt.add_argument("--table", metavar="T", help=_TABLE_HELP)
    opt.add_argument("--print-after-all", action="store_true", help="print the module after each pass")
    opt.add_argument("--json", action="store_true", help="print one object per stage and line")

    run = command("run", "Run a function and print its result.", _run)
    run.add_argument("file", metavar="FILE", help=file_help)
    run.add_argument("--entry", default="", metavar="NAME", help="default: main, or the first function")
    given = run.add_mutually_exclusive_group()
    given.add_argument("--inputs", metavar="NPZ", help="arguments in_0, in_1, ...; tuple fields in_0_1")
    given.add_argument("--seed", type=int, default=0, help="of the made-up arguments")
    run.add_argument("--outputs", metavar="NPZ", help="where to write the result: out, or out_0, ...")
    run.add_argument("--passes", metavar="P", help=f"{passes_help}; default: the whole pipeline")
    run.add_argument("--table", metavar="T", help=_TABLE_HELP)
    modes = "how kernels round: in order and to less than one unit in the last place, as apache-tvm, or in any order"
    run.add_argument("--mode", choices=get_args(Mode), default="exact", help=modes)
    run.add_argument("--find-uninitialised", action="store_true", help="stop where a kernel reads what nothing wrote")

    asm = command("asm", "Print the bytecode, or a kernel's code.", _asm)
    asm.add_argument("file", metavar="FILE", help=file_help)
    asm.add_argument("--kernel", default="", metavar="NAME")
    asm.add_argument("--as", dest="form", choices=("bytecode", "llvm", "asm", "remarks"))

    _partition_command(command)
    _devices_command(command)
    table = command("ops", "Print the operators: what they take, and what of them there is.", _ops)
    table.add_argument("name", nargs="?", metavar="NAME", help="one operator; default: all")
    form = table.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print one object per operator and line")
    form.add_argument("--markdown", action="store_true", help="print the page of the documentation")
    table.add_argument("--packed", action="store_true", help="the packed functions with schemas, not the operators")
    # The table is part of the program: no worker is needed.
    table.set_defaults(in_process=True)
    return parser


def _partition_command(command: Callable[..., argparse.ArgumentParser]) -> None:
    made = command("partition", "Partition a Relay module and report its compiler regions.", _partition)
    made.add_argument("file", metavar="FILE", help="a Relay file; - reads standard input")
    made.add_argument("--table", metavar="T", help=_TABLE_HELP)
    made.add_argument("--targets", default="", metavar="A,B", help="in order of preference; default: all of the table")
    made.add_argument("--lets", choices=LETS, default="values", help="how let-bound values are annotated")
    made.add_argument("--through-lets", action="store_true", help="merge regions through lets without effects")
    form = made.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print one object")
    form.add_argument("--markdown", action="store_true", help="print tables in Markdown")
    made.add_argument(
        "--fail-under", type=float, metavar="C", help="exit status 1 if less than this share is offloaded"
    )
    made.add_argument("--diff", metavar="OLD", help="print what is different from an earlier report in JSON")


def _devices_command(command: Callable[..., argparse.ArgumentParser]) -> None:
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
