"""Commands that run programs and look for faults: run, inside, bisect, compare."""

import argparse
import os
from typing import get_args

import msgspec

from relax_core.cli import archives, inside, opening, run_files, stand_ins, two_workers
from relax_core.cli.changes import change_options, changed_program
from relax_core.cli.review import batch
from relax_core.cli.terminal import (
    DIAGNOSED,
    LIMIT,
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
    constants_option,
    failed,
    more_option,
    picture_asked,
    picture_options,
    printable,
    read_bytes,
    say,
    watch_option,
    with_rules,
    write_bytes,
    write_picture,
)
from relax_core.diagnostics import plural
from relax_core.engine.debug.replies import Bisection, ValuesCompared
from relax_core.engine.debug.requests import (
    AT_NAN,
    BisectOf,
    BisectRecordedOf,
    ChromeTraceOf,
    CompareValuesOf,
    DumpOf,
    InputFile,
    InputsOf,
    MemoryOf,
    ProfileOf,
    RecordedCallsOf,
    ReproducerOf,
    SimulateOf,
    StopsOf,
    WarpOrder,
)
from relax_core.engine.debug.tolerance import Closeness
from relax_core.engine.debug.verdicts import NOT_COMPARED, SIGNS
from relax_core.engine.halving.reply import DEFAULT_BUDGET, Budget
from relax_core.engine.pipelines import pipeline as pipelines
from relax_core.engine.protocol import Execute, Failure, Program, RunOf
from relax_core.engine.replies import Executed, Simulation
from relax_core.jit.options import Mode
from relax_core.present.drawings.still import run_svg
from relax_core.present.running.run_models import Breakpoint

_FIRST_VALUES = 10
_DIGIT_LIMIT = 18
_MOVES = (
    "a move: next [N], back [N], to N, start, end, 'next i' or 'back i' to another iteration of loop i, 'out i', "
    "'i=3, j=2', block, 'line 17', 'if i == 3 and A[i, j] < 0', nan, 'write C[3, 6]'; among threads also thread, warp, "
    "barrier and race; `back` before line, if, write and these looks backwards; several are made one after the other"
)

_INPUT_HELP = (
    "a file for one parameter, the one that it is named after or else the first that takes such a file: .npy, "
    "safetensors, PNG, JPEG, or a text for a tensor of integers; the others are made up"
)

_WITH_OUTPUTS = ("--dump", "--trace", "--simulate", "--svg", "--pdf")
"""Options of which one goes together with --outputs."""


def add_debugging(command: Commands) -> None:
    """Add the commands."""
    _run_command(command)
    _inside_command(command)
    _bisect_command(command)
    _compare_command(command)


def _run_command(command: Commands) -> None:
    run = command("run", "Run a function and print its result, or where it stops.", _run)
    run.add_argument("file", metavar="FILE", help=f"{PATH_HELP}; {MANY_HELP}")
    more_option(run)
    run_options(run)
    run.add_argument("--input", dest="input_files", action="append", default=[], metavar="FILE", help=_INPUT_HELP)
    vocabulary = "numbers of tokens for a text: a JSON object, a tokenizer.json, or a token a line; default: its bytes"
    run.add_argument("--vocabulary", metavar="V", help=vocabulary)
    run.add_argument("--outputs", metavar="NPZ", help="where to write the result: out, or out_0, ...")
    run.add_argument("--break", dest="breaks", action="append", default=[], metavar="LINE|@PC", help="stop there")
    run.add_argument("--when", default="", metavar="C", help="stop only where C holds, such as 'i > 3'")
    run.add_argument("--stop-at-nan", action="store_true", help="stop behind what wrote a NaN or an infinity")
    run.add_argument("--stops", type=int, default=1, metavar="N", help="how many stops are printed; default: 1")
    run.add_argument("--dump", metavar="NPZ", help="where to write the value of every binding: FUNCTION.VARIABLE")
    run.add_argument("--trace", metavar="RXT", help="where to write the run with all its events, to be looked at later")
    picture_options(run, "the calls of the run over its time, and what ran")
    change_options(run)
    as_in_option(run)
    run.add_argument("--profile", action="store_true", help="print which lines take how long")
    run.add_argument("--chrome-trace", metavar="JSON", help="where to write when each call ran, for Perfetto")
    run.add_argument("--memory", action="store_true", help="print what memory holds when, and what is used too late")
    run.add_argument("--simulate", action="store_true", help="run a kernel on a simulated GPU, and tell what races")
    _machine_option(run)
    run.add_argument("--json", action="store_true", help="print one object: the result, or what else is asked for")
    watch_option(run)


