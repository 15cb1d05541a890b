"""What generated code has to know about the instructions of a module before it is made."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Literal

from relax_core.analysis.virtual_devices import device_table
from relax_core.bytecode.executable import DTypeConstant, Executable, ShapeConstant
from relax_core.bytecode.isa import (
    CallInstruction,
    ConstantRef,
    Immediate,
    Instruction,
    Register,
    ReturnInstruction,
)
from relax_core.ir.node import preorder
from relax_core.ir.prim import Intrinsic
from relax_core.ir.tir import PrimFunc
from relax_core.jit.lowering.coverage import writes_all
from relax_core.jit.lowering.intrinsics import CALLS
from relax_core.vm.builtins import BUILTINS
from relax_core.vm.kernels import written_params
from relax_core.vm.storage import storable
from relax_core.vm.values import item_bytes

Kind = Literal["call", "closure", "kernel", "builtin", "outside", "return", "jump"]

RE_ENTERING = frozenset(("vm.builtin.call_tir_dyn",))
HEAP = "vm.builtin.alloc_shape_heap"
ON_HEAP = frozenset((HEAP, "vm.builtin.match_shape", "vm.builtin.match_prim_value"))
SEEN_BY_RECORDER = frozenset(
    (
        *ON_HEAP,
        "vm.builtin.alloc_tensor",
        "vm.builtin.box_prim",
        "vm.builtin.ref_create",
        "vm.builtin.ref_write",
        "relax.run.print",
    )
)
"""Builtins that tell the recorder what they make, change or print; an inline form of one does nothing of that."""


@dataclass(frozen=True, slots=True)
class Room:
    """A tensor of a static shape that is allocated."""

    shape: tuple[int, ...]
    dtype: str

    @property
    def size_bytes(self) -> int:
        """The bytes of its elements."""
        return math.prod(self.shape) * item_bytes(self.dtype)


class BytecodeFacts:
    """Facts about the functions and instructions of one executable."""

    def __init__(self, executable: Executable) -> None:
        self.executable = executable
        self._is_plain: dict[int, bool] = {}
        self._fills: dict[int, bool] = {}

    @cached_property
    def has_devices(self) -> bool:
        """Whether a tensor may be on a device other than the default one; calls of kernels check that."""
        return bool(device_table(self.executable.module)) or any(
            item.name == "vm.builtin.to_device" for item in self.executable.functions
        )

    @cached_property
    def is_closed(self) -> bool:
        """Whether no host function that is called can call back: all calls lead to the program itself."""
        functions = self.executable.functions
        kernels = (number for number, item in enumerate(functions) if item.kind == "kernel")
        return all(
            item.kind != "packed" or (item.name in BUILTINS and item.name not in RE_ENTERING) for item in functions
        ) and not any(_calls(self.prim_func(number)) for number in kernels)

    def kind(self, instruction: Instruction) -> Kind:
        """Tell what an instruction does."""
        match instruction:
            case CallInstruction(function=function):
                return self._kind_of_call(function)
            case ReturnInstruction():
                return "return"
            case _:
                return "jump"

    def _kind_of_call(self, function: int) -> Kind:
        entry = self.executable.functions[function]
        match entry.kind:
            case "vm":
                return "call"
            case "kernel":
                return "kernel" if self.is_plain_kernel(function) else "outside"
            case "packed" if entry.name == "vm.builtin.invoke_closure":
                return "closure"
            case _:
                return "builtin" if entry.name in BUILTINS and entry.name not in RE_ENTERING else "outside"

    def is_plain_kernel(self, function: int) -> bool:
        """Tell whether a kernel neither calls packed functions nor has to look where its arguments are."""
        if function not in self._is_plain:
            self._is_plain[function] = not self.has_devices and not _calls(self.prim_func(function))
        return self._is_plain[function]

    def prim_func(self, function: int) -> PrimFunc:
        """Return the prim func of an entry of the function table."""
        return self.executable.kernels[self.executable.functions[function].name]

    def written(self, function: int) -> tuple[int, ...]:
        """Return the positions of the arguments that a kernel writes."""
        return written_params(self.prim_func(function))

    def makes(self, instruction: CallInstruction) -> Register | None:
        """Return the register with the one argument that a kernel writes, its last, if it is no other argument."""
        args = instruction.args
        last = len(args) - 1
        if len(self.prim_func(instruction.function).params) != len(args) or self.written(instruction.function) != (
            last,
        ):
            return None
        output = args[last]
        return output if isinstance(output, Register) and output not in args[:last] else None

    def fills(self, function: int) -> bool:
        """Tell whether a kernel writes all of its last argument before it reads any of it, whatever was there."""
        if function not in self._fills:
            prim_func = self.prim_func(function)
            buffer = prim_func.buffer_of(prim_func.params[-1])
            self._fills[function] = buffer is not None and writes_all(prim_func, buffer, MappingProxyType({}))
        return self._fills[function]

    def storage_bytes(self, instruction: CallInstruction) -> int | None:
        """Return the size of a storage of static shape on the default device."""
        match instruction.args:
            case (_, ConstantRef() as shape, Immediate(value=0), ConstantRef() as dtype, *_):
                room = self.room(shape, dtype)
                return None if room is None else room.size_bytes
            case _:
                return None

    def tensor_room(self, instruction: CallInstruction, storages: Mapping[int, int]) -> Room | None:
        """Return the tensor of static shape that `alloc_tensor` makes of all of one of `storages`, by register."""
        match instruction.args:
            case (Register(index=index), Immediate(value=0), ConstantRef() as shape, ConstantRef() as dtype, *_):
                room = self.room(shape, dtype)
                return room if room is not None and room.size_bytes == storages.get(index, -1) else None
            case _:
                return None

    def room(self, shape: ConstantRef, dtype: ConstantRef) -> Room | None:
        """Return a shape and a dtype of the pool as a tensor to allocate."""
        constants = self.executable.constants
        match constants[shape.index], constants[dtype.index]:
            case ShapeConstant(values=sizes), DTypeConstant(name=name) if (
                min(sizes, default=0) >= 0 and storable(name) is not None
            ):
                return Room(sizes, name)
            case _:
                return None


def _calls(prim_func: PrimFunc) -> bool:
    return any(isinstance(item, Intrinsic) and item.name in CALLS for item in preorder(prim_func))
