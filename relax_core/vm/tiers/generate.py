"""Compile the bytecode of a function to a Python function.

The text that is compiled follows from the bytecode alone: names are made of numbers, and the constants of the program
are objects in the namespace. No text of the user's program is in it.
"""

from dataclasses import dataclass
from types import CodeType, FunctionType

from relax_core.bytecode.executable import FunctionEntry
from relax_core.vm.tiers.events import EventWriter
from relax_core.vm.tiers.link import Linker
from relax_core.vm.tiers.structure import structure
from relax_core.vm.tiers.writer import Text, Writer


@dataclass(frozen=True, slots=True, eq=False)
class Generated:
    """The generated code of the VM function `index`, and its text, which maps lines to instructions."""

    index: int
    entry: FunctionEntry
    text: Text
    function: FunctionType

    def pc(self, line: int) -> int:
        """Return the instruction of a line (from 1), counted from the start of the function."""
        return max(self.text.pcs[line - 1], 0)


def generate(linker: Linker, index: int, entry: FunctionEntry, log: EventWriter | None) -> Generated:
    """Generate the code of a VM function.

    Raises:
        UnstructuredError: its jumps cannot be written as branches.
    """
    text = Writer(linker, entry, log).write(structure(linker.facts.executable, entry))
    return Generated(index, entry, text, function_of("\n".join(text.lines), linker))


def function_of(text: str, linker: Linker) -> FunctionType:
    """Compile the definition of one function; its globals are the linker's namespace."""
    module = compile(text, "<bytecode>", "exec", dont_inherit=True)
    code = next(item for item in module.co_consts if isinstance(item, CodeType))
    return FunctionType(code, linker.names.namespace)