def _bisect_command(command: Commands) -> None:
    bisect = command("bisect", "Find the first pass, or the first file, that changes the result.", _bisect)
    bisect.set_defaults(has_two_workers=True)
    bisect.add_argument(
        "files",
        nargs="+",
        metavar="FILE",
        help="one module; or the module after each pass, in order, in several files or in a recording: a folder with "
        f"numbers, a zip, log or trace; {MANY_HELP}",
    )
    run_options(bisect)
    _closeness_options(bisect)
    as_in_option(bisect)
    bisect.add_argument("--values", action="store_true", help="compare the bindings before and after the first one")
    halves = "how long a part of the guilty pass's changes is applied, to find which; 0: not at all; default: 10"
    bisect.add_argument("--halve", type=float, default=DEFAULT_BUDGET.seconds, metavar="SECONDS", help=halves)
    bisect.add_argument("--json", action="store_true", help="print one object")
    reproduces = "where to write a file that shows the difference with tvm and numpy alone, and beside it a report"
    bisect.add_argument("--reproducer", metavar="FILE", help=reproduces)


def _compare_command(command: Commands) -> None:
    against = command("compare", "Compare the values of bindings of two runs, or two archives.", _compare)
    against.add_argument(
        "files",
        nargs="+",
        metavar="FILE",
        help="two .npz archives, two modules, or one; PATH@N is a stage; or a trace with a run",
    )
    against.add_argument("--stages", nargs=2, type=int, metavar=("I", "J"), help="stages of a module's pipeline")
    run_options(against)
    _closeness_options(against)
    change_options(against)
    as_in_option(against)
    whole = "with one trace: run from the recorded inputs; default: each call on its recorded arguments"
    against.add_argument("--from-inputs", action="store_true", help=whole)
    against.add_argument("--all", action="store_true", help="print the values that are the same, too")
    against.add_argument("--json", action="store_true", help="print one object")


def _inside_command(command: Commands) -> None:
    made = command("inside", "Step inside a kernel: go to a statement, an iteration, a condition, a write.", _inside)
    made.add_argument("file", metavar="FILE", help=PATH_HELP)
    constants_option(made)
    made.add_argument("--entry", default="", metavar="NAME", help="a prim func, or the function whose run is looked at")
    made.add_argument("--kernel", default="", metavar="NAME", help="the first call of this kernel in the run")
    made.add_argument("--time", type=int, default=-1, metavar="T", help="the call of a kernel at this time of the run")
    given = made.add_mutually_exclusive_group()
    given.add_argument("--inputs", metavar="FILE", help="a .npz, .npy or safetensors file: in_0, in_1, ...")
    given.add_argument("--seed", type=int, default=0, help="of the made-up arguments")
    made.add_argument("--sizes", default="", metavar="n=64,m=8", help="of symbolic dimensions of made-up arguments")
    made.add_argument("--passes", metavar="P", help="passes that run before; default: the whole pipeline")
    made.add_argument("--launch", type=int, default=0, metavar="N", help="of a function that launches threads")
    made.add_argument("--block", type=int, default=0, metavar="B", help="the block whose threads are stepped through")
    made.add_argument("--thread", type=int, default=0, metavar="T", help="the thread of the block that is looked at")
    order = made.add_mutually_exclusive_group()
    order.add_argument(
        "--order", choices=get_args(WarpOrder), default="forward",
        help="which warp goes on: the first up to the next barrier, the last, or each a statement in turn",
    )  # fmt: skip
    order.add_argument("--shuffle", type=int, default=-1, metavar="S", help="a random warp goes on, by this seed")
    made.add_argument("--go", action="append", default=[], metavar="MOVE", help=_MOVES)
    made.add_argument("--watch", action="append", default=[], metavar="EXPR", help="print what this is at each stop")
    made.add_argument("--steps", type=int, default=1, metavar="N", help="how many statements are shown; default: 1")
    made.add_argument("--heat", default="", metavar="BUFFER", help="print how often each element has been touched")
    made.add_argument("--report", action="store_true", help="print what the whole run does to memory")
    _machine_option(made)
    made.add_argument("--json", action="store_true", help="print one object")


