"""What became of a module from OLD to NEW, and how that is told in Markdown."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, Literal, TypeAlias

from relax_core.diagnostics import plural
from relax_core.engine.debug.verdicts import Verdict, said
from relax_core.engine.replies import COST_FIGURES, Measured
from relax_core.present.markdown import code, message, row

Outcome: TypeAlias = Literal["unchanged", "changed", "added", "removed", "not measured"]
_SIGNS: Final[Mapping[Outcome, str]] = MappingProxyType(
    {"unchanged": "=", "changed": "~", "added": "+", "removed": "−", "not measured": "?"}
)
_SHOWN: Final = ("Kernels", "Launches", "Peak bytes", "Bytes moved")
_MICROSECONDS: Final = 1e6


@dataclass(frozen=True, slots=True)
class ModuleChange:
    """A module of OLD and NEW; what is not known of it is `None`, or said in `problem`."""

    name: str
    old: Measured | None = None
    new: Measured | None = None
    problem: str = ""
    """Why a side could not be measured."""
    values: Verdict | None = None
    """What the results came to; `None` if the modules are the same, or one of them is missing."""
    words: str = ""
    """What was compared and how far apart it is, what differs, or why nothing was compared."""
    seconds: tuple[float, float] | None = None
    reports: tuple[tuple[str, str], ...] = ()
    """Words and addresses of its reports."""
    missing: Literal["", "old", "new"] = ""
    """The side that does not have it."""

    @property
    def outcome(self) -> Outcome:
        """What became of it."""
        if self.missing:
            return "added" if self.missing == "old" else "removed"
        if self.old is None or self.new is None:
            return "not measured"
        return "unchanged" if self.old.digest == self.new.digest else "changed"

    @property
    def result(self) -> str:
        """What its results came to, in words."""
        return "" if self.values is None else said(self.values, self.words)

    def operators(self) -> tuple[tuple[str, int, int], ...]:
        """Return the operators of which there are more or fewer calls: name, calls before and after."""
        if self.old is None or self.new is None:
            return ()
        before, after = dict(self.old.operators), dict(self.new.operators)
        both = sorted({*before, *after})
        return tuple(
            (name, before.get(name, 0), after.get(name, 0)) for name in both if before.get(name) != after.get(name)
        )


def exit_status(changes: Iterable[ModuleChange], fails_on: Literal["change", "values"]) -> int:
    """Return 0 if nothing is different, 1 if something is, 4 if nothing is but something was not compared.

    A difference is any in a module, or that one side lacks it; with "values" only one in what the modules compute.
    """
    found = tuple(changes)
    if fails_on == "change" and any(item.outcome in ("changed", "added", "removed") for item in found):
        return 1
    if any(item.values == "different" for item in found):
        return 1
    is_compared = all(item.outcome == "unchanged" or item.missing or item.values == "same" for item in found)
    return 0 if is_compared else 4


def to_markdown(changes: Sequence[ModuleChange], title: str) -> str:
    """Write a summary, a table with a row for each module, and a part for each that is different."""
    return "\n".join((f"## {title}", "", *_summary(changes), "", *_table(changes), *_parts(changes)))


def _summary(changes: Sequence[ModuleChange]) -> Iterator[str]:
    outcomes = [item.outcome for item in changes]
    counts = ", ".join(f"{outcomes.count(kind)} {kind}" for kind in _SIGNS if kind in outcomes)
    yield f"{plural(len(changes), 'module')}: {counts}."
    verdicts = [item.values for item in changes if item.values is not None]
    if verdicts:
        told = ", ".join(f"{verdicts.count(kind)} {kind}" for kind in dict.fromkeys(verdicts))
        yield f"Values of those that changed: {told}."


def _table(changes: Sequence[ModuleChange]) -> Iterator[str]:
    is_timed = any(item.seconds for item in changes)
    heads = ("", "Module", "Calls", *_SHOWN, "Regions", *(("Time",) if is_timed else ()), "Values")
    yield row(heads)
    yield row(("---",) * len(heads))
    for item in changes:
        time = (_time(item),) if is_timed else ()
        values = item.result or item.problem or {"unchanged": "the same module"}.get(item.outcome, "")
        figures = (_figure(item, name) for name in _SHOWN)
        counts = _of_both(item, lambda one: str(sum(count for _, count in one.operators)))
        regions = _of_both(item, lambda one: str(sum(count for _, count in one.regions)))
        name = f"{code(item.name)} {item.outcome}"
        yield row((_SIGNS[item.outcome], name, counts, *figures, regions, *time, message(values)))


def _parts(changes: Sequence[ModuleChange]) -> Iterator[str]:
    for item in changes:
        if item.outcome == "unchanged":
            continue
        yield ""
        yield f"### {_SIGNS[item.outcome]} {code(item.name)}"
        yield ""
        yield from (f"- {line}" for line in _told(item))


def _told(item: ModuleChange) -> Iterator[str]:
    if item.missing:
        yield f"{'NEW' if item.missing == 'old' else 'OLD'} alone has it."
    if item.problem:
        yield message(item.problem)
    operators = item.operators()
    for word, rows in (
        ("more", [one for one in operators if one[2] > one[1]]),
        ("fewer", [one for one in operators if one[2] < one[1]]),
    ):
        if rows:
            yield f"{word} calls: {', '.join(f'{code(name)} {before} → {after}' for name, before, after in rows)}"
    if item.old is not None and item.new is not None:
        yield from _figures(item.old, item.new)
    if item.seconds is not None:
        yield f"time of one run: {_time(item)}"
    if item.result:
        yield f"values: {message(item.result)}"
    if item.reports:
        yield f"reports: {', '.join(f'[{words}](<{address}>)' for words, address in item.reports)}"


def _figures(old: Measured, new: Measured) -> Iterator[str]:
    figures = ((label.lower(), old.costs.figure(name), new.costs.figure(name)) for label, name in COST_FIGURES)
    if different := [f"{label} {before} → {after}" for label, before, after in figures if before != after]:
        yield f"one call of it: {', '.join(different)}"
    if old.regions != new.regions:
        yield f"regions: {_regions(old)} → {_regions(new)}"
    for words in dict.fromkeys((old.costs.hindrance, new.costs.hindrance)):
        if words:
            yield f"not counted: {message(words)}"


def _regions(one: Measured) -> str:
    return ", ".join(f"{count} of {code(target)}" for target, count in one.regions) or "none"


def _figure(item: ModuleChange, label: str) -> str:
    name = dict(COST_FIGURES)[label]
    return _of_both(item, lambda one: one.costs.figure(name))


def _of_both(item: ModuleChange, figure: Callable[[Measured], str]) -> str:
    """Write a figure of both sides, once if it is the same."""
    found = [figure(one) if one is not None else "" for one in (item.old, item.new)]
    shown = [text for text in found if text]
    return shown[0] if len(set(shown)) == 1 else " → ".join(shown)


def _time(item: ModuleChange) -> str:
    return "" if item.seconds is None else " → ".join(f"{one * _MICROSECONDS:,.0f} µs" for one in item.seconds)
