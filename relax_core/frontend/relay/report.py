"""The diagnostics of reading a Relay text."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from difflib import get_close_matches

from relax_core.diagnostics import Diagnostic, Severity, Suggestion
from relax_core.source import Span

MAX_ERRORS = 100
MAX_ON_LINE = 5


class RelayFailed(Exception):
    """Unwinds from a construct that has been diagnosed; the handler resumes behind the construct."""


class TooManyErrors(Exception):
    """The text is probably no Relay; reading stops."""


@dataclass(slots=True)
class Report:
    """The diagnostics so far."""

    diagnostics: list[Diagnostic] = field(default_factory=list[Diagnostic])
    error_count: int = 0
    # Lines with characters that are not tokens: errors about what is missing there are consequences.
    _torn_lines: set[int] = field(default_factory=set[int])
    # How many syntax errors a line has: most of many are consequences of the first.
    _broken_lines: Counter[int] = field(default_factory=Counter[int])
    _places: set[tuple[str, int]] = field(default_factory=set[tuple[str, int]])

    def error(self, code: str, span: Span, message: str, hint: str = "") -> None:
        """Record an error; the second of a kind at one place follows from the first, and is dropped.

        Raises:
            TooManyErrors: that was one more than is useful.
        """
        if (code, span.start) in self._places or (code == "RL001" and span.line in self._torn_lines):
            return
        if code == "RL002":
            self._torn_lines.add(span.line)
        if code == "RL001":
            self._broken_lines[span.line] += 1
            if self._broken_lines[span.line] > MAX_ON_LINE:
                return
        self._places.add((code, span.start))
        self.diagnostics.append(Diagnostic(code, message, span, hint))
        self.error_count += 1
        if self.error_count >= MAX_ERRORS:
            message = f"more than {MAX_ERRORS} errors; the rest of the text is not read"
            self.diagnostics.append(Diagnostic("RL014", message, span))
            raise TooManyErrors

    def say(self, severity: Severity, code: str, span: Span, message: str, hint: str = "") -> None:
        """Record a warning or a note."""
        self.diagnostics.append(Diagnostic(code, message, span, hint, severity))


def close_name(name: str, known: Iterable[str]) -> str | None:
    """Return the known name that is most similar to `name`, if one is similar enough."""
    by_lower = {item.lower(): item for item in known if item != name}
    close = get_close_matches(name.lower(), by_lower, n=1, cutoff=0.6)
    return by_lower[close[0]] if close else None


def did_you_mean(name: str, known: Iterable[str], prefix: str = "") -> str:
    """Return "did you mean nn.relu?", or the empty string."""
    close = close_name(name, known)
    return Suggestion(prefix + name, prefix + close) if close else ""
