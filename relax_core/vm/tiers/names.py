"""The names in generated code: registers, and objects in the namespace of one machine's code.

Every name is built from numbers here; no text of a user's program becomes a name.
"""

from collections.abc import Callable
from typing import Any

from relax_core.bytecode.executable import Executable
from relax_core.bytecode.isa import Argument, ConstantRef, FunctionRef, Immediate, Register, Special
from relax_core.vm.decode import pool_value
from relax_core.vm.objects.values import Closure, Value


class Names:
    """The namespace of the code of one machine.

    `scalar_tensors` are the registers that certainly hold a tensor of rank 0, or a truth value. `buffers` are the
    preallocated tensors; the first has place -1, the next -2.
    """

    def __init__(self, executable: Executable, namespace: dict[str, Any]) -> None:
        self.executable = executable
        self.namespace = namespace
        self.scalar_tensors: set[int] = set()
        self.buffers: list[str] = []
        self.place_of: dict[str, int] = {}
        self._added: dict[tuple[str, object], str] = {}

    def add(self, value: Any, prefix: str, key: object = None) -> str:
        """Return the name of an object: one name per `key`, which by default is the object's identity."""
        known = (prefix, id(value) if key is None else key)
        if known not in self._added:
            name = self._added[known] = f"{prefix}{len(self._added)}"
            self.namespace[name] = value
        return self._added[known]

    def made(self, prefix: str, key: object, make: Callable[[str], Any]) -> str:
        """Return the name of the object of `key`, which `make` builds at first from its name."""
        known = (prefix, key)
        if known not in self._added:
            name = self._added[known] = f"{prefix}{len(self._added)}"
            self.namespace[name] = make(name)
        return self._added[known]

    def constant(self, argument: ConstantRef) -> Value:
        """Return the value of a constant in the pool."""
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
