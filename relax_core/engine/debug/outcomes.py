"""What a run came to, and how two runs compare: by result, output and changed arguments, or by how they stopped."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, cast

import numpy as np
import numpy.typing as npt

from relax_core.diagnostics import Diagnostic, plural
from relax_core.engine.debug.differences import compare, compare_arrays, type_of
from relax_core.engine.debug.tolerance import EXACT, Difference, Tolerance
from relax_core.engine.debug.verdicts import Verdict, distance_words, said
from relax_core.engine.inputs import members_of
from relax_core.vm.external.stand_ins import StandInCall, are_alike, calls_words
from relax_core.vm.objects.convert import to_value
from relax_core.vm.objects.values import (
    AdtValue,
    Closure,
    DTypeValue,
    RefValue,
    ShapeValue,
    Snapshot,
    StorageValue,
    Value,
)
from relax_core.vm.recording.trace import Trace

Arrays = Mapping[str, npt.NDArray[Any]]

_LIMITS: Final = ("VM003", "VM004", "VM005", "VM006", "VM007", "VM008", "VM019", "JT014", "JT015", "JT016", "JT017")
"""The run ended before it was over."""
_NOT_HERE: Final = ("VM001", "VM009", "VM016", "VM017", "VM057", "VM058", "JT001", "JT002")
"""The run needs what is not there: a packed function or a use of it, an entry, an operator or a dtype."""
_MISFITS: Final = ("VM011", "VM012")
_DECIMAL: Final = re.compile(r"-?\d+\.\d*(?:e[+-]?\d+)?|-?(?:nan|inf)\b")
_NAMED: Final = re.compile(r"`[^`]*`")


@dataclass(frozen=True, slots=True, eq=False)
class Outcome:
    """What a run left behind: arrays by name, or the error that ended it, or why it says nothing about the program.

    `arrays` are the leaves of the result and what was printed, `shape` says what the result is, `opaque` tells of
    parts that hold no values, such as closures, what they are. `args` are the leaves of the arguments when the run was
    over; `changed` are the names of those to which it wrote. `lacks` says which parts of the program ran in another
    form than the one that is judged, `stand_ins` which calls something else answered than their functions.
    """

    arrays: Arrays = field(default_factory=dict[str, Any])
    shape: str = ""
    opaque: Mapping[str, str] = field(default_factory=dict[str, str])
    args: Arrays = field(default_factory=dict[str, Any])
    changed: frozenset[str] = frozenset()
    error: Diagnostic | None = None
    hindrance: str = ""
    lacks: str = ""
    stand_ins: tuple[StandInCall, ...] = ()

    def part(self, name: str) -> str:
        """Say what the part `name` of the result or of the output is."""
        found = self.arrays.get(name)
        return type_of(found) if found is not None else self.opaque.get(name, "not there")

    @property
    def ending(self) -> str:
        """How the run ended: `it returned`, or its error."""
        return "it returned" if self.error is None else diagnostic_words(self.error)


@dataclass(frozen=True, slots=True, eq=False)
class Judgement:
    """What came of comparing two runs: `compared` is the number of results, `largest` the distance of close numbers."""

    verdict: Verdict
    words: str = ""
    differences: tuple[Difference, ...] = ()
    compared: int = 0
    largest: float = 0.0


def diagnostic_words(diagnostic: Diagnostic) -> str:
    """Return a diagnostic in one line."""
    return f"{diagnostic.code}: {diagnostic.message}"


def hindered(reason: str) -> Outcome:
    """Return the outcome of a run that was not made."""
    return Outcome(hindrance=reason)


def failed(error: Diagnostic) -> Outcome:
    """Return the outcome of a program that is wrong before it runs: the mistake is its own."""
    return Outcome(error=error)


def outcome_of(trace: Trace, entry: str, given: tuple[Any, ...], held: tuple[Value, ...]) -> Outcome:
    """Return what a run of `entry` came to; it was made on `held`, the machine's own copies of `given`."""
    if trace.error is not None:
        hindrance = _hindrance(trace, entry, trace.error)
        return Outcome(error=trace.error, hindrance=hindrance, stand_ins=trace.stand_ins)
    arrays, opaque = _leaves(trace.result)
    if trace.output:
        arrays |= _printed("\n".join(item.text for item in trace.output))
    args: dict[str, npt.NDArray[Any]] = {}
    changed: set[str] = set()
    for number, (before, after) in enumerate(zip(given, held, strict=True)):
        name = f"in_{number}"
        was, is_ = members_of(name, to_value(before)), members_of(name, after)
        changed.update(item.name for item in compare(was, is_, EXACT) if item.verdict == "different")
        args |= is_
    return Outcome(arrays, _shape(trace.result), opaque, args, frozenset(changed), stand_ins=trace.stand_ins)


def judge(reference: Outcome, other: Outcome, tolerance: Tolerance) -> Judgement:
    """Compare what two runs came to; the first one is as it should be.

    Behind a stand-in nothing is comparable, unless both had the same recorded results.
    """
    if reference.hindrance:
        return Judgement("not comparable", f"the reference does not run: {reference.hindrance}")
    if other.hindrance:
        return Judgement("not comparable", other.hindrance)
    found = _judged(reference, other, tolerance)
    if not (reference.stand_ins or other.stand_ins):
        return found
    words = calls_words(other.stand_ins or reference.stand_ins)
    if are_alike(reference.stand_ins, other.stand_ins):
        return replace(found, words="; ".join(filter(None, (found.words, words))))
    told = said(found.verdict, found.words)
    return replace(found, verdict="not comparable", words=f"{words}; with them: {told}")


