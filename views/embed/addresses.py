"""Addresses of views that other pages show in frames, and what of the app stands behind each."""

from html import escape
from types import MappingProxyType
from typing import Final, Literal, TypeAlias
from urllib.parse import urlencode

from views.shell.headers import FRAMED
from views.shell.navigation import address_of_page
from views.state.session import written_address

EmbeddedView: TypeAlias = Literal["graph", "diff", "stepper"]

PAGE_OF: Final = MappingProxyType[EmbeddedView, str]({"graph": "source", "diff": "passes", "stepper": "run"})
"""The page that shows more of what a view shows."""
VIEW_OF: Final = MappingProxyType[str, EmbeddedView]({page: view for view, page in PAGE_OF.items()})
# A lesson and a class are of who looks at the page, not of what it shows.
_NOT_OF_THE_VIEW: Final = ("view", "lesson", "lesson_step", "room")
_HEIGHT: Final = 480


def _of_the_view() -> dict[str, str]:
    return {name: value for name, value in written_address().items() if name not in _NOT_OF_THE_VIEW}


def frame_markup(view: EmbeddedView) -> str:
    """Return the HTML of a frame that shows a view of what is open."""
    address = f"{address_of_page(FRAMED)}?{urlencode({'view': view} | _of_the_view())}"
    return f'<iframe src="{escape(address)}" title="RelaxScope: {view}" width="100%" height="{_HEIGHT}"></iframe>'


def whole_address(view: EmbeddedView) -> str:
    """Return the address of the page that shows more of what a view shows."""
    return f"{address_of_page(PAGE_OF[view])}?{urlencode(_of_the_view())}"
