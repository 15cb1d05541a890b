"""The sentence after `Now:`: what the program is about to do."""

from relax_core.analysis.device.virtual_devices import numbered_device
from relax_core.bytecode.executable import Executable, FunctionEntry
from relax_core.bytecode.isa import (
    Argument,
    CallInstruction,
    Destination,
    FunctionRef,
    GotoInstruction,
    IfInstruction,
    Immediate,
    Register,
    ReturnInstruction,
)
from relax_core.present.regions.boundary import boundary_of
from relax_core.present.running.listing import argument_text
from relax_core.vm.recording.copies import COPY

_SHOWN_ARGUMENTS = 4
_PREFIXES = ("vm.builtin.", "relax.run.", "relax.")


def sentence(executable: Executable, pc: int, caller_pc: int | None, line: int) -> str:
    """Describe the instruction at `pc`, which is about to run.

    `caller_pc` is the call that waits for this frame, if there is one.
    """
    entry = executable.function_at(pc)
    match executable.instructions[pc]:
        case CallInstruction(function=function, args=args, dst=dst):
            return _call(executable, entry, executable.functions[function], args, dst, line)
        case ReturnInstruction(result=result):
            what = f"`{entry.name}` is about to return {_operand(executable, entry, result)}"
            if caller_pc is None:
                return f"{what}."
            caller = executable.function_at(caller_pc)
            call = executable.instructions[caller_pc]
            target = _destination(caller, call.dst) if isinstance(call, CallInstruction) else ""
            return f"{what} to {target + ' in ' if target else ''}`{caller.name}`."
        case IfInstruction(condition=condition, false_offset=offset):
            test = _operand(executable, entry, condition)
            return f"`{entry.name}` goes on if {test} is not zero, else with instruction {pc + offset}."
        case GotoInstruction(offset=offset):
            return f"`{entry.name}` goes on with instruction {pc + offset}."


def short_name(name: str) -> str:
    """Return the name of a builtin or an operator without its prefix."""
    return next((name.removeprefix(prefix) for prefix in _PREFIXES if name.startswith(prefix)), name)


def _call(
    executable: Executable,
    entry: FunctionEntry,
    callee: FunctionEntry,
    args: tuple[Argument, ...],
    dst: Destination,
    line: int,
) -> str:
    verb = {"kernel": "runs the kernel", "packed": "calls", "vm": "calls"}[callee.kind]
    shown = [_operand(executable, entry, item) for item in args if isinstance(item, Register | FunctionRef)]
    more = len(shown) - _SHOWN_ARGUMENTS
    words = ", ".join(shown[:_SHOWN_ARGUMENTS]) + (f" and {more} more" if more > 0 else "")
    target = _destination(entry, dst)
    parts = [f"`{entry.name}` {verb} `{short_name(callee.name)}`"]
    if callee.name == COPY:
        parts, words = [f"`{entry.name}` copies {words} to {_target_of(args)}"], ""
    if words:
        parts.append(f"with {words}")
    if target:
        parts.append(f"for {target}")
    boundary = boundary_of(callee)
    if boundary is not None:
        parts.append(boundary.words)
    return " ".join(parts) + (f", line {line}." if line else ".")


def _target_of(args: tuple[Argument, ...]) -> str:
    """Return the device that a copy goes to."""
    kind, index = (item.value if isinstance(item, Immediate) else 0 for item in args[1:3])
    return f"`{numbered_device(kind, index, '')}`"


def _destination(entry: FunctionEntry, dst: Destination) -> str:
    return f"`{_register(entry, dst)}`" if isinstance(dst, Register) else ""


def _operand(executable: Executable, entry: FunctionEntry, item: Argument) -> str:
    match item:
        case Register():
            return f"`{_register(entry, item)}`"
        case FunctionRef(index=index):
            return f"`{executable.functions[index].name}`"
        case _:
            text = argument_text(executable, item)[0]
            return "void" if text == "%void" else f"`{text}`"


def _register(entry: FunctionEntry, register: Register) -> str:
    index = register.index
    var = entry.register_vars[index] if index < len(entry.register_vars) else None
    return var.name if var is not None else f"%{index}"
