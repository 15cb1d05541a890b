"""The graphs of a report: as many as there is room for, so that none is laid out that would be left out."""

from collections.abc import Callable
from typing import Final

from relax_core.present.models import Graph
from relax_core.present.report.page import REPORT_BYTES
from relax_core.present.report.pictures import NO_COLOURS, Colours, picture
from relax_core.present.report.pieces import Piece, Rank

_SHARE: Final = 0.72
"""What a report gives to graphs."""


class Drawings:
    """Draws graphs until they have taken their share of a report of at most `limit_bytes`."""

    def __init__(self, limit_bytes: int = REPORT_BYTES) -> None:
        self._room = limit_bytes * _SHARE
        self._taken = 0

    def draw(self, what: str, make: Callable[[], Graph], colours: Colours = NO_COLOURS) -> Piece:
        """Return a graph, or a sentence that there is no room for it; `what` names it."""
        if self._taken >= self._room:
            return Piece(f'<p class="left">Not drawn, for the graphs before it fill the report: {what}.</p>')
        made = Piece(picture(make(), colours), what, Rank.GRAPH)
        self._taken += made.size_bytes
        return made
