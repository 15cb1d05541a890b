"""Debug locations in LLVM IR: the statement that each instruction stems from, through all optimisations.

A location's line is the number of a place plus one; LLVM carries it along, and prints it in its IR as a reference
and in assembly as `.loc`. Optimisations do not depend on it.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import dropwhile

from relax_core.ir.node import Node

FIRST_LOCATION = 1000
# How far the numbers of one function's locations are from those of the function before it.
FUNCTION_STEP = 1_000_000
_SUBPROGRAM = FIRST_LOCATION - 1
_UNIT, _FLAG, _FILE, _TYPE, _NOTHING = range(FIRST_LOCATION - 6, _SUBPROGRAM)

_REFERENCE = re.compile(r",? !dbg !(\d+)")
_MARK = re.compile(r"!dbg !(\d+)")
_LOCATION = re.compile(r"^!(\d+) = (?:distinct )?!DILocation\(line: (\d+)")
_ASSEMBLY_LOCATION = re.compile(r"^\s*\.loc\s+\d+\s+(\d+)")
_ASSEMBLY_METADATA = re.compile(r"^\s*\.(?:loc|file|cfi_\w+|section\s+\.debug\w*)\b|^\.L(?:tmp|func_|debug_)")
_HEADER = re.compile(r"^(?:; ModuleID|source_filename|target )")
_LABEL = re.compile(r"^[\w.$]+:")


@dataclass(frozen=True, slots=True)
class Origin:
    """What instructions stem from: a statement, or the check of an access."""

    node: Node
    is_check: bool = False


@dataclass(frozen=True, slots=True)
class PlacedLine:
    """A line of IR or assembly, and the number of the place that it stems from, `None` if it has none."""

    text: str
    place: int | None


def location_mark(place: int) -> str:
    """Return what marks an instruction as one that stems from a place."""
    return f", !dbg !{FIRST_LOCATION + place}"


def function_mark(number: int = 0) -> str:
    """Return what marks the function of this number as one that has marked instructions."""
    return f" !dbg !{_SUBPROGRAM + number * FUNCTION_STEP}"


def moved_marks(text: str, number: int) -> str:
    """Return instructions with their marks as those of the function of this number, which were made for 0."""
    return _MARK.sub(lambda match: f"!dbg !{int(match[1]) + number * FUNCTION_STEP}", text)


def location_metadata(place_count: int, function_count: int = 1) -> list[str]:
    """Return what the marks in so many functions stand for."""
    unit = f"language: DW_LANG_C, file: !{_FILE}, isOptimized: true, runtimeVersion: 0, emissionKind: LineTablesOnly"
    subprogram = f'name: "body", file: !{_FILE}, line: 1, type: !{_TYPE}, unit: !{_UNIT}, spFlags: DISPFlagDefinition'
    return [
        f"!llvm.dbg.cu = !{{!{_UNIT}}}",
        f"!llvm.module.flags = !{{!{_FLAG}}}",
        f"!{_UNIT} = distinct !DICompileUnit({unit})",
        f'!{_FLAG} = !{{i32 2, !"Debug Info Version", i32 3}}',
        f'!{_FILE} = !DIFile(filename: "kernel", directory: "")',
        f"!{_TYPE} = !DISubroutineType(types: !{_NOTHING})",
        f"!{_NOTHING} = !{{}}",
        *(
            f"!{_SUBPROGRAM + number * FUNCTION_STEP} = distinct !DISubprogram({subprogram})"
            for number in range(function_count)
        ),
        *(
            f"!{FIRST_LOCATION + step + place} = !DILocation(line: {place + 1}, scope: !{_SUBPROGRAM + step})"
            for step in range(0, function_count * FUNCTION_STEP, FUNCTION_STEP)
            for place in range(place_count)
        ),
    ]


def placed_ir(text: str) -> tuple[PlacedLine, ...]:
    """Read the places off LLVM IR; the marks, the module's header and what follows the last function are left out."""
    lines = text.splitlines()
    place_of = {
        int(match[1]): int(match[2]) - 1 for match in map(_LOCATION.match, lines) if match is not None and int(match[2])
    }
    end = max((number for number, line in enumerate(lines) if line.startswith("}")), default=len(lines) - 1)
    placed = (_placed(line, place_of) for line in lines[: end + 1] if not _HEADER.match(line))
    return tuple(dropwhile(lambda line: not line.text, placed))


def _placed(line: str, place_of: Mapping[int, int]) -> PlacedLine:
    match = None if line.startswith("define") else _REFERENCE.search(line)
    return PlacedLine(_REFERENCE.sub("", line), None if match is None else place_of.get(int(match[1])))


def placed_assembly(text: str) -> tuple[PlacedLine, ...]:
    """Read the places off assembly; directives of debug information, and sections of it, are left out."""
    found: list[PlacedLine] = []
    place: int | None = None
    for line in _code_lines(text.splitlines()):
        location = _ASSEMBLY_LOCATION.match(line)
        if location is not None:
            place = int(location[1]) - 1 if int(location[1]) else None
        elif _LABEL.match(line):
            is_function = not line.startswith(".")
            place = None if is_function else place
            if not _ASSEMBLY_METADATA.match(line):
                found.append(PlacedLine(line, None))
        elif not _ASSEMBLY_METADATA.match(line):
            is_directive = line.lstrip().startswith((".", "#"))
            found.append(PlacedLine(line, None if is_directive else place))
    return tuple(found)


def _code_lines(lines: Sequence[str]) -> list[str]:
    """Leave out the sections that hold debug information."""
    kept: list[str] = []
    is_debug = False
    for line in lines:
        if line.lstrip().startswith((".section", ".text")):
            is_debug = ".debug" in line or ".note" in line
        if not is_debug:
            kept.append(line)
    return kept