def _machine_option(made: argparse.ArgumentParser) -> None:
    made.add_argument("--machine", default="", metavar="M", help="a GPU: flops=F,global=B,shared=B, each a second")


def run_options(made: argparse.ArgumentParser) -> None:
    """Add the options that say which function runs, on what, behind which passes, and how."""
    constants_option(made)
    made.add_argument("--entry", default="", metavar="NAME", help="default: main, or the first function")
    given = made.add_mutually_exclusive_group()
    given.add_argument(
        "--inputs",
        metavar="FILE",
        help="arguments as .npz, .npy or safetensors: in_0, in_1, ..., or by the names of parameters; fields in_0_1",
    )
    given.add_argument("--seed", type=int, default=0, help="of the made-up arguments")
    signs = "made-up floats are from -1 to 1, not from 0: less only where none below 0 has a value, as in a logarithm"
    made.add_argument("--signed", action="store_true", help=signs)
    made.add_argument("--sizes", default="", metavar="n=64,m=8", help="of symbolic dimensions of made-up arguments")
    made.add_argument("--passes", metavar="P", help=f"{PASSES_HELP}; default: the whole pipeline")
    made.add_argument("--table", metavar="T", help=TABLE_HELP)
    made.add_argument("--rules", metavar="R", help=RULES_HELP)
    modes = "how kernels round: in order and to less than one unit in the last place, as apache-tvm, or in any order"
    made.add_argument("--mode", choices=get_args(Mode), default="exact", help=modes)
    made.add_argument("--find-uninitialised", action="store_true", help="stop where something reads what nothing wrote")
    answers = (
        "what answers for a packed function: zeros of its declared type, the results of the recorded run, or Python"
    )
    made.add_argument(
        "--stand-in", action="append", default=[], metavar="NAME=zeros|recorded|FILE.py:FUNCTION", help=answers
    )
    poisons = "fill each new tensor in a storage with bytes 0xFF: NaN, -1, true"
    made.add_argument("--poison-memory", action="store_true", help=poisons)


def _closeness_options(made: argparse.ArgumentParser) -> None:
    made.add_argument("--relative", type=float, default=-1.0, metavar="R", help="tolerance; default: by the dtype")
    made.add_argument("--absolute", type=float, default=-1.0, metavar="A", help="tolerance; default: a tenth of it")


def asked_program(file: str, options: argparse.Namespace) -> Program:
    """Read the program that a file and `run_options` ask for.

    Raises:
        UsageError: a file cannot be read, or options do not go together.
    """
    if options.inputs is not None and options.sizes:
        raise UsageError("--sizes and --inputs do not go together: the sizes are those of the archive")
    program = opening.program_at(
        file, pipeline=options.passes, entry=options.entry, table=options.table, archive=options.constants
    )
    if program.run_file:
        run_files.refuse_options(program, options)
        complain(f"note: {printable(file)} is a recorded run, which is shown as it was: nothing is run")
        return program
    recorded = opening.recording_of(file) if stand_ins.wants_recorded(options.stand_in) else None
    return _as_asked(program, options, recorded)


