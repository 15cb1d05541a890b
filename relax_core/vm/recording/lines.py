"""The line table of an executable: for every instruction its line and whether it starts a binding."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np
import numpy.typing as npt

from relax_core.bytecode.executable import Executable, FunctionEntry
from relax_core.bytecode.isa import CallInstruction
from relax_core.ir.expr import Function

_ENTRY_CHECKS: Final = ("vm.builtin.alloc_shape_heap", "vm.builtin.check_", "vm.builtin.match_", "shape_func")


@dataclass(frozen=True, slots=True, eq=False)
class LineTable:
    """`line_of[pc]` is a line of the text, 0 for none; where `starts_binding[pc]`, a line breakpoint stops.

    The checks of parameters on entry belong to the line of the `def`, also those of captured variables.
    """

    line_of: npt.NDArray[np.int64]
    starts_binding: npt.NDArray[np.bool_]

    @staticmethod
    @lru_cache(maxsize=16)
    def of(executable: Executable) -> "LineTable":
        """Return the table of `executable`; it is kept as long as the latest ones are."""
        lines = [_line(executable, pc) for pc in range(len(executable.instructions))]
        first = {entry.start for entry in executable.functions if entry.kind == "vm"}
        for entry in executable.functions:
            _join_entry_checks(executable, entry, lines)
        starts = (pc in first or (line > 0 and line != lines[pc - 1]) for pc, line in enumerate(lines))
        return LineTable(
            np.fromiter(lines, np.int64, len(lines)),
            np.fromiter(starts, np.bool_, len(lines)),
        )


def _line(executable: Executable, pc: int) -> int:
    span = executable.span_of(pc)
    return span.line if span else 0


def _join_entry_checks(executable: Executable, entry: FunctionEntry, lines: list[int]) -> None:
    span = executable.log.locate(entry.node) if entry.node is not None else None
    if span is None or not isinstance(entry.node, Function):
        return
    places = (executable.log.locate(param) for param in entry.node.params)
    own_lines = {span.line, *(place.line for place in places if place is not None)}
    for pc in range(entry.start, entry.end):
        instruction = executable.instructions[pc]
        if not isinstance(instruction, CallInstruction) or lines[pc] not in own_lines:
            return
        if not executable.functions[instruction.function].name.startswith(_ENTRY_CHECKS):
            return
        lines[pc] = span.line
