"""How far a part of what a pass changed may be applied, and what came of it."""

from typing import Final, Literal

import msgspec

from relax_core.diagnostics import plural

Kind = Literal["function", "binding"]


class Budget(msgspec.Struct, frozen=True):
    """How long, and how often, modules with a part of the changes may be tried; 0: not at all."""

    seconds: float = 10.0
    runs: int = 100


DEFAULT_BUDGET: Final = Budget()


class ChangeShown(msgspec.Struct, frozen=True):
    """A change of a pass: its function, and the line that stands there behind the pass and stood there before.

    A line is 0 where nothing stands there, or where only the function is named.
    """

    function: str
    line: int = 0
    text: str = ""
    line_before: int = 0
    text_before: str = ""

    @property
    def words(self) -> str:
        """Name the change, with its lines in both texts."""
        if not (self.text or self.text_before):
            lines = (f"line {self.line}" if self.line else "", f"line {self.line_before} before")
            shown = "; ".join(lines[: 2 if self.line_before else 1])
            return f"`{self.function}`{f' ({shown})' if shown else ''}"
        if not self.text:
            return f"the removal of `{self.text_before}`{_at(self.line_before)} of `{self.function}` before"
        own = f"`{self.text}`{_at(self.line)} of `{self.function}`"
        was = f"`{self.text_before}`{_at(self.line_before)}"
        return f"{own}, which was {was}" if self.text_before else f"{own}, which was not there"


class RewriteShown(msgspec.Struct, frozen=True):
    """The rewrite of a pass, of so many, behind which the result is wrong, and in front of which it is right.

    `rule` is what the pass calls it. A line is 0 where nothing stands there.
    """

    number: int
    count: int
    rule: str
    function: str = ""
    line: int = 0
    line_before: int = 0
    without: Literal["right", "wrong", "unresolved"] | None = None
    """What comes of all the other rewrites without this one; `None`: it was not tried."""

    @property
    def words(self) -> str:
        """Say it in a sentence."""
        place = _at(self.line) or (f"{_at(self.line_before)} before" if self.line_before else "")
        of = f" of `{self.function}`" if self.function else ""
        named = f"Rewrite {self.number} of {self.count}, {self.rule or 'a change'}{place}{of}"
        match self.without:
            case "right":
                end = "; without this one alone it is right"
            case "wrong":
                end = "; others do it as well, for without this one it is still wrong"
            case "unresolved":
                end = "; what the others make without it does not run"
            case None:
                end = ""
        return f"{named}, brings it in: in front of it the result is right, behind it wrong{end}"


def _at(line: int) -> str:
    return f" in line {line}" if line else ""


class Halved(msgspec.Struct, frozen=True):
    """The fewest changes of a pass that were found to make the result wrong, and how far that was tried.

    `count` is how many changes of this kind there are, `tried` how many modules with a part of them, of which
    `unresolved` were ill-formed, did not run or stopped elsewhere.
    """

    kind: Kind
    changes: tuple[ChangeShown, ...] = ()
    count: int = 0
    tried: int = 0
    unresolved: int = 0
    without: Literal["right", "wrong", "unresolved", "nothing"] = "nothing"
    """What comes of all the other changes without these; `nothing`: there are no others, or it was not tried."""
    is_smallest: bool = True
    """None of them can be left out; otherwise the budget was spent before that was known."""
    hindrance: str = ""
    """Why no part of the changes was tried."""
    rewrite: RewriteShown | None = None
    """The rewrite that brings the wrong result in, where the pass makes its changes by rules."""

    @property
    def is_isolated(self) -> bool:
        """Tell whether these changes alone make the result wrong, and it is right without them."""
        return bool(self.changes) and (self.without == "right" or self.count == len(self.changes))

    @property
    def words(self) -> str:
        """Say it in a sentence or two, with what was tried."""
        return f"{self._changes}. {self.rewrite.words}" if self.rewrite is not None else self._changes

    @property
    def _changes(self) -> str:
        if self.hindrance:
            return f"Its changes were not applied in part: {self.hindrance}"
        count = f"{self.count} changed {self.kind}s"
        if self.count == 1:
            return f"Its only changed {self.kind} is {self.changes[0].words}"
        named = _listed([item.words for item in self.changes])
        if len(self.changes) == self.count:
            return f"None of its {count} could be left out: only together they make the result wrong{self._trials()}"
        only = "this one of" if len(self.changes) == 1 else f"these {len(self.changes)} of"
        first = f"With only {only} its {count} the result is wrong{self._without()}: {named}"
        return f"{first}{self._trials()}"

    def _without(self) -> str:
        them = "it" if len(self.changes) == 1 else "them"
        match self.without:
            case "right":
                return f"; without {them} it is right"
            case "wrong":
                return f"; without {them} it is still wrong, so that other changes do it as well"
            case "unresolved":
                return f"; what is left without {them} does not run, so that others may have a part in it"
            case "nothing":
                return ""

    def _trials(self) -> str:
        ill = f", {self.unresolved} of them ill-formed or not comparable" if self.unresolved else ""
        spent = "" if self.is_smallest else "; the time for it was over before fewer could be tried"
        return f" ({plural(self.tried, 'module')} tried{ill}{spent})"


_NAMED: Final = 4


def _listed(words: list[str]) -> str:
    more = len(words) - _NAMED
    return "; ".join((*words[:_NAMED], *((f"and {more} more",) if more > 0 else ())))
