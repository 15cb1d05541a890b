"""What a comparison may come to: the words, how several make one, and the exit status. Every comparison uses these."""

from collections.abc import Iterable
from types import MappingProxyType
from typing import Final, Literal, TypeAlias

Verdict: TypeAlias = Literal["same", "different", "stops alike", "not comparable"]
"""`same`: the values were compared, and are equal or close. `different`: they were, and are not.

`stops alike`: both programs end with the same diagnostic, so that there are no results to compare. `not comparable`:
something was not compared, for the reason that is given with it.
"""

SIGNS: Final = MappingProxyType({"same": "=", "different": "x", "stops alike": "!", "not comparable": "?"})
DIFFERENT: Final = 1
NOT_COMPARED: Final = 4
NO_VALUES: Final = "there are no values to compare"
_GRAVEST: Final[tuple[Verdict, ...]] = ("different", "not comparable", "stops alike", "same")


def whole(verdicts: Iterable[Verdict]) -> Verdict:
    """Return what several comparisons come to together: the gravest. None at all is not comparable."""
    found = frozenset(verdicts)
    for verdict in _GRAVEST:
        if verdict in found:
            return verdict
    return "not comparable"


def exit_status(verdict: Verdict) -> int:
    """Return 0 if everything was compared and is the same, 1 for a difference, 4 if something was not compared."""
    match verdict:
        case "same":
            return 0
        case "different":
            return DIFFERENT
        case "stops alike" | "not comparable":
            return NOT_COMPARED


def said(verdict: Verdict, words: str = "") -> str:
    """Return a verdict with what is known of it: `same: 2 results compared`, `not comparable, because ...`."""
    if not words:
        return verdict
    return f"{verdict}, because {words}" if verdict == "not comparable" else f"{verdict}: {words}"


def distance_words(largest: float) -> str:
    """Say how far close numbers are apart, "" if they are equal."""
    return f"apart by at most {largest:.2g}" if largest else ""


def listed(items: Iterable[str], word: str = "and") -> str:
    """Return `a`, `a and b`, or `a, b and c`."""
    *first, last = items
    return f"{', '.join(first)} {word} {last}" if first else last


def ranges(numbers: Iterable[int]) -> str:
    """Return ascending numbers with runs as ranges: `2, 4-7`."""
    runs: list[tuple[int, int]] = []
    for number in numbers:
        if runs and runs[-1][1] == number - 1:
            runs[-1] = runs[-1][0], number
        else:
            runs.append((number, number))
    return ", ".join(str(first) if first == last else f"{first}-{last}" for first, last in runs)
