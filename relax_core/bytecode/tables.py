"""The constant pool and the function table while a module is compiled."""

from dataclasses import dataclass, field

import numpy as np

from relax_core.bytecode.executable import DTypeConstant, FunctionEntry, PoolConstant, ShapeConstant, frozen
from relax_core.bytecode.isa import ConstantRef
from relax_core.ir.expr import Function
from relax_core.ir.module import BaseFunc, IRModule
from relax_core.ir.tir import PrimFunc


@dataclass(slots=True)
class ConstantPool:
    """Constants in order of first use, each once."""

    values: list[PoolConstant] = field(default_factory=list[PoolConstant])
    index_of: dict[object, int] = field(default_factory=dict[object, int])

    def add(self, value: PoolConstant) -> ConstantRef:
        """Return the place of `value`, which is added if it is not there."""
        key = _key(value)
        if key not in self.index_of:
            self.index_of[key] = len(self.values)
            self.values.append(frozen(value) if isinstance(value, np.ndarray) else value)
        return ConstantRef(self.index_of[key])


def _key(value: PoolConstant) -> object:
    """A value that is equal for equal constants only: 1, 1.0 and True differ, and so do 0.0 and -0.0."""
    match value:
        case np.ndarray():
            return "tensor", str(value.dtype), value.shape, value.tobytes()
        case float():
            return "float", value.hex()
        case DTypeConstant(name=name):
            return "dtype", name
        case ShapeConstant(values=values):
            return "shape", values
        case _:
            return type(value).__name__, value


@dataclass(slots=True)
class FunctionTable:
    """The functions that are defined or referred to, in order of first mention."""

    module: IRModule
    entries: list[FunctionEntry] = field(default_factory=list[FunctionEntry])
    index_of: dict[str, int] = field(default_factory=dict[str, int])
    _function_of: dict[str, BaseFunc] = field(init=False)

    def __post_init__(self) -> None:
        # The first of a name is the one that is meant.
        self._function_of = {item.var.name: item.function for item in reversed(self.module.definitions)}

    def function(self, name: str) -> BaseFunc | None:
        """Return the function of the module that is called `name`, `None` if it has none."""
        return self._function_of.get(name)

    def refer(self, name: str) -> int:
        """Return the index of the function called `name`; a global of the module goes before a packed function."""
        if name not in self.index_of:
            self.index_of[name] = len(self.entries)
            self.entries.append(self._declared(name))
        return self.index_of[name]

    def _declared(self, name: str) -> FunctionEntry:
        match self.function(name):
            case Function() as function:
                return FunctionEntry("vm", name, param_count=len(function.params), node=function)
            case PrimFunc() as function:
                return FunctionEntry("kernel", name, param_count=len(function.params), node=function)
            case _:
                return FunctionEntry("packed", name)

    def define(self, entry: FunctionEntry) -> None:
        """Complete the entry of a function that is compiled."""
        self.entries[self.refer(entry.name)] = entry
