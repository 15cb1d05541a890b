"""The memory effects of instructions: tensors that they read and write, and where they allocate."""

from dataclasses import dataclass
from typing import Final

from relax_core.bytecode.executable import Executable
from relax_core.bytecode.isa import Argument, CallInstruction, FunctionRef, Register, ReturnInstruction
from relax_core.vm.kernels import written_params
from relax_core.vm.recording.liveness import written

SHAPE_HEAP: Final = "vm.builtin.alloc_shape_heap"
_ALLOC_TENSOR: Final = "vm.builtin.alloc_tensor"
_CALL_DYNAMICALLY: Final = "vm.builtin.call_tir_dyn"
_BUILTIN: Final = "vm.builtin."
_READING: Final = frozenset(
    _BUILTIN + name
    for name in (
        "read_if_cond",
        "unbox_scalar",
        "tensor_to_shape",
        "to_device",
        "call_tir_dyn",
        "cuda_graph.run_or_capture",
    )
)
"""Builtins that read elements of a tensor; all others only pass it on."""


@dataclass(frozen=True, slots=True)
class Step:
    """An instruction: the function that it calls, the registers that it looks into, and where its result goes.

    `storage` is the register with the storage of the tensor that it makes, -1 if it makes none in a storage. `args` are
    all registers that it is given, those first that a prim func writes.
    """

    name: str
    reads: tuple[int, ...]
    dst: int | None
    is_return: bool
    storage: int = -1
    args: tuple[int, ...] = ()


def steps_of(executable: Executable) -> list[Step]:
    """Return the step of every instruction."""
    return [_step(executable, pc) for pc in range(len(executable.instructions))]


def _step(executable: Executable, pc: int) -> Step:
    instruction = executable.instructions[pc]
    match instruction:
        case CallInstruction(function=function, args=(Register(index=storage), *_)) if (
            executable.functions[function].name == _ALLOC_TENSOR
        ):
            return Step(_ALLOC_TENSOR, (), written(instruction), is_return=False, storage=storage)
        case CallInstruction(function=function, args=args):
            reads = _reads(executable, function, args)
            others = tuple(arg.index for arg in args if isinstance(arg, Register) and arg.index not in reads)
            name = executable.functions[function].name
            return Step(name, reads, written(instruction), is_return=False, args=(*others, *reads))
        case _:
            return Step("", (), None, is_return=isinstance(instruction, ReturnInstruction))


def _reads(executable: Executable, function: int, args: tuple[Argument, ...]) -> tuple[int, ...]:
    entry = executable.functions[function]
    if entry.kind == "vm" or (entry.name.startswith(_BUILTIN) and entry.name not in _READING):
        return ()
    skipped: tuple[int, ...] = ()
    if entry.kind == "kernel":
        skipped = written_params(executable.kernels[entry.name])
    match args:
        case (FunctionRef(index=kernel), *_) if entry.name == _CALL_DYNAMICALLY:
            own = executable.functions[kernel].name
            skipped = tuple(place + 1 for place in written_params(executable.kernels[own]))
        case _:
            pass
    return tuple(arg.index for place, arg in enumerate(args) if isinstance(arg, Register) and place not in skipped)
