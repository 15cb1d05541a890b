"""Properties of a run: values of bindings and of the result, how it ended, what was printed, the bytecode that ran."""

from typing import Any

import numpy as np

from relax_core.bytecode.executable import Executable, FunctionEntry, instruction_text
from relax_core.engine.debug.intermediates import Intermediate, intermediates, names_in
from relax_core.engine.properties.asked import Asked, refuse
from relax_core.vm.condition import Condition, Moment
from relax_core.vm.machine import Machine
from relax_core.vm.objects.values import Value, show
from relax_core.vm.recording.trace import Trace
from relax_core.vm.virtual_machine import entry_arguments


def value(asked: Asked, expression: str) -> str:
    """Evaluate an expression, such as `y[1, 2]` or `isnan(y)`, where the entry is about to return, or on the screen."""
    trace = asked.trace
    # Behind its return the entry has no frame any more; its values are those that it returned with.
    if asked.at == "now" and asked.time < len(trace):
        return value_text(Moment(trace, asked.time, 1).value(Condition.of(expression).tree))
    at = _end_of_entry(trace)
    return value_text(Moment(trace, at, 1, frame=0).value(Condition.of(expression).tree))


def _end_of_entry(trace: Trace) -> int:
    """Return the time at which the entry is about to return, or at which the run stopped."""
    if not len(trace.frames):
        refuse("nothing ran")
    own = np.flatnonzero(trace.frame_ids == 0)
    return len(trace) if trace.error is not None or not own.size else int(own[-1])


def result(asked: Asked, place: str = "") -> str:
    """Return the result of the run, or an element of it: `1, 2`."""
    trace = asked.trace
    if trace.error is not None:
        refuse(f"the run stopped: {trace.error.code}, {trace.error.message}")
    inner: Any = trace.result
    if not place:
        return value_text(inner)
    try:
        at = tuple(int(part) for part in place.split(","))
        return value_text(inner[at] if isinstance(inner, np.ndarray) else inner[at[0]])
    except (IndexError, TypeError, ValueError):
        refuse(f"the result has no element [{place}]")


def signed_result(asked: Asked) -> str:
    """Return what a run on made-up inputs of both signs returns: on positive ones much is the same that is not."""
    executable, context = _executable(asked), asked.context
    name, args = asked.opened.source.call(is_signed=True)
    engine = context.engine_of(asked.opened)
    source = asked.opened.source
    machine = Machine(
        executable,
        limits=context.limits,
        record=False,
        engine=engine,
        options=engine.options,
        poisons_memory=source.program.poisons_memory,
        stand_ins=source.stand_ins,
    )
    given = entry_arguments(executable, name, args)
    trace = asked.opened.runs.run_machine(machine, name, given, context.is_cancelled)
    if trace.error is not None:
        refuse(f"the run stopped: {trace.error.code}, {trace.error.message}")
    return value_text(trace.result)


def value_text(found: Value) -> str:
    """Write a value: numbers in the fewest digits that tell them apart, `nan`, `inf`, `yes` and `no`."""
    match found:
        case bool() | np.bool_():
            return "yes" if found else "no"
        case np.ndarray() if found.ndim == 0:
            return value_text(found[()])
        case np.floating():
            return np.format_float_positional(found, trim="-") if 1e-4 <= abs(found) < 1e16 or not found else str(found)
        case np.ndarray():
            return np.array2string(found, separator=", ", threshold=10_000, max_line_width=10_000).replace("\n", "")
        case float() | int() | np.generic():
            return str(found)
        case _:
            return show(found)


def outcome(asked: Asked) -> str:
    """Return `returned`, or the code of what stopped the run."""
    error = asked.trace.error
    return "returned" if error is None else error.code


def stop_line(asked: Asked) -> str:
    """Return the line of the text at which the run stopped, 0 if it returned."""
    trace = asked.trace
    if trace.error is not None and trace.error.span is not None:
        return str(trace.error.span.line)
    return str(0 if trace.stopped_at is None else int(trace.lines.line_of[trace.stopped_at]))


def output(asked: Asked) -> str:
    """Return what the run printed, a line after the other with ` / ` between."""
    return " / ".join(item.text.strip() for item in asked.trace.output)


def bound(asked: Asked, name: str) -> Intermediate:
    """Return the first value that a binding gave a variable in the run.

    Raises:
        CompileError: EN031, none did.
    """
    found = next((item for item in intermediates(asked.trace) if name in (item.variable, item.name)), None)
    if found is None:
        refuse(f"the run binds no data to `{name}`")
    return found


def time_of(asked: Asked, name: str) -> str:
    """Return the time at which a variable has its value."""
    return str(bound(asked, name).time)


def order(asked: Asked, names: str) -> str:
    """Return variables in the order in which the run gives them their values."""
    wanted = [name.strip() for name in names.split(",")]
    return ", ".join(sorted(wanted, key=lambda name: bound(asked, name).time))


def first_nan(asked: Asked) -> str:
    """Return the variable of the text that is the first to hold a NaN, `none` if no binding has one."""
    own = names_in(asked.opened.source.module)
    for item in intermediates(asked.trace):
        if item.variable in own and any(
            array.dtype.kind == "f" and bool(np.isnan(array).any()) for array in item.arrays.values()
        ):
            return item.variable
    return "none"


def events(asked: Asked) -> str:
    """Return how many instructions the run executes."""
    return str(len(asked.trace))


def depth(asked: Asked) -> str:
    """Return how many frames are on the stack at once at most, or on the screen with `now`."""
    trace = asked.trace
    return str(len(trace.frames_at(asked.time)) if asked.at == "now" else int(trace.frame_depths.max()) + 1)


def frame_count(asked: Asked, name: str) -> str:
    """Return how often a function of the bytecode is entered in the run."""
    functions = asked.trace.executable.functions
    return str(sum(functions[item.function].name == name for item in asked.trace.frames))


def shown_time(asked: Asked) -> str:
    """Return the time on the screen."""
    return str(asked.time)


def _entry(executable: Executable, name: str) -> FunctionEntry:
    found = next((item for item in executable.functions if item.name == name and item.kind == "vm"), None)
    if found is None:
        names = ", ".join(item.name for item in executable.functions if item.kind == "vm")
        refuse(f"the bytecode has no function `{name}`", f"it has {names}")
    return found


def _executable(asked: Asked) -> Executable:
    return asked.opened.compilation.executable(asked.context.report, asked.context.is_cancelled)


def instruction_count(asked: Asked, name: str) -> str:
    """Return how many instructions a function has."""
    entry = _entry(_executable(asked), name)
    return str(entry.end - entry.start)


def register_count(asked: Asked, name: str) -> str:
    """Return how many registers a frame of a function has."""
    return str(_entry(_executable(asked), name).register_count)


def instruction(asked: Asked, number: str, name: str) -> str:
    """Return an instruction of a function as the listing writes it, in single spaces."""
    executable = _executable(asked)
    entry = _entry(executable, name)
    if not 0 <= int(number) < entry.end - entry.start:
        refuse(f"`{name}` has {entry.end - entry.start} instructions")
    return " ".join(instruction_text(executable, entry.start + int(number)).split())
