"""Heights of panes: what a window has left beside its rows above and below."""

CHROME = 125
"""Pixels of a window that are no pane: navigation, one row of the context bar, status line and their borders."""
_MORE = "(var(--bar, 45px) - 45px)"
"""What the rows above the panes have more than one row of the context bar; `parts/core.js` measures them."""
_STACKED = 640
"""In a window of at most so many pixels Streamlit stacks columns."""


def pane_height(share: int = 100, less: int = CHROME) -> str:
    """Return the height of a pane with `share` percent of the window, less so many pixels for what is around it.

    Further rows of the context bar, and the row that is offered to a newcomer, are taken off besides.
    """
    return f"calc({share}vh - {less}px - {_MORE})"


def stacked_height() -> str:
    """Return the height of a pane that has others below it in a window of a phone's width, where columns stack.

    There it leaves room, so that what is below begins on the screen and the page can be scrolled there.
    """
    return f"min({pane_height()}, max(54vh, (100vw - {_STACKED}px) * 999))"
