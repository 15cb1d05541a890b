"""Where in a stage a value is another one: the function whose change does it, and the first binding that shows it."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from relax_core.bytecode.executable import Executable
from relax_core.diagnostics import DiagnosedError, Diagnostic
from relax_core.engine.debug.bisect import Call, Finding, RunMachine
from relax_core.engine.debug.differences import compare_arrays
from relax_core.engine.debug.intermediates import Intermediate, intermediates
from relax_core.engine.debug.tolerance import RELATIVE_OF, Difference, Tolerance
from relax_core.engine.debug.verdicts import listed
from relax_core.ir.equality import structural_equal
from relax_core.ir.tir import PrimFunc
from relax_core.vm.objects.convert import own_copies
from relax_core.vm.recording.trace import Trace
from relax_core.vm.virtual_machine import entry_arguments

MACHINE_MADE: Final = re.compile(r"_|(?:lv|gv|alloc|storage|shape_heap|cse_v|ret|param)_?\d*")
"""Names that passes give: each numbers them anew, so that one name stands for several values."""
COARSE: Final = 100
COARSEST: Final = 0.1
_CUT: Final = 100


def recorded(executable: Executable, call: Call, record: RunMachine) -> Trace | None:
    """Record a run; `None` if it takes other arguments, or ends early."""
    try:
        trace = record(executable, own_copies(entry_arguments(executable, call.entry, call.args)))
    except DiagnosedError:
        return None
    return trace if trace.error is None else None


def values_of(trace: Trace | None) -> tuple[Intermediate, ...]:
    """Return the values of the bindings of a run, none if they are too large together."""
    if trace is None:
        return ()
    try:
        return intermediates(trace)
    except DiagnosedError:
        return ()


def first_other(
    was: Sequence[Intermediate], now: Sequence[Intermediate], *, is_aligned: bool, is_coarse: bool = False
) -> tuple[Intermediate, Difference] | None:
    """Return the first binding with another value, and by how much.

    With `is_aligned` both runs bind the same variables in the same order. Otherwise they are compared by name, those
    that both have and that no pass made up.
    """
    pairs = zip(was, now, strict=False) if is_aligned else _by_name(was, now)
    for before, after in pairs:
        if tuple(before.arrays) != tuple(after.arrays):
            if is_aligned:
                return None
            continue
        for name, array in before.arrays.items():
            other = after.arrays[name]
            if array.shape != other.shape or array.dtype != other.dtype:
                continue
            found = compare_arrays(name, array, other, scaled(array, is_coarse=is_coarse))
            if found.verdict == "different":
                return after, found
    return None


def _by_name(was: Sequence[Intermediate], now: Sequence[Intermediate]) -> Iterator[tuple[Intermediate, Intermediate]]:
    known = {item.name: item for item in was if MACHINE_MADE.fullmatch(item.variable) is None}
    return ((known[item.name], item) for item in now if item.name in known)


def scaled(array: "np.ndarray[tuple[int, ...], np.dtype[np.generic]]", *, is_coarse: bool) -> Tolerance:
    """Return a tolerance for values inside a program: relative to the largest, for sums may cancel.

    A coarse one allows what rounding comes to over many layers.
    """
    relative = RELATIVE_OF.get(str(array.dtype), 0.0)
    if is_coarse:
        relative = min(COARSE * relative, COARSEST)
    if not relative or not array.size:
        return Tolerance()
    with np.errstate(all="ignore"):
        sizes = np.abs(np.asarray(array, np.float64))
    finite = sizes[np.isfinite(sizes)]
    share = 1 if is_coarse else 0.1
    return Tolerance(relative, relative * share * max(float(finite.max()) if finite.size else 1.0, 1e-30))


def changed_functions(before: Mapping[str, PrimFunc], after: Mapping[str, PrimFunc]) -> tuple[str, ...]:
    """Return the names of the functions that are not what they were."""
    return tuple(name for name, item in after.items() if name in before and not structural_equal(item, before[name]))


def kernel_words(trace: Trace, found: tuple[Intermediate, Difference]) -> str:
    """Say which call wrote the first other value, and what it is."""
    binding, difference = found
    name = trace.executable.kernel_at(int(trace.pcs[binding.time - 1])) if binding.time else ""
    writer = f", which `{name}` writes" if name else ""
    return f"the first other value is `{binding.name}`{writer}: {difference.words}"


def binding_finding(text: str, found: tuple[Intermediate, Difference]) -> Finding:
    """Say which binding of a text has another value, with its line."""
    binding, difference = found
    shown = _shown_line(text, binding.line)
    at = f" in line {binding.line}, `{shown}`" if shown else ""
    words = f"the first other value is `{binding.name}`{at}: {difference.words}"
    return Finding(words, binding.line if shown else 0)


def mistake_finding(text: str, mistake: Diagnostic) -> Finding:
    """Say where in a text that a pass made its mistake is."""
    line = 0 if mistake.span is None else mistake.span.line
    shown = _shown_line(text, line)
    return Finding(f"the mistake is in line {line}, `{shown}`", line) if shown else Finding()


def _shown_line(text: str, number: int) -> str:
    """Return a line of a text, cut if it is long; "" if there is none."""
    lines = text.split("\n")
    line = lines[number - 1].strip() if 0 < number <= len(lines) else ""
    return line if len(line) <= _CUT else f"{line[: _CUT - 1]}…"


def function_finding(names: Sequence[str], before: Mapping[str, PrimFunc], after: Mapping[str, PrimFunc]) -> Finding:
    """Say in which functions the difference is, with their lines in the two texts."""
    parts: list[str] = []
    line = 0
    for name in names:
        lines = [item.span.line if item.span is not None else 0 for item in (after[name], before[name])]
        where = f" (line {lines[0]}; line {lines[1]} before)" if all(lines) else ""
        line = line or (lines[0] if all(lines) else 0)
        parts.append(f"`{name}`{where}")
    return Finding(f"in {listed(parts)}" if parts else "", line)


def with_kernels(executable: Executable, kernels: Mapping[str, PrimFunc]) -> Executable:
    """Return `executable` with other prim funcs in the places of those of the same name."""
    return replace(executable, kernels={**executable.kernels, **kernels})
