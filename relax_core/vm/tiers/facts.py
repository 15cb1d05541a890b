"""Properties of bytecode that decide how it is compiled to Python: what an instruction does, allocates and writes."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Literal

from relax_core.analysis.device.virtual_devices import device_table
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
from relax_core.ir.rewriting.rewrite import RewriteLog
from relax_core.ir.tir import PrimFunc
from relax_core.jit.lowering.known.coverage import writes_all
from relax_core.jit.lowering.scalars.intrinsics import CALLS
from relax_core.jit.transposed import Order, reading_untransposed, transposition_of
from relax_core.vm.builtin.builtins import BUILTINS
from relax_core.vm.builtin.storage import storable
from relax_core.vm.kernels import written_params
from relax_core.vm.objects.values import item_bytes

Kind = Literal["call", "closure", "kernel", "builtin", "outside", "return", "jump"]

RE_ENTERING = frozenset(
    (
        "vm.builtin.call_tir_dyn",
        "vm.builtin.cuda_graph.get_cached_alloc",
        "vm.builtin.cuda_graph.run_or_capture",
    )
)
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
"""Builtins that report to the recorder what they allocate, change or print; their inline forms do not."""


@dataclass(frozen=True, slots=True)
class Room:
    """A tensor of static shape that the program allocates."""

    shape: tuple[int, ...]
    dtype: str

    @property
    def size_bytes(self) -> int:
        """The size of its elements in bytes."""
        return math.prod(self.shape) * item_bytes(self.dtype)


class BytecodeFacts:
    """Properties of the functions and instructions of one executable, computed when they are first asked for."""

    def __init__(self, executable: Executable) -> None:
        self.executable = executable
        self._is_plain: dict[int, bool] = {}
        self._fills: dict[int, bool] = {}
        self._orders: dict[int, Order | None] = {}
        self._untransposed: dict[tuple[int, int, Order], bool] = {}

    @cached_property
    def has_devices(self) -> bool:
        """Whether a tensor may be on a device other than the default one; then calls of kernels check the devices."""
        return bool(device_table(self.executable.module)) or any(
            item.name == "vm.builtin.to_device" for item in self.executable.functions
        )

    @cached_property
    def is_closed(self) -> bool:
        """Whether no host function that is called can re-enter the program.

        Only then may generated frames be deoptimised as a group: no host frame stands between them.
        """
        functions = self.executable.functions
        kernels = (number for number, item in enumerate(functions) if item.kind == "kernel")
        return all(
            item.kind != "packed" or (item.name in BUILTINS and item.name not in RE_ENTERING) for item in functions
        ) and not any(_calls(self.prim_func(number)) for number in kernels)

    def kind(self, instruction: Instruction) -> Kind:
        """Classify an instruction."""
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
        """Tell whether a kernel calls no packed functions and need not check the devices of its arguments."""
        if function not in self._is_plain:
            self._is_plain[function] = not self.has_devices and not _calls(self.prim_func(function))
        return self._is_plain[function]

    def prim_func(self, function: int) -> PrimFunc:
        """Return the prim func of a kernel by its index in the function table."""
        return self.executable.kernels[self.executable.functions[function].name]

    def written(self, function: int) -> tuple[int, ...]:
        """Return the positions of the arguments that a kernel writes."""
        return written_params(self.prim_func(function))

    def makes(self, instruction: CallInstruction) -> Register | None:
        """Return the register of the last argument if a kernel writes it alone and gets it only once; else `None`."""
        args = instruction.args
        last = len(args) - 1
        if len(self.prim_func(instruction.function).params) != len(args) or self.written(instruction.function) != (
            last,
        ):
            return None
        output = args[last]
        return output if isinstance(output, Register) and output not in args[:last] else None

    def fills(self, function: int) -> bool:
        """Tell whether a kernel overwrites all of its last argument before it reads any of it.

        Then the tensor may be allocated without being cleared.
        """
        if function not in self._fills:
            prim_func = self.prim_func(function)
            buffer = prim_func.buffer_of(prim_func.params[-1])
            self._fills[function] = buffer is not None and writes_all(prim_func, buffer, MappingProxyType({}))
        return self._fills[function]

    def transposition(self, function: int) -> Order | None:
        """Return how a kernel permutes the axes of its operand, `None` if it does anything else."""
        if function not in self._orders:
            self._orders[function] = transposition_of(self.prim_func(function))
        return self._orders[function]

    def reads_untransposed(self, function: int, position: int, order: Order) -> bool:
        """Tell whether a kernel can read the operand of such a permutation instead of the result."""
        key = function, position, order
        if key not in self._untransposed:
            found = reading_untransposed(self.prim_func(function), position, order, RewriteLog())
            self._untransposed[key] = found is not None
        return self._untransposed[key]

    def storage_bytes(self, instruction: CallInstruction) -> int | None:
        """Return the size of a storage that is static and on the default device, else `None`."""
        match instruction.args:
            case (_, ConstantRef() as shape, Immediate(value=0), ConstantRef() as dtype, *_):
                room = self.room(shape, dtype)
                return None if room is None else room.size_bytes
            case _:
                return None

    def tensor_room(self, instruction: CallInstruction, storages: Mapping[int, int]) -> Room | None:
        """Return the static tensor that `alloc_tensor` makes of the whole of one of `storages`, else `None`."""
        match instruction.args:
            case (Register(index=index), Immediate(value=0), ConstantRef() as shape, ConstantRef() as dtype, *_):
                room = self.room(shape, dtype)
                return room if room is not None and room.size_bytes == storages.get(index, -1) else None
            case _:
                return None

    def dtype(self, argument: ConstantRef) -> str:
        """Return the name of a dtype of the constant pool, "" if it is anything else."""
        found = self.executable.constants[argument.index]
        return found.name if isinstance(found, DTypeConstant) else ""

    def room(self, shape: ConstantRef, dtype: ConstantRef) -> Room | None:
        """Return the tensor of a shape and a dtype of the constant pool, `None` if it is not static."""
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
