"""The breakpoints that an editor has set, and at which times of the recorded run they stop."""

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final, Literal

from relax_core.cli.integration.debugging.asking import Asking
from relax_core.cli.integration.debugging.debuggee import Debuggee
from relax_core.cli.integration.debugging.messages import Breakpoint, Reason
from relax_core.engine.debug.requests import StopPlace, StopTimesOf
from relax_core.present.running.run_models import PointHits

Kind = Literal["line", "function", "instruction", "data", "nan"]
REASONS: Final[Mapping[Kind, Reason]] = MappingProxyType(
    {
        "line": "breakpoint",
        "function": "function breakpoint",
        "instruction": "breakpoint",
        "data": "data breakpoint",
        "nan": "exception",
    }
)
_HIT: Final = re.compile(r"\s*(==|>=|<=|>|<|%|=|)\s*(\d{1,18})\s*")
_COUNTS: Final[Mapping[str, Callable[[int, int], bool]]] = MappingProxyType(
    {
        "": lambda count, given: count == given,
        "=": lambda count, given: count == given,
        "==": lambda count, given: count == given,
        ">=": lambda count, given: count >= given,
        "<=": lambda count, given: count <= given,
        ">": lambda count, given: count > given,
        "<": lambda count, given: count < given,
        "%": lambda count, given: given > 0 and count % given == 0,
    }
)


@dataclass(frozen=True, slots=True)
class Asked:
    """A breakpoint as an editor asks for it; without a place it cannot stop, for which `refusal` is the reason."""

    place: StopPlace | None
    hit_condition: str = ""
    log_message: str = ""
    refusal: str = ""


@dataclass(frozen=True, slots=True)
class Point:
    """A breakpoint with the times at which it stops, or, with a `log_message`, writes that."""

    number: int
    kind: Kind
    asked: Asked
    times: tuple[int, ...] = ()
    is_verified: bool = False
    message: str = ""

    def shown(self, debuggee: Debuggee) -> Breakpoint:
        """Return it as the editor hears of it."""
        place = self.asked.place
        line = place.line if place is not None else 0
        pc = place.pc if place is not None else -1
        return Breakpoint(
            self.number,
            self.is_verified,
            self.message,
            debuggee.source if line else None,
            debuggee.shown_line(line) if line else None,
            address(pc) if pc >= 0 else "",
        )


@dataclass(slots=True)
class Breakpoints:
    """All breakpoints; each request of the editor replaces those of its kind."""

    stops_at_errors: bool = True
    _points: dict[Kind, tuple[Point, ...]] = field(default_factory=dict[Kind, tuple[Point, ...]])
    _count: int = 0

    def put(self, kind: Kind, asked: Iterable[Asked], debuggee: Debuggee, asking: Asking) -> tuple[Point, ...]:
        """Replace those of a kind.

        Raises:
            RequestError: the times at which they stop are not known; then those before are kept.
        """
        points: list[Point] = []
        for item in asked:
            self._count += 1
            points.append(Point(self._count, kind, item))
        found = _resolved(tuple(points), debuggee, asking)
        self._points[kind] = found
        return found

    def resolve(self, debuggee: Debuggee, asking: Asking) -> tuple[Point, ...]:
        """Look at another run; those are returned of which the editor must hear something else."""
        changed: list[Point] = []
        for kind, points in self._points.items():
            found = _resolved(points, debuggee, asking)
            self._points[kind] = found
            changed += (
                new
                for old, new in zip(points, found, strict=True)
                if (old.is_verified, old.message) != (new.is_verified, new.message)
            )
        return tuple(changed)

    def stopping(self) -> Iterator[Point]:
        """Yield those that stop."""
        return (item for points in self._points.values() for item in points if not item.asked.log_message)

    def logging(self) -> Iterator[Point]:
        """Yield those that write a message."""
        return (item for points in self._points.values() for item in points if item.asked.log_message)

    def at(self, time: int) -> tuple[Point, ...]:
        """Return those that stop at a time."""
        return tuple(item for item in self.stopping() if _among(item.times, time, time + 1))

    def next(self, start: int, stop: int) -> int | None:
        """Return the first time in `[start, stop)` at which one of them stops."""
        return min((found[0] for item in self.stopping() if (found := _among(item.times, start, stop))), default=None)

    def previous(self, start: int, stop: int) -> int | None:
        """Return the last time in `[start, stop)` at which one of them stops."""
        return max((found[-1] for item in self.stopping() if (found := _among(item.times, start, stop))), default=None)

    def logs(self, start: int, stop: int) -> Iterator[tuple[int, Point]]:
        """Yield the times in `[start, stop)` at which one of them writes its message, in order."""
        met = ((time, item) for item in self.logging() for time in _among(item.times, start, stop))
        return iter(sorted(met, key=lambda pair: pair[0]))


def _among(times: tuple[int, ...], start: int, stop: int) -> tuple[int, ...]:
    return times[bisect_left(times, start) : bisect_left(times, stop)]


def address(pc: int) -> str:
    """Return how an editor speaks of an instruction: as of an address; it may ask for what stands before the first."""
    return f"{pc:#06x}" if pc >= 0 else str(pc)


def _resolved(points: tuple[Point, ...], debuggee: Debuggee, asking: Asking) -> tuple[Point, ...]:
    places = tuple(item.asked.place for item in points if item.asked.place is not None)
    question = StopTimesOf(debuggee.program, places)
    # What has a condition is looked at at every hit of the run, which may take long.
    has_conditions = any(place.condition for place in places)
    asked = asking.ask_long(question, "Evaluating conditions") if has_conditions else asking.ask(question)
    found = iter(asked.points)
    return tuple(
        Point(item.number, item.kind, item.asked, message=item.asked.refusal)
        if item.asked.place is None
        else _with_hits(item, next(found))
        for item in points
    )


def _with_hits(point: Point, hits: PointHits) -> Point:
    asked = point.asked
    parts = _HIT.fullmatch(asked.hit_condition) if asked.hit_condition.strip() else None
    if asked.hit_condition.strip() and parts is None:
        words = f"`{asked.hit_condition}` is no number of hits; such are `3`, `>= 3` and `% 2`"
        return Point(point.number, point.kind, asked, message=words)
    problem = hits.problem
    words = f"{problem.code}: {problem.message}" if problem is not None else ""
    if problem is not None and not hits.problem_count:
        return Point(point.number, point.kind, asked, message=words)
    times = hits.times
    if parts is not None:
        counts, given = _COUNTS[parts[1]], int(parts[2])
        times = tuple(time for count, time in enumerate(times, 1) if counts(count, given))
    return Point(point.number, point.kind, asked, times, is_verified=True, message=words)
