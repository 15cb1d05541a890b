"""Where a compiled function has its symbolic dimensions: as axes of which registers."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType

from relax_core.bytecode.executable import Executable, FunctionEntry
from relax_core.bytecode.isa import Argument, CallInstruction, Immediate, Register
from relax_core.check.infer import infer
from relax_core.ir.expr import PrimType, ShapeType, TensorType, Type, Var
from relax_core.ir.prim import PrimVar
from relax_core.vm.builtin.heap import STORE

_LOADED = 1
"""The code of a dimension that `make_shape` takes from the heap."""


@lru_cache(maxsize=16)
def dimension_places(executable: Executable, number: int) -> Mapping[str, tuple[tuple[int, int], ...]]:
    """Return which registers of a function have each symbolic dimension, and as which axis.

    The axis of a value that is a dimension itself is -1. Types have lost the dimensions that lowering put on the heap
    of shapes: they are those of the shape that `make_shape` took from there.
    """
    entry = executable.functions[number]
    types = infer(executable.module).types
    type_of = {
        register: types.get(var, var.annotation) for register, var in enumerate(entry.register_vars) if var is not None
    }
    symbols = defaultdict(dict[int, str], {register: dict(_symbols(type_)) for register, type_ in type_of.items()})
    for name, args, into in _calls(executable, entry):
        match name, args:
            case "vm.builtin.copy", (Register(value),):
                # What is matched with a type has that under its new name.
                symbols[value] |= symbols[into]
            case _:
                pass
    made = _made_shapes(executable, entry, symbols)
    found: dict[str, list[tuple[int, int]]] = {}
    for register, type_ in type_of.items():
        axes = _symbols(type_)
        if isinstance(type_, TensorType) and isinstance(type_.shape, Var):
            axes = made.get(type_.shape, ())
        for axis, symbol in axes:
            found.setdefault(symbol, []).append((register, axis))
    return MappingProxyType({symbol: tuple(places) for symbol, places in found.items()})


def _made_shapes(
    executable: Executable, entry: FunctionEntry, symbols: Mapping[int, Mapping[int, str]]
) -> Mapping[Var, tuple[tuple[int, str], ...]]:
    """Return the axes that are dimensions of the shapes that a function makes, by the variables of their registers.

    `symbols` are those in the types of its registers, by their axes.
    """
    slots: dict[int, str] = {}
    made: dict[Var, tuple[tuple[int, str], ...]] = {}
    for name, args, into in _calls(executable, entry):
        match name, args:
            case "vm.builtin.match_shape", (Register(value), _, _, *rest):
                slots |= {slot: symbols[value][axis] for axis, slot in _slots(rest, STORE) if axis in symbols[value]}
            case "vm.builtin.match_prim_value", (Register(value), _, *rest):
                slots |= {slot: symbols[value][-1] for _, slot in _slots(rest, STORE) if -1 in symbols[value]}
            case "vm.builtin.make_shape", (_, _, *rest) if (var := _variable(entry, into)) is not None:
                made[var] = tuple((axis, slots[slot]) for axis, slot in _slots(rest, _LOADED) if slot in slots)
            case _:
                pass
    return made


def _calls(executable: Executable, entry: FunctionEntry) -> Iterator[tuple[str, tuple[Argument, ...], int]]:
    """Yield the calls of a function: what is called, the arguments, the register of the result, -1 for none."""
    for instruction in executable.instructions[entry.start : entry.end]:
        if isinstance(instruction, CallInstruction):
            into = instruction.dst.index if isinstance(instruction.dst, Register) else -1
            yield executable.functions[instruction.function].name, instruction.args, into


def _variable(entry: FunctionEntry, register: int) -> Var | None:
    return entry.register_vars[register] if 0 <= register < len(entry.register_vars) else None


def _slots(args: Sequence[Argument], wanted: int) -> Iterator[tuple[int, int]]:
    """Yield the axes whose pair of code and operand has the code `wanted`, with the operand."""
    for axis, pair in enumerate(zip(args[::2], args[1::2], strict=False)):
        match pair:
            case Immediate(code), Immediate(slot) if code == wanted:
                yield axis, slot
            case _:
                pass


def _symbols(type_: Type | None) -> tuple[tuple[int, str], ...]:
    match type_:
        case TensorType(dims=tuple() as dims) | ShapeType(values=tuple() as dims):
            return tuple((axis, dim.name) for axis, dim in enumerate(dims) if isinstance(dim, PrimVar))
        case PrimType(value=PrimVar(name=name)):
            return ((-1, name),)
        case _:
            return ()
