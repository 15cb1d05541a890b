"""Which arguments of a prim func hold no values when it starts: the tensors that are allocated just for that call."""

from relax_core.bytecode.executable import Executable
from relax_core.bytecode.isa import CallInstruction, FunctionRef, Register

_ALLOCATE, _CALL_DYNAMICALLY = "vm.builtin.alloc_tensor", "vm.builtin.call_tir_dyn"


def fresh_arguments(executable: Executable, function: int) -> frozenset[int]:
    """Return the positions where every call of `function` is the first that gets a newly allocated tensor.

    Calls are taken in the order of the listing; a function that is only called as a closure has none.
    """
    found: list[frozenset[int]] = []
    for entry in executable.functions:
        if entry.kind == "vm":
            found += _in_body(executable, executable.instructions[entry.start : entry.end], function)
    return frozenset[int].intersection(*found) if found else frozenset()


def _in_body(executable: Executable, instructions: tuple[object, ...], function: int) -> list[frozenset[int]]:
    found: list[frozenset[int]] = []
    fresh: set[Register] = set()
    for instruction in instructions:
        if not isinstance(instruction, CallInstruction):
            continue
        name, args = executable.functions[instruction.function].name, instruction.args
        if name == _CALL_DYNAMICALLY and args and args[0] == FunctionRef(function):
            args = args[1:]
        elif instruction.function != function:
            args = ()
        if args or instruction.function == function:
            found.append(frozenset(at for at, arg in enumerate(args) if isinstance(arg, Register) and arg in fresh))
        fresh -= {arg for arg in instruction.args if isinstance(arg, Register)}
        if isinstance(instruction.dst, Register):
            fresh.discard(instruction.dst)
            fresh |= {instruction.dst} if name == _ALLOCATE else set()
    return found
