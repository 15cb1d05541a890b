"""What a report consists of, and what is left out of it when not all fits: nothing goes without being named."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Final

from relax_core.present.escape import markup

_KILOBYTE: Final = 1000


class Rank(IntEnum):
    """How much a report needs a piece of it: the last ones are left out first."""

    ALWAYS = 0
    TEXT = 1
    """Texts and what is said of them."""
    DIFF = 2
    RUN = 3
    """Steps and values."""
    GRAPH = 4
    WHOLE = 5
    """What could be made of the rest: the whole text after a pass whose diff is there."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a report as HTML; `what` names it where it is left out."""

    html: str
    what: str = ""
    rank: Rank = Rank.ALWAYS

    @property
    def size_bytes(self) -> int:
        """How much it takes in the file."""
        return len(self.html.encode())


@dataclass(frozen=True, slots=True)
class Fitted:
    """The pieces that fit, in order, and what had to go."""

    html: str
    left_out: tuple[str, ...] = ()


def fitted(pieces: Sequence[Piece], limit_bytes: int) -> Fitted:
    """Leave out pieces until the rest has at most `limit_bytes`: the last ranks first, of one rank the largest first.

    A sentence stands in the place of each.
    """
    size = sum(piece.size_bytes for piece in pieces)
    gone: set[int] = set()
    for place in _least_needed(pieces):
        if size <= limit_bytes:
            break
        gone.add(place)
        size += len(_missing(pieces[place]).encode()) - pieces[place].size_bytes
    html = "".join(_missing(piece) if place in gone else piece.html for place, piece in enumerate(pieces))
    return Fitted(html, tuple(_words(pieces[place]) for place in sorted(gone)))


def _least_needed(pieces: Sequence[Piece]) -> Iterable[int]:
    may_go = (place for place, piece in enumerate(pieces) if piece.rank is not Rank.ALWAYS)
    return sorted(may_go, key=lambda place: (-pieces[place].rank, -pieces[place].size_bytes))


def _words(piece: Piece) -> str:
    return f"{piece.what}, {piece.size_bytes / _KILOBYTE:,.0f} kB"


def _missing(piece: Piece) -> str:
    return f'<p class="left">Left out, for the file would be too large: {markup(_words(piece))}.</p>'
