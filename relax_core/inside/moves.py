"""Moves by words: the language of the command, of the API and of the page.

next [N]  back [N]         N statements on or back           start  end  to N    by number
next i    back i           to another iteration of loop i    out i               behind the loop
i=3, j=2                   to the first statement there      block  back block   to another block instance
line 17   back line 17     to a statement of the line        nan                 to what writes the first NaN
if i == 3 and A[i, j] < 0  to where it holds next            back if ...         to where it held last
write C[3, 6]              to the next store to the cell     back write C[3, 6]  to the last one
"""

import re
from dataclasses import dataclass
from typing import Final, NoReturn

from relax_core.diagnostics import CompileError, Diagnostic
from relax_core.inside.probes import NAN, Query, cell_query, condition_query
from relax_core.inside.sites import Level, Site
from relax_core.inside.stepper import Stepper
from relax_core.ir.tir import Block, For
from relax_core.source import Source, Span

WHAT: Final = "move"
_WORDS: Final = re.compile(
    r"(?P<back>back\s+)?(?:"
    r"(?P<kind>next|back|start|end|to|out|block|line|nan|thread|warp|barrier|race)(?:\s+(?P<number>\d+)|\s+(?P<loop>[^\W\d]\w*))?"
    r"|if\s+(?P<condition>.+)|write\s+(?P<buffer>[^\W\d]\w*)\s*\[(?P<cell>[^\]]*)\]"
    r"|(?P<values>[^\W\d]\w*\s*=\s*-?\d+(?:\s*,\s*[^\W\d]\w*\s*=\s*-?\d+)*))\Z",
    re.DOTALL,
)
AMONG_THREADS: Final = ("thread", "warp", "barrier", "race")
"""Moves where threads run side by side."""
_HINT: Final = "a move is such as `next`, `back 5`, `next i`, `i=3, j=2`, `line 17`, `if A[i] < 0` or `write C[3, 6]`"


@dataclass(frozen=True, slots=True)
class Move:
    """A move that was read: its kind, whether backwards, and what it is about."""

    kind: str
    is_back: bool = False
    number: int | None = None
    name: str = ""
    text: str = ""
    values: tuple[tuple[str, int], ...] = ()


def parse_move(text: str) -> Move:
    """Read a move.

    Raises:
        CompileError: TI003, it is none.
    """
    found = _WORDS.match(text.strip())
    if found is None:
        _refuse(text, "this is no move")
    part = found.groupdict()
    is_back = part["back"] is not None
    if part["condition"]:
        return Move("if", is_back, text=part["condition"])
    if part["buffer"]:
        cell = tuple((str(axis), _integer(text, item)) for axis, item in enumerate(_items(part["cell"])))
        return Move("write", is_back, name=part["buffer"], values=cell)
    if part["values"]:
        pairs = (item.split("=") for item in part["values"].split(","))
        return Move("values", is_back, values=tuple((name.strip(), int(value)) for name, value in pairs))
    number = None if part["number"] is None else int(part["number"])
    kind, name = part["kind"], part["loop"] or ""
    is_bare = (kind == "block" and not name) or (kind in AMONG_THREADS and not name and number is None)
    if (kind in ("block", *AMONG_THREADS) and not is_bare) or (kind in ("to", "line") and number is None):
        _refuse(text, "this is no move")
    if kind == "back":
        return Move("next", is_back=True, number=number, name=name)
    return Move(kind, is_back, number, name)


def _items(text: str) -> list[str]:
    return [item for item in text.split(",") if item.strip()]


def _integer(text: str, item: str) -> int:
    try:
        return int(item)
    except ValueError:
        _refuse(text, f"`{item.strip()}` is no index")


def _refuse(text: str, message: str, hint: str = _HINT) -> NoReturn:
    raise CompileError((Diagnostic("TI003", message, Span(Source(WHAT, text), 0, len(text)), hint),))


def move(stepper: Stepper, text: str) -> bool:
    """Make a move; tell whether there is what it looks for, else the run stays where it is.

    Raises:
        CompileError: TI003 for a move that is none, or names what the function has not; VM030, VM031 for a condition.
    """
    return _Mover(stepper, text).make(parse_move(text)) if text.strip() else True


