"""A cursor over tokens, and messages about what was expected there."""

import sys
from collections.abc import Generator
from contextlib import contextmanager

from relax_core.frontend.relay.lexer.tokens import END, Tokens
from relax_core.frontend.relay.report import RelayFailed, Report
from relax_core.source import Span

MAX_DEPTH = 3000
MAX_PART_DEPTH = 80
_USUAL_DEPTH = 40
_FRAMES_PER_LEVEL = 14
_OPENING, _CLOSING = "([{", ")]}"
_WORDS_OF_KIND = (
    ("local", "a variable"),
    ("graph", "a graph variable"),
    ("global", "the name of a function, such as @main"),
    ("ident", "a name"),
    ("string", "a string"),
    ("number", "a number"),
)
TOP_LEVEL = frozenset(("def", END))


def make_room() -> None:
    """Raise Python's limit on recursion for the deepest accepted text; `kept_room` restores it."""
    needed = MAX_DEPTH * _FRAMES_PER_LEVEL
    if sys.getrecursionlimit() < needed:
        sys.setrecursionlimit(needed)


@contextmanager
def kept_room() -> Generator[None, None, None]:
    """Restore Python's limit on recursion on exit."""
    limit = sys.getrecursionlimit()
    try:
        yield
    finally:
        if sys.getrecursionlimit() != limit:
            sys.setrecursionlimit(limit)


class Cursor:
    """Reads tokens from `position` on. Failing reports the error and raises `RelayFailed`."""

    def __init__(self, tokens: Tokens, report: Report) -> None:
        self.report = report
        self.depth: int = 0
        # Types, patterns and attributes are also processed recursively later, so they have a bound of their own.
        self.part_depth: int = 0
        self.tokens = tokens
        self.kinds = tokens.kinds
        self.texts = tokens.texts
        self.starts = tokens.starts
        self.position: int = 0

    def move_to(self, tokens: Tokens, position: int) -> None:
        """Continue in other tokens."""
        self.tokens = tokens
        self.kinds = tokens.kinds
        self.texts = tokens.texts
        self.starts = tokens.starts
        self.position = position

    def span_from(self, first: int) -> Span:
        """Return the span from token `first` to the token before the cursor."""
        last = self.position - 1
        if last <= first:
            last = first
        starts = self.starts
        return Span(self.tokens.source, starts[first], starts[last] + len(self.texts[last]))

    def expect(self, kind: str, after: str = "") -> str:
        """Consume a token of `kind` and return its text."""
        position = self.position
        if self.kinds[position] != kind:
            wanted = dict(_WORDS_OF_KIND).get(kind, f"`{kind}`")
            raise self.unexpected(f"{wanted}{after}")
        self.position = position + 1
        return self.texts[position]

    def accept(self, kind: str) -> bool:
        """Consume the token if it is of `kind`; return whether it was."""
        if self.kinds[self.position] == kind:
            self.position += 1
            return True
        return False

    def unexpected(self, wanted: str, hint: str = "") -> RelayFailed:
        """Report that the token here is not what is wanted."""
        found = self.texts[self.position]
        kind = self.kinds[self.position]
        shown = f"`{found[:40]}`" if kind != END else "the end of the text"
        return self.fail("RL001", self.position, f"expected {wanted}, found {shown}", hint)

    def fail(self, code: str, place: int | Span, message: str, hint: str = "") -> RelayFailed:
        """Report an error at a token or a span and return the exception to raise."""
        span = self.tokens.span(place) if isinstance(place, int) else place
        self.report.error(code, span, message, hint)
        return RelayFailed(message)

    def deeper(self) -> None:
        """Count a level of nested expressions; too many are an error."""
        self.depth += 1
        if self.depth > _USUAL_DEPTH:
            if self.depth > MAX_DEPTH:
                hint = "give names to the parts with `let`"
                raise self.fail("RL003", self.position, "this is nested too deeply", hint)
            if self.depth == _USUAL_DEPTH + 1:
                make_room()

    def deeper_part(self) -> None:
        """Count a level of nested types, patterns or attributes; too many are an error."""
        self.part_depth += 1
        if self.part_depth > MAX_PART_DEPTH:
            raise self.fail("RL003", self.position, "this is nested too deeply")

    def is_closed(self) -> bool:
        """Tell whether the enclosing bracket is closed before the enclosing block is."""
        depth = 0
        position = self.position
        while (kind := self.kinds[position]) not in TOP_LEVEL:
            if kind in _OPENING:
                depth += 1
            elif kind in _CLOSING:
                if depth == 0:
                    return kind != "}"
                depth -= 1
            position += 1
        return False

    def skip_statement(self, start: int) -> bool:
        """Recover: skip past the `;` of the statement at token `start`; `False` if its block ends first."""
        kinds = self.kinds
        open_brackets: list[str] = []
        position = start
        while (kind := kinds[position]) not in TOP_LEVEL:
            if kind in _OPENING:
                open_brackets.append(kind)
            elif kind in _CLOSING:
                opening = _OPENING[_CLOSING.index(kind)]
                if opening in open_brackets:
                    while open_brackets.pop() != opening:
                        pass
                elif kind == "}":
                    break
            elif kind == ";" and "{" not in open_brackets:
                self.position = position + 1
                return True
            position += 1
        self.position = position
        return False