def _as_asked(program: Program, options: argparse.Namespace, recording: "pipelines.Pipeline | None" = None) -> Program:
    return msgspec.structs.replace(
        with_rules(program, options.rules),
        stand_ins=stand_ins.stand_ins_of(options.stand_in),
        recorded=stand_ins.recorded_of(recording, options.stand_in, options.entry),
        seed=options.seed,
        sizes=opening.sizes_in(options.sizes),
        inputs=_read_inputs(options.inputs) if options.inputs is not None else None,
        mode=options.mode,
        finds_uninitialised=options.find_uninitialised,
        poisons_memory=options.poison_memory,
        is_signed=options.signed,
        as_in=options.as_in,
    )


def _read_inputs(path: str) -> bytes:
    """Read an archive of inputs; an empty file is refused by its name."""
    content = read_bytes(path)
    if not content:
        raise UsageError(f"{printable(path)} is empty: it is no archive of inputs")
    return content


def _with_input_files(engine: Engine, program: Program, options: argparse.Namespace) -> Program | Failure:
    """Return the program with the archive that its input files make, and say what became of each."""
    if not options.input_files:
        if options.vocabulary:
            raise UsageError("--vocabulary is for a text that --input names")
        return program
    if program.inputs is not None or program.run_file:
        raise UsageError("--input is for a run on made-up arguments, not on those of --inputs or of a recorded run")
    files = tuple(InputFile(os.path.basename(path), read_bytes(path)) for path in options.input_files)
    vocabulary = read_bytes(options.vocabulary) if options.vocabulary else b""
    found = engine.request(InputsOf(program, files, vocabulary))
    if isinstance(found, Failure):
        return found
    for row in found.rows:
        complain(f"note: {row.param} {': '.join(filter(None, (row.value, row.file, row.words)))}")
    return msgspec.structs.replace(program, entry=found.entry, sizes=(), inputs=found.archive)


def _run(engine: Engine, options: argparse.Namespace) -> int:
    if options.more or opening.is_many((options.file,)):
        return batch.on_many("run", (options.file, *options.more), options)
    stops = bool(options.breaks or options.when or options.stop_at_nan)
    _one_at_a_time(options, stops=stops)
    asked = _with_input_files(engine, asked_program(options.file, options), options)
    program = asked if isinstance(asked, Failure) else changed_program(engine, asked, options)
    if isinstance(program, Failure):
        return failed(program)
    if stops:
        return _stop(engine, program, options)
    if options.profile:
        found = engine.request(ProfileOf(program))
        if isinstance(found, Failure):
            return failed(found)
        say(found.to_text())
        return _ended(found.rendered)
    if options.chrome_trace:
        timed = engine.request(ChromeTraceOf(program))
        if isinstance(timed, Failure):
            return failed(timed)
        write_bytes(options.chrome_trace, timed.content)
        return _ended(timed.rendered)
    if options.memory:
        return _memory(engine, program, options)
    if options.simulate:
        return _simulate(engine, program, options)
    if options.dump:
        dumped = engine.request(DumpOf(program))
        if isinstance(dumped, Failure):
            return failed(dumped)
        write_bytes(options.dump, dumped.archive)
        return _say_result(dumped.executed, options)
    if (options.svg or options.pdf) and (told := _draw_run(engine, program, options)):
        return failed(told)
    ran = run_files.write_run(engine, program, options.trace) if options.trace else engine.request(Execute(program))
    return failed(ran) if isinstance(ran, Failure) else _say_result(ran, options)


def _draw_run(engine: Engine, program: Program, options: argparse.Namespace) -> Failure | None:
    """Draw the calls of a run over its time and the lines that ran; the last window of a long run knows of them all."""
    found = engine.request(RunOf(program))
    if not isinstance(found, Failure) and found.total > len(found.events):
        found = engine.request(RunOf(program, found.total))
    if isinstance(found, Failure):
        return found
    write_picture(options, run_svg(found), found.title)
    return None


