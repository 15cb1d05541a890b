"""What a simulation found, folded by the places in the program, as diagnostics."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Final

import numpy as np

from relax_core.diagnostics import Diagnostic, Severity, plural
from relax_core.ir.node import Node
from relax_core.ir.notation.show import show_prim
from relax_core.ir.prim import PrimExpr
from relax_core.ir.tir import BufferStore
from relax_core.simt.hazards import Race
from relax_core.simt.lanes import Array, Grid
from relax_core.simt.traffic import AccessCost
from relax_core.source import Span

ORDER: Final[tuple[Severity, ...]] = ("error", "warning", "note")
_RACES: Final = ("GP001", "GP002", "GP003")
_LIKE: Final[Mapping[str, str]] = MappingProxyType(
    {**dict.fromkeys(_RACES, "pair of places like it"), "GP016": "barrier like it"}
)
WASTEFUL: Final = 2
"""Global accesses that move so many times as many sectors as they need are told."""
_PAIRS: Final = 4
"""So many pairs of places are told of one memory and one kind of race; there may be hundreds in unrolled loops."""


_OTHERS: Final[Mapping[str, tuple[Severity, str]]] = MappingProxyType(
    {
        "GP004": ("error", "put the barrier where every thread of the block comes by, the same number of times"),
        "GP012": (
            "note",
            "until it is lowered it runs in order; TVM makes shuffles and barriers of it",
        ),
        "GP014": ("note", "pad the rows: with one more word in each, neighbours in a column lie in different banks"),
        "GP015": ("note", "let neighbouring threads access neighbouring elements"),
        "GP016": (
            "note",
            "every barrier makes all warps of a block wait for the slowest one; take it out, and simulate again",
        ),
        "GP017": ("error", "wait for the group first, and let the other threads meet at a barrier behind the wait"),
        "GP013": ("warning", "bind one of the two loops to another axis"),
    }
)
"""Severity and hint of what is no plain error."""


@dataclass(slots=True)
class _Folded:
    """One kind of finding at one place, or between two: the first one in words, and how many there are."""

    diagnostic: Diagnostic
    cells: set[int] = field(default_factory=set[int])
    noun: str = "cell"

    def told(self, more: int) -> Diagnostic:
        """Return the diagnostic with the number of cells, and of further pairs of places of its kind."""
        parts = [f"{plural(len(self.cells), self.noun)} in all"] if len(self.cells) > 1 else []
        words = _LIKE.get(self.diagnostic.code, "access like it")
        parts += [f"and {more:,} further {words if more == 1 else _many(words)}"] if more else []
        return replace(self.diagnostic, message="; ".join((self.diagnostic.message, *parts)))


class Findings:
    """Findings in the order in which they come, each kind once for a place or for a pair of places."""

    def __init__(self) -> None:
        self._folded: dict[tuple[object, ...], _Folded] = {}

    def add(self, code: str, message: str, node: Node, cells: Array, noun: str = "thread") -> None:
        """Add what was found at `node`, of so many `cells`, threads or the like."""
        key = (code, node)
        if key not in self._folded:
            severity, hint = _OTHERS.get(code, ("error", ""))
            self._folded[key] = _Folded(Diagnostic(code, message, node.span, hint, severity), noun=noun)
        self._folded[key].cells.update(np.unique(cells).tolist())

    def add_race(self, race: Race, grid: Grid) -> None:
        """Add the races of two places; those of one warp, and those that write what is there, are less severe."""
        code, severity = ("GP003", "note") if race.is_same_value else ("GP001", "error")
        if race.is_same_warp and not race.is_same_value:
            code, severity = "GP002", "warning"
        key = (code, race.hazard, race.memory, race.first, race.second)
        if key not in self._folded:
            self._folded[key] = _Folded(_race_diagnostic(race, grid, code, severity))
        self._folded[key].cells.update(np.unique(race.cells).tolist())

    def add_cost(self, cost: AccessCost) -> None:
        """Add an access that makes banks or sectors wait."""
        node, text = cost.node, text_of(cost.node)
        if cost.worst > 1:
            mean = cost.degrees / cost.parts
            message = (
                f"the {cost.way} `{text}` has a {cost.worst}-way bank conflict: a group of lanes asks a bank "
                f"{mean:.3g} times in the mean, 1 would do"
            )
            self.add("GP014", message, node, np.zeros(1, np.int64))
        elif cost.sectors >= WASTEFUL * cost.ideal_sectors > 0:
            message = (
                f"the {cost.way} `{text}` moves {cost.sectors / cost.warps:.3g} sectors of 32 bytes for a warp, and "
                f"uses {cost.efficiency:.0%} of them"
            )
            self.add("GP015", message, node, np.zeros(1, np.int64))

    def told_since(self, count: int) -> tuple[Diagnostic, ...]:
        """Return the kinds of findings behind the first `count`, each as it came first."""
        return tuple(item.diagnostic for item in list(self._folded.values())[count:])

    def __len__(self) -> int:
        return len(self._folded)

    @property
    def are_harmless(self) -> bool:
        """Tell whether nothing was found but what makes no difference."""
        return all(item.diagnostic.severity == "note" for item in self._folded.values())

    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """Return all findings, errors first."""
        return tuple(sorted(self._told(), key=lambda item: ORDER.index(item.severity)))

    def _told(self) -> Iterator[Diagnostic]:
        groups: dict[tuple[object, ...], list[_Folded]] = {}
        raced = {key[3:] for key in self._folded if key[0] in ("GP001", "GP002")}
        for key, item in self._folded.items():
            # Equal values are no excuse where the same two places race for the value as well.
            if key[0] == "GP003" and any(key[3] in pair for pair in raced):
                continue
            groups.setdefault(_group(key), []).append(item)
        for items in groups.values():
            for item in items[:_PAIRS]:
                is_last = item is items[_PAIRS - 1] if len(items) > _PAIRS else False
                yield item.told(len(items) - _PAIRS if is_last else 0)


def _many(words: str) -> str:
    first, _, rest = words.partition(" ")
    return f"{first}{'es' if first.endswith('s') else 's'} {rest.replace('it', 'them')}"


def _group(key: tuple[object, ...]) -> tuple[object, ...]:
    """Return what findings have in common of which only a few are told one by one."""
    match key:
        case (str(code), hazard, memory, *_) if code in _RACES:
            return code, hazard, memory
        case ("GP014" | "GP015" | "GP016" as code, _):
            return (code,)
        case _:
            return key


def text_of(node: Node) -> str:
    """Return the text of a place in the program in one line, as it stands there if it does."""
    if node.span is not None:
        return " ".join(node.span.text.split())
    if isinstance(node, PrimExpr):
        return show_prim(node)
    return f"a store into {node.buffer.name}" if isinstance(node, BufferStore) else type(node).__name__


def at_line(span: Span | None) -> str:
    """Say in which line something stands, if that is known."""
    return "" if span is None else f" in line {span.line}"


def _race_diagnostic(race: Race, grid: Grid, code: str, severity: Severity) -> Diagnostic:
    first, second = int(race.first_threads[0]), int(race.second_threads[0])
    cell = int(race.cells[0]) % (race.memory.bytes_each // race.memory.cell_bytes)
    where = f"race on {race.memory.kind} memory, `{race.memory.name}`, cell {cell}"
    did, does = _verbs(race)
    message = (
        f"{where}: {race.hazard}. {grid.place(first)} {did} it by `{text_of(race.first)}`{at_line(race.first.span)}, "
        f"and {grid.place(second)} {does} it by `{text_of(race.second)}`{at_line(race.second.span)}: {_why(race, grid)}"
    )
    related = () if race.first.span is None else ((f"the other access of `{race.memory.name}`", race.first.span),)
    return Diagnostic(code, message, race.second.span, _hint(race, grid, code), severity, related)


def _verbs(race: Race) -> tuple[str, str]:
    match race.hazard:
        case "read after write":
            return "writes", "reads"
        case "write after read":
            return "reads", "writes"
        case "write after write":
            return "writes", "writes"


def _is_between_blocks(race: Race, grid: Grid) -> bool:
    return int(race.first_threads[0]) // grid.thread_count != int(race.second_threads[0]) // grid.thread_count


def _why(race: Race, grid: Grid) -> str:
    if race.is_same_value:
        return "both write the same value" if race.hazard == "write after write" else "the cell keeps its own value"
    if _is_between_blocks(race, grid):
        return "nothing orders two blocks of one launch"
    return "both are of one warp, with no barrier between them" if race.is_same_warp else "no barrier is between them"


def _hint(race: Race, grid: Grid, code: str) -> str:
    if code == "GP003" and race.hazard != "write after write":
        return "it makes no difference to the result"
    if code == "GP003":
        return "it makes no difference to the result; bind or split the loop that makes every thread write all of it"
    if code == "GP002":
        return 'put T.tvm_storage_sync("warp") between them: since sm_70 the threads of a warp run on their own'
    if _is_between_blocks(race, grid):
        return (
            "use an atomic operation, or write different cells in different blocks, and reduce them in another kernel"
        )
    if race.first.span is None or race.second.span is None:
        return 'put T.tvm_storage_sync("shared") between them'
    one, two = race.first.span.line, race.second.span.line
    if one < two:
        return f'put T.tvm_storage_sync("shared") between line {one} and line {two}'
    if one == two:
        return 'read all cells first, then T.tvm_storage_sync("shared"), then write'
    return f'put T.tvm_storage_sync("shared") behind line {one}: the next round of the loop begins at once'