class _Mover:
    def __init__(self, stepper: Stepper, text: str) -> None:
        self._stepper = stepper
        self._text = text

    def make(self, move: Move) -> bool:
        stepper, sign = self._stepper, -1 if move.is_back else 1
        match move.kind:
            case "start":
                return self._moved(0)
            case "end":
                stepper.run_to_end()
                return True
            case "to":
                return self._moved(move.number or 0)
            case "next" if not move.name:
                return self._moved(stepper.clock + sign * (1 if move.number is None else move.number))
            case "next":
                return self._iteration(self._loop(move.name), is_back=move.is_back)
            case "out":
                return self._out(move)
            case "block":
                return self._block(is_back=move.is_back)
            case "line":
                return any_of(stepper, self._queries_of_line(move.number or 0), is_back=move.is_back)
            case "values":
                return self._values(move)
            case "nan":
                return stepper.find(Query(key=NAN), after=-1)
            case "write":
                return self._found(self._cell(move), is_back=move.is_back)
            case kind if kind in AMONG_THREADS:
                _refuse(self._text, f"`{kind}` is a move among threads, and none run side by side here", "")
            case _:
                return self._found(condition_query(move.text), is_back=move.is_back)

    def _moved(self, clock: int) -> bool:
        stepper = self._stepper
        stepper.move_to(clock)
        return stepper.clock == clock

    def _found(self, query: Query, *, is_back: bool) -> bool:
        return self._stepper.find_back(query) if is_back else self._stepper.find(query)

    def _iteration(self, level: Level, *, is_back: bool) -> bool:
        stepper = self._stepper
        if isinstance(level.node, For):
            here = self._of_iteration(level, level)
        else:
            # The iterations of a `while` have no value: one begins where its first statement runs.
            return self._found(Query(level.first, level.first + 1), is_back=is_back)
        if not is_back:
            return stepper.find(here) or stepper.run_to_end()
        at = stepper.clock
        begun = stepper.clock if stepper.find_back(here) else -1
        if begun < 0 or level not in self._levels():
            stepper.move_to(at)
            return False
        # Before this iteration stands another one: its beginning is behind the last statement of none such.
        found = stepper.find_back(self._of_iteration(level, level))
        stepper.move_to(stepper.clock + 1 if found else 0)
        return True

    def _out(self, move: Move) -> bool:
        site = self._stepper.site
        loops = site.loops if site is not None else ()
        if not loops:
            return False
        level = self._loop(move.name) if move.name else loops[-1]
        outer = next((item for item in reversed(loops[: loops.index(level)]) if item.slot is not None), None)
        found = self._stepper.find(self._of_iteration(level, outer))
        return found or self._stepper.run_to_end()

    def _block(self, *, is_back: bool) -> bool:
        """Go to the first statement of the next block instance, or of the one before this."""
        site = self._stepper.site
        if site is None or site.block is None:
            return self._moved(self._stepper.clock + (-1 if is_back else 1))
        loops = [item for item in site.loops if item.slot is not None]
        query = self._of_iteration(site.block, loops[-1] if loops else None)
        if is_back:
            if self._stepper.find_back(query):
                return self._block_begin()
            return False
        return self._stepper.find(query) or self._stepper.run_to_end()

    def _block_begin(self) -> bool:
        site = self._stepper.site
        assert site is not None, "what ran is a statement"
        if site.block is not None:
            loops = [item for item in site.loops if item.slot is not None]
            found = self._stepper.find_back(self._of_iteration(site.block, loops[-1] if loops else None))
            self._stepper.move_to(self._stepper.clock + 1 if found else 0)
        return True

    def _of_iteration(self, level: Level, last: Level | None) -> Query:
        """Return what is no statement of `level` in the iteration of the loops up to `last` that runs."""
        wanted: list[tuple[int, int]] = []
        for item in self._levels():
            if last is None:
                break
            value = self._stepper.value_of(item)
            if value is not None:
                wanted.append((item.number, value))
            if item is last:
                break
        return Query(level.first, level.end, tuple(wanted), is_negated=True)

    def _levels(self) -> tuple[Level, ...]:
        site = self._stepper.site
        return () if site is None else site.levels

    def _loop(self, name: str) -> Level:
        for level in reversed(self._levels()):
            if _name(level) == name:
                return level
        loops = [f"`{_name(level)}`" for level in self._levels() if _name(level)]
        hint = f"it is inside of {', '.join(loops)}" if loops else "it is in no loop"
        _refuse(self._text, f"the statement that runs is in no loop over `{name}`", hint)

    def _queries_of_line(self, line: int) -> list[Query]:
        sites = [site for site in self._stepper.layout.sites if self._stepper.line_of(site.node) == line]
        if not sites:
            lines = sorted({self._stepper.line_of(site.node) for site in self._stepper.layout.sites})
            _refuse(self._text, f"line {line} has no statement that runs", f"there are {', '.join(map(str, lines))}")
        return [Query(site.number, site.number + 1) for site in sites]

    def _values(self, move: Move) -> bool:
        names = [name for name, _ in move.values]
        site = self._site_within(names)
        loops = {_name(level): level for level in site.loops}
        inner = max((loops[name] for name in names), key=site.loops.index)
        wanted = tuple((loops[name].number, value) for name, value in move.values)
        return self._stepper.find(Query(inner.first, inner.end, wanted), after=-1)

    def _site_within(self, names: list[str]) -> Site:
        here = self._stepper.site
        for site in (*([here] if here is not None else []), *self._stepper.layout.sites):
            if set(names) <= {_name(level) for level in site.loops}:
                return site
        loops = dict.fromkeys(_name(level) for level in self._stepper.layout.levels if _name(level))
        missing = [name for name in names if name not in loops]
        message = (
            f"there is no loop over `{missing[0]}`" if missing else f"no statement is in loops over {', '.join(names)}"
        )
        _refuse(self._text, message, f"there are loops over {', '.join(f'`{name}`' for name in loops)}")

    def _cell(self, move: Move) -> Query:
        layout = self._stepper.layout
        buffer = next((item for item in layout.buffers if item.name == move.name), None)
        if buffer is None:
            names = ", ".join(f"`{item.name}`" for item in layout.buffers)
            _refuse(self._text, f"there is no buffer `{move.name}`", f"there are {names}")
        shape = self._stepper.memory.array_of[buffer].shape
        cell = tuple(value for _, value in move.values)
        if len(cell) != len(shape) or not all(0 <= item < size for item, size in zip(cell, shape, strict=True)):
            _refuse(self._text, f"`{move.name}` of shape {shape} has no such element", "")
        return cell_query(layout, move.name, cell)


def any_of(stepper: Stepper, queries: list[Query], *, is_back: bool) -> bool:
    """Go to the nearest statement that one of several queries looks for."""
    here = stepper.clock
    found: list[int] = []
    for query in queries:
        if stepper.find_back(query) if is_back else stepper.find(query):
            found.append(stepper.clock)
        stepper.move_to(here)
    if found:
        stepper.move_to(max(found) if is_back else min(found))
    return bool(found)


def _name(level: Level) -> str:
    match level.node:
        case For(var=var):
            return var.name
        case Block():
            return ""
        case _:
            return "while"
