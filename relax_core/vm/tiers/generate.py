"""From the bytecode of a function to a Python function.

The text that is compiled is made of the bytecode alone: names are numbers of registers and of objects, constants of the
program are objects in the namespace. No text of the user is in it.
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
    """The code of a VM function, an index into the function table, with its lines and the instructions they are of."""

    index: int
    entry: FunctionEntry
    text: Text
    function: FunctionType

    def pc(self, line: int) -> int:
        """Return the instruction of a line, counted from the start of the function."""
        return max(self.text.pcs[line - 1], 0)


def generate(linker: Linker, index: int, entry: FunctionEntry, log: EventWriter | None) -> Generated:
    """Generate the code of a VM function.

    Raises:
        UnstructuredError: its jumps cannot be written as branches.
    """
    text = Writer(linker, entry, log).write(structure(linker.facts.executable, entry))
    return Generated(index, entry, text, function_of("\n".join(text.lines), linker))


def function_of(text: str, linker: Linker) -> FunctionType:
    """Compile the definition of one function, which sees the linker's namespace."""
    module = compile(text, "<bytecode>", "exec", dont_inherit=True)
    code = next(item for item in module.co_consts if isinstance(item, CodeType))
    return FunctionType(code, linker.names.namespace)
