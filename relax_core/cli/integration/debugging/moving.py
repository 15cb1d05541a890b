"""How the program goes through its run: from stop to stop, with what it prints on the way."""

from collections.abc import Mapping
from itertools import islice
from types import MappingProxyType
from typing import Final, Literal

from relax_core.cli.integration.debugging.asking import Asking, Emit
from relax_core.cli.integration.debugging.breakpoints import REASONS, Breakpoints
from relax_core.cli.integration.debugging.debuggee import Debuggee
from relax_core.cli.integration.debugging.messages import Exited, LaunchArguments, Output, Reason, Stopped
from relax_core.engine.debug.requests import Step, TextsOf
from relax_core.present.running.watching.message_text import MESSAGES, expressions_in, filled

THREAD: Final = 1
_TITLES: Final[Mapping[Reason, str]] = MappingProxyType(
    {"data breakpoint": "A value was written, ", "exception": "A NaN or an infinity was written, "}
)

_Line = tuple[int, int, Literal["stdout", "console"], str]
"""What is written: when, for which line, where to, and the text."""


class Mover:
    """Moves the program, and tells the editor of it."""

    def __init__(
        self, debuggee: Debuggee, points: Breakpoints, asking: Asking, emit: Emit, launch: LaunchArguments
    ) -> None:
        self.debuggee = debuggee
        self._points = points
        self._asking = asking
        self._emit = emit
        self._launch = launch

    def start(self, *, stops: bool) -> None:
        """Stand at the start, or go on from there to the first breakpoint."""
        self._write(-1, 0)
        if (stops or self._points.at(0)) and not self._launch.no_debug:
            self.stop("entry")
        elif self.debuggee.is_at_end:
            self._arrive("entry")
        else:
            self.resume()

    def resume(self) -> None:
        """Go on to the next breakpoint or the end."""
        self._forward(self.debuggee.run.total, "step")

    def resume_back(self) -> None:
        """Go back to the breakpoint before, or the start."""
        self._back(0, "entry")

    def step(self, step: Step, *, is_by_instruction: bool) -> None:
        """Make a step, which ends at a breakpoint that it comes by."""
        target = self.debuggee.after_step(step, is_by_instruction=is_by_instruction)
        if step == "back_over":
            self._back(target, "step")
        else:
            self._forward(target, "step")

    def stop(self, reason: Reason) -> None:
        """Tell the editor that the program stands still, and why."""
        debuggee, points = self.debuggee, self._points.at(self.debuggee.time)
        problem = debuggee.run.problem
        ids = tuple(point.number for point in points)
        if problem is not None and debuggee.is_at_end:
            reason, title, text = "exception", f"Stopped by {problem.code}, ", f"{problem.code}: {problem.message}"
        else:
            # A step or the start ends where it does, breakpoint or not; the editor is told of the breakpoint.
            reason = REASONS[points[0].kind] if points and reason != "pause" else reason
            title, text = _TITLES.get(reason, ""), ""
        where = f"{title}time {debuggee.time:,} of {debuggee.run.total:,}"
        where = where[0].upper() + where[1:]
        self._emit(
            "stopped",
            Stopped(reason, THREAD, all_threads_stopped=True, description=where, text=text, hit_breakpoint_ids=ids),
        )

    def _forward(self, target: int, reason: Reason) -> None:
        debuggee = self.debuggee
        if debuggee.is_at_end:
            self._end()
            return
        found = None if self._launch.no_debug else self._points.next(debuggee.time + 1, target)
        self._go(target if found is None else found, reason)

    def _go(self, time: int, reason: Reason) -> None:
        debuggee = self.debuggee
        before, debuggee.time = debuggee.time, time
        self._write(before, time)
        self._arrive(reason)

    def _arrive(self, reason: Reason) -> None:
        debuggee = self.debuggee
        if not debuggee.is_at_end:
            self.stop(reason)
            return
        is_kept = self._points.stops_at_errors if debuggee.run.problem is not None else self._launch.stop_at_end
        if (is_kept or self._points.at(debuggee.time)) and not self._launch.no_debug:
            self.stop(reason)
        else:
            self._end()

    def _back(self, target: int, reason: Reason) -> None:
        found = self._points.previous(target, self.debuggee.time)
        self.debuggee.time = target if found is None else found
        self.stop("entry" if not self.debuggee.time else reason)

    def _end(self) -> None:
        run = self.debuggee.run
        words = run.end if run.problem is None else f"{run.problem.code}: {run.problem.message}"
        self._emit("output", Output("console" if run.problem is None else "stderr", f"{words}\n"))
        self._emit("exited", Exited(self.debuggee.exit_code))
        self._emit("terminated", None)

    def _write(self, before: int, time: int) -> None:
        """Write what is printed between two times, by the program and by logpoints, in order."""
        printed: list[_Line] = [
            (item.time, item.line, "stdout", item.text) for item in self.debuggee.printed(before, time)
        ]
        logged = [] if self._launch.no_debug else self._logged(before, time)
        for _, line, category, text in sorted((*printed, *logged), key=lambda row: row[0]):
            source, shown = (self.debuggee.source, self.debuggee.shown_line(line)) if line else (None, None)
            self._emit("output", Output(category, f"{text}\n", source, shown))

    def _logged(self, before: int, time: int) -> list[_Line]:
        met = list(islice(self._points.logs(before + 1, time + 1), MESSAGES + 1))
        rows: list[_Line] = []
        for point in dict.fromkeys(point for _, point in met[:MESSAGES]):
            template = point.asked.log_message
            times = tuple(at for at, other in met[:MESSAGES] if other is point)
            expressions = expressions_in(template)
            values = self._asking.ask(TextsOf(self.debuggee.program, expressions, times)).rows
            line = point.asked.place.line if point.asked.place is not None else 0
            rows.extend((at, line, "console", filled(template, row)) for at, row in zip(times, values, strict=True))
        if len(met) > MESSAGES:
            rows.append((time, 0, "console", f"… only the first {MESSAGES:,} messages are written"))
        return rows
