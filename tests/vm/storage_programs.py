"""Programs made up at random whose tensors lie over each other in storages, and memory as they should see it.

The model is a bytearray for each storage and a loop over elements for each kernel. It follows the instructions of a
run and knows nothing of the machine but which one came next.
"""

import re
import struct
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final

import numpy as np
from hypothesis import strategies as st

from relax_core.bytecode.executable import DTypeConstant, Executable, ShapeConstant
from relax_core.bytecode.isa import CallInstruction, ConstantRef, Immediate, Register, ReturnInstruction
from relax_core.vm.objects.values import Uninitialised
from relax_core.vm.recording.trace import Trace
from tests.narrow import is_tuple

SIZES: Final[Mapping[str, int]] = MappingProxyType(
    {"int8": 1, "uint8": 1, "bool": 1, "int16": 2, "float16": 2, "int32": 4, "float32": 4, "int64": 8, "float64": 8}
)
WHOLE: Final = ("int8", "uint8", "int16", "int32", "int64")
_CODES: Final[Mapping[str, str]] = MappingProxyType(
    {"int8": "b", "uint8": "B", "int16": "h", "int32": "i", "int64": "q"}
)
_FILLS: Final[Mapping[str, tuple[str, bytes]]] = MappingProxyType(
    {
        "bool": ("T.bool(True)", b"\1"),
        "float16": ("T.float16(1.5)", struct.pack("<e", 1.5)),
        "float32": ("T.float32(-2.5)", struct.pack("<f", -2.5)),
        "float64": ("T.float64(3.5)", struct.pack("<d", 3.5)),
        **{name: (f"T.{name}(77)", struct.pack(f"<{code}", 77)) for name, code in _CODES.items()},
    }
)


_STATEMENTS: Final[Mapping[str, tuple[str, str]]] = MappingProxyType(
    {
        "fill": ("a", "A[i] = {0}"),
        "part": ("a", "if i % 3 == 1:\n                A[i] = {0}"),
        "copy": ("ab", "B[i] = A[i]"),
        "add": ("abc", "C[i] = A[i] + B[i]"),
    }
)


def kernel_text(name: str) -> str:
    """Return the prim func `fill_int8` and the like, for any number of elements."""
    kind, _, dtype = name.partition("_")
    params, statement = _STATEMENTS[kind]
    buffers = "".join(f'        {item.upper()} = T.match_buffer({item}, (n,), "{dtype}")\n' for item in params)
    given = ", ".join(f"{item}: T.handle" for item in params)
    head = f"    @T.prim_func(private=True)\n    def {name}({given}):\n        n = T.int64()\n{buffers}"
    return f"{head}        for i in range(n):\n            {statement.format(_FILLS[dtype][0])}\n\n"


@dataclass(slots=True)
class Tensor:
    """A tensor of the program text."""

    name: str
    dtype: str
    count: int