def _memory(engine: Engine, program: Program, options: argparse.Namespace) -> int:
    found = engine.request(MemoryOf(program))
    if isinstance(found, Failure):
        return failed(found)
    say(msgspec.json.encode(found).decode() if options.json else found.to_text())
    return DIAGNOSED if found.faults else 0


def _simulate(engine: Engine, program: Program, options: argparse.Namespace) -> int:
    found = engine.request(SimulateOf(program, options.machine))
    if isinstance(found, Failure):
        return failed(found)
    if options.outputs:
        write_bytes(options.outputs, found.archive)
    say(_simulated_json(found) if options.json else found.to_text())
    return 0 if found.is_clean else DIAGNOSED


def _simulated_json(found: Simulation) -> str:
    names = ("entry", "is_clean", "verdict", "launches", "written", "problems", "accesses", "roofline")
    return msgspec.json.encode({name: msgspec.to_builtins(getattr(found, name)) for name in names}).decode()


def _one_at_a_time(options: argparse.Namespace, *, stops: bool) -> None:
    """Refuse options that exclude each other."""
    asked = {"stops": stops, "--profile": options.profile, "--dump": bool(options.dump)}
    asked |= {"--memory": options.memory, "--trace": bool(options.trace), "--outputs": options.outputs}
    asked |= {"--simulate": options.simulate, "--chrome-trace": bool(options.chrome_trace)}
    if picture := picture_asked(options):
        asked[picture] = True
    if options.machine and not options.simulate:
        raise UsageError("--machine is about what --simulate counts")
    if options.json and (stops or options.profile or options.chrome_trace):
        raise UsageError("--json prints a result, or what --memory or --simulate finds")
    timed = "--profile" if options.profile else "--chrome-trace" if options.chrome_trace else ""
    if timed and options.settings:
        raise UsageError(f"--set, --skip or --replace and {timed} do not go together: what is timed runs several times")
    given = [name for name, is_given in asked.items() if is_given]
    others = [name for name in given if name != "--outputs"]
    if len(given) > 1 and (len(others) == len(given) or others[1:] or others[0] not in _WITH_OUTPUTS):
        raise UsageError(f"{' and '.join(given)} do not go together: each is a run of its own")


def _say_result(ran: Executed, options: argparse.Namespace) -> int:
    if options.json:
        say(_json_of(ran))
        if ran.rendered:
            return LIMIT if ran.is_limit else DIAGNOSED
        if options.outputs:
            write_bytes(options.outputs, ran.archive)
        return 0
    for line in ran.output:
        say(line)
    for words in filter(None, (ran.stand_ins, *ran.interventions)):
        complain(f"note: {words}")
    if ran.rendered:
        complain(ran.rendered)
        return LIMIT if ran.is_limit else DIAGNOSED
    say(ran.result)
    for item in ran.written:
        say(f"{item.name} before: {item.before}")
    if options.outputs:
        write_bytes(options.outputs, ran.archive)
    return 0


def _json_of(ran: Executed) -> str:
    """Return a run as one object: what it printed and returned, what was done to it, and how it ended."""
    fields = ("output", "result", "events", "stand_ins", "interventions", "rendered", "problems")
    return msgspec.json.encode({name: getattr(ran, name) for name in fields}).decode()


def _ended(rendered: str) -> int:
    if rendered:
        complain(rendered)
    return DIAGNOSED if rendered else 0


def _stop(engine: Engine, program: Program, options: argparse.Namespace) -> int:
    places = tuple(_breakpoint(text, options.when) for text in options.breaks)
    anywhere = (Breakpoint(condition=options.when),) if options.when and not places else ()
    at_nan = (Breakpoint(condition=AT_NAN),) if options.stop_at_nan else ()
    found = engine.request(StopsOf(program, (*places, *anywhere, *at_nan), options.stops))
    if isinstance(found, Failure):
        return failed(found)
    for stop in found.stops:
        say(f"{stop.text}\n")
    for problem in found.problems:
        complain(problem)
    count = f"{plural(found.count, 'stop')}, {len(found.stops)} shown"
    met = f"; the places were met {plural(found.met, 'time')}" if places else ""
    say(f"{count}{met} in {found.executed.events:,} events")
    return max(_ended(found.executed.rendered), DIAGNOSED if options.stop_at_nan and found.count else 0)


