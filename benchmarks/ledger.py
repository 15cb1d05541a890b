"""The ledger of constructs: which are read, printed, typed and run, and what is refused:  python -m benchmarks ledger.

`ledger.toml` holds one small program for each construct of the text formats, with the number of its uses in real
programs. The status is 1 if a program crashes, or is refused by a diagnostic that names no part of it.
"""

import io
import re
import sys
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Literal

import numpy as np

import relax_core as rc
from relax_core.diagnostics import DiagnosedError, Diagnostic, has_errors
from relax_core.engine.inputs import generate
from relax_core.frontend.parse import parse_text
from relax_core.ir.equality import first_difference
from relax_core.ir.expr import Function
from relax_core.ir.module import IRModule
from relax_core.ir.prim import IntImm, PrimExpr
from relax_core.ir.tir import PrimFunc
from relax_core.jit.engine import Engine
from relax_core.printer.spelling import Spelling

DATA = Path(__file__).with_suffix(".toml")
Step = Literal["read", "printed", "inferred", "run"]
STEPS: tuple[Step, ...] = ("read", "printed", "inferred", "run")
# The years whose words a program is printed in; what is only of 2023 or later is not printed in those of 2022.
SPELLINGS: Mapping[str, tuple[Spelling, ...]] = MappingProxyType(
    {"A": ("2022", "2023", "2026"), "C": ("2026", "2023"), "TIR": ("2026", "2023", "2022"), "Relay": ("2026",)}
)
FUEL = 1_000_000
SIZE = 4
_QUOTED = re.compile(r"`([^`]+)`|@([\w.]+)")
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Entry:
    """A construct with its program; `uses` and `programs` are counts in real programs, 0 if they are not known."""

    section: str
    dialect: str
    name: str
    text: str
    uses: int
    programs: int


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a step was not reached: the first diagnostic, or what our own code raised."""

    step: Step
    code: str
    message: str
    is_named: bool


@dataclass(frozen=True, slots=True)
class ConstructOutcome:
    """The steps that an entry passes, and what refused it at one of the others."""

    entry: Entry
    passed: frozenset[Step]
    refusals: tuple[Refusal, ...]

    @property
    def is_sound(self) -> bool:
        """Tell whether every refusal names what it refuses."""
        return all(item.is_named for item in self.refusals)


def entries() -> Iterator[Entry]:
    """Read the entries of the data file, in order."""
    for section in tomllib.loads(DATA.read_text(encoding="utf-8"))["section"]:
        frame = section["frame"].strip("\n") + "\n"
        for name, (fragment, uses, programs) in section["constructs"].items():
            yield Entry(section["title"], section["dialect"], name, framed(frame, fragment), uses, programs)


def framed(frame: str, fragment: str) -> str:
    """Put a fragment in the place of `{}`; its lines take the indentation of that line."""
    line = next(item for item in frame.split("\n") if "{}" in item)
    indent = line[: len(line) - len(line.lstrip())]
    return frame.replace("{}", fragment.replace("\n", "\n" + indent))


def measure(entry: Entry) -> ConstructOutcome:
    """Take a program through all steps; each that can be tried is, whatever the others gave."""
    name = "ledger.relay" if entry.dialect == "Relay" else "ledger.py"
    parsed = parse_text(entry.text, name)
    if has_errors(parsed.diagnostics) or not parsed.modules:
        return ConstructOutcome(entry, frozenset(), (_refusal("read", entry, parsed.diagnostics),))
    module = parsed.modules[0]
    passed: set[Step] = {"read"}
    refusals: list[Refusal] = []
    tries: tuple[tuple[Step, Callable[[IRModule], Sequence[Diagnostic]]], ...] = (
        ("printed", partial(_printed, dialect=entry.dialect)),
        ("inferred", _inferred),
        ("run", _run),
    )
    for step, attempt in tries:
        diagnostics = attempt(module)
        if any(item.severity == "error" for item in diagnostics):
            refusals.append(_refusal(step, entry, diagnostics))
        else:
            passed.add(step)
    return ConstructOutcome(entry, frozenset(passed), tuple(refusals))


def _refusal(step: Step, entry: Entry, diagnostics: Sequence[Diagnostic]) -> Refusal:
    """Describe the first error; it names the construct if it quotes a part of the program or its signs."""
    errors = [item for item in diagnostics if item.severity == "error"]
    if not errors:
        return Refusal(step, "", "no module and no diagnostic", is_named=False)
    first = errors[0]
    quoted = [a or b for a, b in _QUOTED.findall(first.message)]
    words = {word for item in quoted for word in _WORD.findall(item)} or set(_WORD.findall(first.message))
    is_located = first.span is not None or step == "run"
    return Refusal(step, first.code, first.message, is_located and any(word in entry.text for word in words))


def _printed(module: IRModule, dialect: str) -> Sequence[Diagnostic]:
    """Print in every spelling of the dialect, and read back."""
    for spelling in SPELLINGS[dialect]:
        again = parse_text(rc.script(module, spelling=spelling), f"again.{'relay' if dialect == 'Relay' else 'py'}")
        if has_errors(again.diagnostics):
            return again.diagnostics
        difference = first_difference(module, again.modules[0])
        if difference is not None:
            return (Diagnostic("", f"{spelling}: {difference.path}: {difference.message}"),)
    return ()


def _inferred(module: IRModule) -> Sequence[Diagnostic]:
    return rc.check(module)


def _run(module: IRModule) -> Sequence[Diagnostic]:
    """Run the function `main` on made-up arguments; what it prints is dropped."""
    try:
        function = module["main"]
        if isinstance(function, PrimFunc):
            functions = {var.name: item for var, item in module.prim_funcs}
            kernel = Engine(fuel=FUEL).kernel(function, "main", functions=functions)
            kernel(*_arguments(function))
        else:
            assert isinstance(function, Function)
            with redirect_stdout(io.StringIO()):
                rc.VirtualMachine(rc.build(module))["main"](*generate(function, 0, {}))
    except DiagnosedError as error:
        return error.diagnostics
    return ()


def _arguments(function: PrimFunc) -> Iterator[object]:
    for param in function.params:
        buffer = function.buffer_of(param)
        if buffer is None:
            yield 1.0 if param.dtype.startswith("float") else 0 if param.dtype == "handle" else 2
        else:
            yield np.ones([_size(dim) for dim in buffer.shape], buffer.dtype)


def _size(dim: PrimExpr) -> int:
    return dim.value if isinstance(dim, IntImm) else SIZE


@dataclass(frozen=True, slots=True)
class Count:
    """How many constructs of a group there are and how many pass each step; likewise weighted by their uses."""

    name: str
    total: int
    passed: tuple[int, ...]
    uses: int
    used: tuple[int, ...]


def count(name: str, outcomes: Sequence[ConstructOutcome]) -> Count:
    """Count the outcomes of a group."""
    passed = tuple(sum(step in item.passed for item in outcomes) for step in STEPS)
    used = tuple(sum(item.entry.uses for item in outcomes if step in item.passed) for step in STEPS)
    return Count(name, len(outcomes), passed, sum(item.entry.uses for item in outcomes), used)


def counts(outcomes: Sequence[ConstructOutcome]) -> tuple[Count, ...]:
    """Count by section, by dialect, and all."""
    sections = dict.fromkeys(item.entry.section for item in outcomes)
    dialects = dict.fromkeys(item.entry.dialect for item in outcomes)
    return (
        *(count(name, [item for item in outcomes if item.entry.section == name]) for name in sections),
        *(count(f"dialect {name}", [item for item in outcomes if item.entry.dialect == name]) for name in dialects),
        count("all", outcomes),
    )


def show(outcomes: Sequence[ConstructOutcome]) -> str:
    """Print the counts, the coverage by use, and what is refused."""
    lines = [f"{'':52}{'constructs':>10}" + "".join(f"{step:>10}" for step in STEPS) + "   by use: " + ", ".join(STEPS)]
    for item in counts(outcomes):
        shares = ", ".join(f"{100 * used / item.uses:.1f}%" for used in item.used) if item.uses else "-"
        numbers = "".join(f"{number:>10}" for number in item.passed)
        lines.append(f"{item.name:52}{item.total:>10}{numbers}   {shares}")
    for step in STEPS:
        refused = [(item.entry, why) for item in outcomes for why in item.refusals if why.step == step]
        lines += ["", f"not {step}: {len(refused)}"]
        lines += [_line(entry, why) for entry, why in refused]
    return "\n".join(lines)


def _line(entry: Entry, why: Refusal) -> str:
    mark = "" if why.is_named else "  NOT NAMED"
    return f"  {entry.dialect:6}{entry.name:44} {why.code:6} {' '.join(why.message.split())[:150]}{mark}"


def main() -> int:
    """Measure and print; the status is 1 if a refusal names nothing. A crash ends in a traceback."""
    outcomes = [measure(item) for item in entries()]
    sys.stdout.write(show(outcomes) + "\n")
    return 0 if all(item.is_sound for item in outcomes) else 1


if __name__ == "__main__":
    sys.exit(main())