def _judged(reference: Outcome, other: Outcome, tolerance: Tolerance) -> Judgement:
    if reference.error is not None or other.error is not None:
        if _stop_alike(reference.error, other.error):
            return Judgement("stops alike", other.ending)
        return Judgement("different", f"{other.ending}; was: {reference.ending}")
    found = tuple(_compared(reference, other, tolerance))
    wrong = next((item for item in found if item.verdict != "same"), None)
    count = len({item.name.removesuffix("_numbers") for item in found})
    largest = max((item.largest for item in found), default=0.0)
    if wrong is not None:
        return Judgement("different", f"{wrong.name}: {wrong.words}", found, count, largest)
    if reference.opaque:
        name, what = next(iter(reference.opaque.items()))
        return Judgement("not comparable", f"`{name}` is {what}, which holds no values", found, count, largest)
    if not count:
        words = "the program returns nothing, prints nothing and changes no argument"
        return Judgement("not comparable", words)
    words = "".join((f"{plural(count, 'result')} compared", f", {distance_words(largest)}" if largest else ""))
    if other.lacks:
        return Judgement("not comparable", other.lacks, found, count, largest)
    return Judgement("same", words, found, count, largest)


def _compared(reference: Outcome, other: Outcome, tolerance: Tolerance) -> Iterator[Difference]:
    was, is_ = reference.arrays, other.arrays
    unlike = min((was.keys() ^ is_.keys()) | (set(reference.opaque) ^ set(other.opaque)), default="")
    if reference.shape != other.shape:
        yield Difference("out", "different", "", f"it is {other.shape}, was {reference.shape}")
    elif unlike:
        yield Difference(unlike, "different", "", f"it is {other.part(unlike)}, was {reference.part(unlike)}")
    for name in was:
        if name in is_:
            yield compare_arrays(name, was[name], is_[name], tolerance)
    for name in sorted(reference.changed | other.changed):
        if name in reference.args and name in other.args:
            yield compare_arrays(name, reference.args[name], other.args[name], tolerance)


def _stop_alike(was: Diagnostic | None, is_: Diagnostic | None) -> bool:
    """Tell whether two runs ended with the same diagnostic: names may be others, since passes make their own."""
    if was is None or is_ is None or was.code != is_.code:
        return False
    if _NAMED.sub("", was.message) == _NAMED.sub("", is_.message):
        return True
    return was.span is not None and was.span == is_.span


def _hindrance(trace: Trace, entry: str, error: Diagnostic) -> str:
    """Say why a run that ended with `error` tells nothing about what the program computes, "" if it does."""
    if trace.outcome == "limit" or error.code in _LIMITS:
        return f"the run was cancelled or reached a limit: {diagnostic_words(error)}"
    if error.code in _NOT_HERE:
        return f"it cannot run here: {diagnostic_words(error)}"
    index = trace.executable.index_of.get(entry)
    names = trace.executable.functions[index].param_names if index is not None else ()
    is_called = any(words.startswith("called in ") for words, _ in error.related)
    is_about_param = any(f"`{name}` of `{entry}`" in error.message for name in names)
    if error.code in _MISFITS and is_about_param and not is_called:
        return f"it does not take these arguments: {diagnostic_words(error)}"
    return ""


def _leaves(result: Value) -> tuple[dict[str, npt.NDArray[Any]], dict[str, str]]:
    """Return the arrays of a result by name, and what its parts are that hold no values."""
    arrays = members_of("out", result)
    opaque: dict[str, str] = {}
    stack: list[tuple[str, Any]] = [("out", result)]
    while stack:
        name, value = stack.pop()
        match value:
            case ShapeValue() | DTypeValue() | np.ndarray() | np.generic() | bool() | int() | float() | str() | None:
                pass
            case tuple():
                fields = cast("tuple[Any, ...]", value)
                stack.extend((f"{name}_{number}", item) for number, item in enumerate(fields))
            case AdtValue(name=constructor, fields=()) if name == "out" and not arrays:
                # An empty list has no member of its own.
                arrays[name] = np.array(constructor)
            case AdtValue(fields=fields):
                stack.extend((name, item) for item in fields)
            case RefValue(value=inner):
                stack.append((name, inner))
            case Snapshot(names=names, fields=fields):
                stack.extend((f"{name}_{part}", item) for part, item in zip(names, fields, strict=True))
            case Closure():
                opaque[name] = "a function"
            case StorageValue():
                opaque[name] = "a storage"
            case _:
                opaque[name] = "an object of the host"
    return arrays, dict(sorted(opaque.items()))


def _shape(result: Value) -> str:
    """Say what a result is: a tuple of how many fields, nothing, or one value."""
    match result:
        case ShapeValue():
            return "one value"
        case None | ():
            return "nothing"
        case tuple():
            return f"a tuple of {len(result)}"
        case Closure():
            return "a function"
        case _:
            return "one value"


def _printed(text: str) -> dict[str, npt.NDArray[Any]]:
    """Return what was printed, numbers with a point apart: they may differ as other results may."""
    words = " ".join(_DECIMAL.sub("#", text).split())
    return {"printed": np.array(words), "printed_numbers": np.array(_DECIMAL.findall(text), np.float32)}