def _breakpoint(text: str, condition: str) -> Breakpoint:
    number = text.removeprefix("@")
    if not number.isdecimal() or len(number) > _DIGIT_LIMIT:
        raise UsageError(f"--break takes a line, such as 16, or an instruction, such as @12, got {text}")
    line, pc = (0, int(number)) if text.startswith("@") else (int(number), -1)
    return Breakpoint(line, pc, condition=condition)


def _inside(engine: Engine, options: argparse.Namespace) -> int:
    return inside.step_inside(engine, options)


def _bisect(engine: Engine, options: argparse.Namespace) -> int:
    if not options.halve >= 0:
        raise UsageError(f"--halve takes a number of seconds, got {options.halve:g}")
    if opening.is_many(options.files):
        return batch.on_many("bisect", options.files, options)
    recorded = opening.pipeline_at(options.files[0]) if len(options.files) == 1 else None
    if recorded is not None:
        return _bisect_recorded(engine, recorded, options)
    first, *others = (asked_program(file, options) for file in options.files)
    closeness = Closeness(options.relative, options.absolute)
    message = BisectOf(first, tuple(others), closeness, Budget(options.halve))
    found = engine.request(message)
    if isinstance(found, Failure):
        return _not_compared(found)
    say(found.to_json() if options.json else found.to_text())
    at, good = found.first_different, found.last_good
    if at > 0 and options.values:
        request = (
            CompareValuesOf((first, *others)[good], -1, others[at - 1], -1, closeness)
            if others
            else CompareValuesOf(first, good, first, at, closeness)
        )
        _say_values(engine.request(request), options, limit=_FIRST_VALUES)
    _reproduce(engine, message, found, options)
    return found.status


def _bisect_recorded(engine: Engine, pipeline: "pipelines.Pipeline", options: argparse.Namespace) -> int:
    if options.as_in != "fixed":
        raise UsageError(f"--as-in is of our own passes: another compiler made the stages of {pipeline.name}")
    pipeline = pipeline.with_constants(opening.read_given(options.constants))
    opening.say_remarks(pipeline)
    own = opening.read_options(pipeline=options.passes, entry=options.entry, table=options.table)
    asked = _as_asked(own, options, pipeline)
    closeness = Closeness(options.relative, options.absolute)
    message = opening.bisect_request(pipeline, asked, closeness)
    message = msgspec.structs.replace(message, budget=Budget(options.halve))
    found = two_workers.bisected(engine, message, tuple(stage.text or "" for stage in pipeline.forms()))
    crash = opening.crash_of(engine, pipeline)
    if isinstance(found, Failure):
        status = _not_compared(found)
        say(crash.words) if crash.words else None
        return status
    found = msgspec.structs.replace(found, stopped=crash.words)
    say(found.to_json() if options.json else found.to_text())
    at, good = found.first_different, found.last_good
    if at > 0 and options.values:
        request = opening.compare_request(pipeline, asked, (good, at), closeness)
        _say_values(engine.request(request), options, limit=_FIRST_VALUES)
    if options.reproducer and crash.words and found.first_different < 0:
        opening.write_crash(crash, options.reproducer)
    else:
        _reproduce(engine, message, found, options)
    return found.status


def _reproduce(
    engine: Engine, message: BisectOf | BisectRecordedOf, found: Bisection, options: argparse.Namespace
) -> None:
    """Write the reproducer that was asked for, or say why there is none; the status is that of the bisection."""
    if not options.reproducer:
        return
    if found.first_different < 0:
        complain("note: no stage differs, so that there is nothing to reproduce")
        return
    made = engine.request(ReproducerOf(message, found))
    if isinstance(made, Failure):
        failed(made)
        return
    write_bytes(options.reproducer, made.script.encode())
    write_bytes(f"{options.reproducer}.md", made.report.encode())
    complain(
        f"note: {options.reproducer} shows it with apache-tvm and numpy alone; {options.reproducer}.md is a report"
    )


