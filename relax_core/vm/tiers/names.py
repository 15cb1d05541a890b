"""The names that generated code uses: registers, and what stands for itself in the namespace of a machine's code.

All names are made here, of numbers; nothing of the user's text becomes a name.
"""

from collections.abc import Callable
from typing import Any

from relax_core.bytecode.executable import Executable
from relax_core.bytecode.isa import Argument, ConstantRef, FunctionRef, Immediate, Register, Special
from relax_core.vm.decode import pool_value
from relax_core.vm.values import Closure, Value


class Names:
    """The namespace of the code of one machine.

    `scalar_tensors` are registers that hold a tensor of rank 0 for sure. `buffers` are tensors that stay; the place
    of the first is -1, that of the next -2.
    """

    def __init__(self, executable: Executable, namespace: dict[str, Any]) -> None:
        self.executable = executable
        self.namespace = namespace
        self.scalar_tensors: set[int] = set()
        self.buffers: list[str] = []
        self.place_of: dict[str, int] = {}
        self._added: dict[tuple[str, object], str] = {}

    def add(self, value: Any, prefix: str, key: object = None) -> str:
        """Return the name of an object; the same for the same `key`, by default its identity."""
        known = (prefix, id(value) if key is None else key)
        if known not in self._added:
            name = self._added[known] = f"{prefix}{len(self._added)}"
            self.namespace[name] = value
        return self._added[known]

    def made(self, prefix: str, key: object, make: Callable[[str], Any]) -> str:
        """Return the name for `key`; what it stands for is made at first, and told its name."""
        known = (prefix, key)
        if known not in self._added:
            name = self._added[known] = f"{prefix}{len(self._added)}"
            self.namespace[name] = make(name)
        return self._added[known]

    def constant(self, argument: ConstantRef) -> Value:
        """Return the value of a constant of the pool."""
        return pool_value(self.executable.constants[argument.index])

    def argument(self, argument: Argument) -> str:
        """Return the expression for an argument of an instruction."""
        match argument:
            case Register(index=index):
                return f"r{index}" if index >= 0 else self.buffers[-index - 1]
            case Immediate(value=value):
                return repr(value) if value >= 0 else f"({value!r})"
            case ConstantRef(index=index):
                return self.add(self.constant(argument), "constant", index)
            case FunctionRef(index=index):
                return self.add(Closure(index, self.executable.functions[index].name), "reference", index)
            case Special(name=name):
                return "None" if name == "void" else "MACHINE"

    def tuple_of(self, args: tuple[Argument, ...]) -> str:
        """Return the expression for a tuple of arguments."""
        return f"({''.join(f'{self.argument(item)}, ' for item in args)})"