@dataclass(slots=True)
class Maker:
    """Writes the text of one program."""

    draw: st.DrawFn
    count: int = 0
    storages: list[tuple[str, int]] = field(default_factory=list[tuple[str, int]])

    def name(self, prefix: str) -> str:
        self.count += 1
        return f"{prefix}{self.count}"

    def region(self, tensors: list[Tensor], depth: int, indent: str) -> list[str]:
        """Return some statements; `tensors` grows."""
        lines: list[str] = []
        for _ in range(self.draw(st.integers(1, 5))):
            kind = self.draw(
                st.sampled_from(("tensor", "tensor", "kernel", "kernel", "kernel", "view", "storage", "if"))
            )
            if kind == "storage" or not self.storages:
                lines.append(self.storage())
            elif kind == "tensor" or not tensors:
                lines.append(self.tensor(tensors))
            elif kind == "view":
                lines.append(self.view(tensors))
            elif kind == "if" and depth < 2:
                lines += self.branch(tensors, depth)
            else:
                lines.append(self.kernel(tensors))
        return [indent + line if not line.startswith(" ") else line for line in lines]

    def storage(self) -> str:
        name, size = self.name("s"), self.draw(st.integers(0, 40))
        dtype = self.draw(st.sampled_from(("uint8", "float32", "int16")))
        self.storages.append((name, size))
        return (
            f'{name} = R.memory.alloc_storage(R.shape([{size}]), R.prim_value(0), R.str("global"), R.dtype("{dtype}"))'
        )

    def tensor(self, tensors: list[Tensor]) -> str:
        storage, size = self.draw(st.sampled_from(self.storages))
        dtype = self.draw(st.sampled_from(tuple(SIZES)))
        item = SIZES[dtype]
        offset = self.draw(st.integers(0, size // item)) * item
        count = self.draw(st.integers(0, (size - offset) // item))
        tensors.append(Tensor(self.name("t"), dtype, count))
        where = f'R.prim_value({offset}), R.shape([{count}]), R.dtype("{dtype}"), R.prim_value(0)'
        return f"{tensors[-1].name} = R.memory.alloc_tensor({storage}, {where})"

    def view(self, tensors: list[Tensor]) -> str:
        source = self.draw(st.sampled_from(tensors))
        tensors.append(Tensor(self.name("v"), source.dtype, source.count))
        type_ = f'R.Tensor(({source.count},), dtype="{source.dtype}")'
        given = f"{source.name}, R.shape([{source.count}]), sinfo_args=({type_},)"
        return f'{tensors[-1].name} = R.call_packed("vm.builtin.reshape", {given})'

    def kernel(self, tensors: list[Tensor]) -> str:
        target = self.draw(st.sampled_from(tensors))
        alike = [item for item in tensors if (item.dtype, item.count) == (target.dtype, target.count)]
        kinds = ("fill", "part", "copy", "add") if target.dtype in WHOLE else ("fill", "part", "copy")
        kind = self.draw(st.sampled_from(kinds))
        given = [self.draw(st.sampled_from(alike)).name for _ in range({"copy": 1, "add": 2}.get(kind, 0))]
        return f"cls.{kind}_{target.dtype}({', '.join((*given, target.name))})"

    def branch(self, tensors: list[Tensor], depth: int) -> list[str]:
        chosen = self.draw(st.sampled_from(tensors))
        merged = Tensor(self.name("m"), chosen.dtype, chosen.count)
        lines: list[str] = []
        storages = list(self.storages)
        for head in ("if c:", "else:"):
            known = list(tensors)
            inner = "        " + "    " * (depth + 1)
            lines += [inner[4:] + head, *self.region(known, depth + 1, inner)]
            alike = [item for item in known if (item.dtype, item.count) == (chosen.dtype, chosen.count)]
            lines.append(f"{inner}{merged.name} = {self.draw(st.sampled_from(alike)).name}")
            self.storages[:] = storages
        tensors.append(merged)
        return lines


@st.composite
def storage_programs(draw: st.DrawFn) -> str:
    """Return the statements of a program; its result is a tuple of the tensors that it makes outside of branches."""
    maker, tensors = Maker(draw), list[Tensor]()
    lines = [f"        {maker.storage()}", f"        {maker.tensor(tensors)}", *maker.region(tensors, 0, "        ")]
    lines += maker.region(tensors, 0, "        ")
    return "\n".join((*lines, f"        return ({', '.join(item.name for item in tensors)},)\n"))


def module_text(body: str) -> str:
    """Return the module of a program, with the prim funcs that it calls."""
    kernels = "".join(map(kernel_text, dict.fromkeys(re.findall(r"cls\.(\w+)\(", body))))
    head = '    @R.function\n    def main(c: R.Tensor((), "bool")):\n        R.func_attr({"relax.force_pure": True})\n'
    return f"@I.ir_module\nclass Module:\n{kernels}{head}        cls = Module\n{body}"


@dataclass(slots=True)
class Room:
    """A storage of the model: its bytes, and which of them were written."""

    content: bytearray
    is_written: bytearray


@dataclass(frozen=True, slots=True)
class View:
    """A tensor of the model."""

    room: Room
    offset: int
    dtype: str
    shape: tuple[int, ...]

    @property
    def place(self) -> slice:
        return slice(self.offset, self.offset + SIZES[self.dtype] * int(np.prod(self.shape, dtype=int)))

    def element(self, index: int) -> slice:
        start = self.offset + index * SIZES[self.dtype]
        return slice(start, start + SIZES[self.dtype])

    def read(self, index: int) -> bytes:
        found = bytes(self.room.content[self.element(index)])
        # A truth value in memory is any byte; a kernel that copies it writes 0 or 1.
        return bytes([found[0] != 0]) if self.dtype == "bool" else found

    def write(self, index: int, value: bytes) -> None:
        self.room.content[self.element(index)] = value
        self.room.is_written[self.element(index)] = bytes([1]) * len(value)

    def touch(self) -> None:
        """A kernel may have written any of it; a debugger does not look closer."""
        size = self.place.stop - self.place.start
        self.room.is_written[self.place] = bytes([1]) * size

    @property
    def shown(self) -> bytes | None:
        """The bytes, `None` if nothing was written to them."""
        flags = self.room.is_written[self.place]
        return bytes(self.room.content[self.place]) if any(flags) or not flags else None


@dataclass(slots=True)
class Model:
    """Memory as it should be; `registers` hold views, rooms, tuples of them and `None`."""

    executable: Executable
    fill: int = -1
    """What a new tensor is filled with, -1: it is not, and storages are zero."""
    registers: dict[int, Any] = field(default_factory=dict[int, Any])
    result: Any = None

    def value(self, argument: Any) -> Any:
        match argument:
            case Register(index=index):
                return self.registers.get(index)
            case Immediate(value=value):
                return value
            case ConstantRef(index=index):
                found = self.executable.constants[index]
                match found:
                    case ShapeConstant(values=values):
                        return values
                    case DTypeConstant(name=name):
                        return name
                    case _:
                        return found
            case _:
                return None

    def step(self, pc: int) -> None:
        """Do what the instruction at `pc` does to memory."""
        match self.executable.instructions[pc]:
            case ReturnInstruction(result=result):
                self.result = self.value(result)
            case CallInstruction(function=function, args=args, dst=dst):
                name = self.executable.functions[function].name
                made = self.call(name, [self.value(item) for item in args])
                if isinstance(dst, Register):
                    self.registers[dst.index] = made
            case _:
                pass

    def call(self, name: str, args: list[Any]) -> Any:
        match name.removeprefix("vm.builtin."), args:
            case "alloc_storage", [_, shape, _, dtype, *_]:
                size = int(np.prod(shape, dtype=int)) * SIZES[dtype]
                return Room(bytearray([max(self.fill, 0)]) * size, bytearray(size))
            case "alloc_tensor", [room, offset, shape, dtype]:
                made = View(room, offset, dtype, tuple(shape))
                if self.fill >= 0:
                    size = made.place.stop - made.place.start
                    room.content[made.place] = bytes([self.fill]) * size
                    room.is_written[made.place] = bytes(size)
                return made
            case "reshape", [view, shape]:
                return View(view.room, view.offset, view.dtype, tuple(shape))
            case "copy", [value]:
                return value
            case "make_tuple", fields:
                return tuple(fields)
            case kernel, [*given, target] if kernel.partition("_")[0] in ("fill", "part", "copy", "add"):
                self.kernel(kernel.partition("_")[0], given, target)
                return None
            case _:
                return None

    def kernel(self, kind: str, given: list[View], target: View) -> None:
        target.touch()
        for index in range(int(np.prod(target.shape, dtype=int))):
            match kind:
                case "fill":
                    target.write(index, _FILLS[target.dtype][1])
                case "part":
                    if index % 3 == 1:
                        target.write(index, _FILLS[target.dtype][1])
                case "copy":
                    target.write(index, given[0].read(index))
                case _:
                    code, bits = f"<{_CODES[target.dtype]}", 8 * SIZES[target.dtype]
                    total = sum(int.from_bytes(item.read(index), "little") for item in given) % (1 << bits)
                    target.write(index, total.to_bytes(struct.calcsize(code), "little"))


def shown_differently(model: Model, trace: Trace, time: int) -> list[str]:
    """Tell where what the trace shows of registers at a time is not what the model holds."""
    found: list[str] = []
    for register, value in enumerate(trace.registers_at(time, 0)):
        expected = model.registers.get(register)
        if isinstance(expected, View | tuple):
            found += [f"%{register} at {time}: {words}" for words in differences(expected, value)]
    return found


def differences(expected: Any, value: Any) -> list[str]:
    """Tell where a value is not what the model says."""
    if is_tuple(expected):
        return [words for one, other in zip(expected, value, strict=True) for words in differences(one, other)]
    if not isinstance(expected, View):
        return []
    if isinstance(value, Uninitialised):
        same = expected.shown is None and value.shape == expected.shape and value.dtype == expected.dtype
    else:
        same = (value.tobytes(), str(value.dtype), value.shape) == (expected.shown, expected.dtype, expected.shape)
    return [] if same else [f"{value!r}, expected {expected.shown!r} {expected.dtype}"]