def _not_compared(failure: Failure) -> int:
    """Print why nothing was compared: status 1 is that of a difference alone."""
    status = failed(failure)
    return NOT_COMPARED if failure.kind == "diagnosed" else status


def _compare_calls(engine: Engine, pipeline: "pipelines.Pipeline", options: argparse.Namespace) -> int:
    """Compare each call of the recorded run with what is computed here."""
    run_files.refuse_for_calls(options.files[0], options)
    pipeline = pipeline.with_constants(opening.read_given(options.constants))
    opening.say_remarks(pipeline)
    closeness = Closeness(options.relative, options.absolute)
    if not pipeline.runs:
        complain(opening.no_run_words(pipeline))
        return NOT_COMPARED
    run = next((at for at, item in enumerate(pipeline.runs) if item.entry == options.entry), 0)
    if options.entry and not any(item.entry == options.entry for item in pipeline.runs):
        known = ", ".join(dict.fromkeys(item.entry for item in pipeline.runs)) or "none"
        raise UsageError(f"{pipeline.name} holds no run of {options.entry}; it holds runs of: {known}")
    message = RecordedCallsOf(opening.parcel_of(pipeline), run, not options.from_inputs, closeness)
    found = engine.request(message)
    if isinstance(found, Failure):
        return _not_compared(found)
    stopped = opening.crash_of(engine, pipeline).words
    found = msgspec.structs.replace(found, notes=(*found.notes, stopped) if stopped else found.notes)
    say(found.to_json() if options.json else found.to_text())
    return found.status


def _compare(engine: Engine, options: argparse.Namespace) -> int:
    files = options.files
    if all(file.endswith(".npz") for file in files) and len(files) == 2:
        tolerance = Closeness(options.relative, options.absolute).tolerance
        return _say_values(archives.compared(files[0], files[1], tolerance), options)
    stages = options.stages or (-1, -1)
    is_alone = len(files) == 1 and not (options.stages or options.settings)
    recorded_run = opening.pipeline_at(files[0]) if is_alone else None
    if recorded_run is not None:
        return _compare_calls(engine, recorded_run, options)
    if len(files) > 2 or (len(files) == 1 and not (options.stages or options.settings)):
        words = "two archives, two modules, one module with --stages I J or --set, or a trace with a run"
        raise UsageError(f"compare takes {words}")
    recorded = opening.pipeline_at(files[0]) if len(files) == 1 and options.stages else None
    if recorded is not None:
        files, stages = [f"{files[0]}@{number}" for number in stages], (-1, -1)
    left = asked_program(files[0], options)
    right = changed_program(engine, asked_program(files[-1], options), options)
    if isinstance(right, Failure):
        return _not_compared(right)
    request = CompareValuesOf(left, stages[0], right, stages[1], Closeness(options.relative, options.absolute))
    return _say_values(engine.request(request), options)


def _say_values(found: ValuesCompared | Failure, options: argparse.Namespace, *, limit: int = 1_000_000) -> int:
    """Print the values that are not the same, all with `--all`, and what it comes to."""
    if isinstance(found, Failure):
        return _not_compared(found)
    for note in found.notes:
        complain(note)
    if options.json:
        say(found.to_json())
        return found.status
    is_all = getattr(options, "all", False)
    shown = tuple(row for row in found.rows if is_all or row.verdict != "same")
    width = max((len(row.name) for row in shown), default=0)
    for row in shown[:limit]:
        line = f"line {row.line}" if row.line else ""
        say(f"{SIGNS[row.verdict]} {row.name:<{width}}  {line:<9} {row.type}  {row.words}".rstrip())
    if len(shown) > limit:
        say(f"and {len(shown) - limit:,} more")
    if found.parting is not None:
        say(found.parting.to_text())
    say(found.conclusion)
    return found.status
