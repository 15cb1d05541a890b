"""Heights of panes: what the rows above and below leave of a window."""

CHROME = 125
"""Pixels of a window outside of panes: navigation, one row of the context bar, status line, borders."""
_MORE = "(var(--bar, 45px) - 45px)"
"""What the rows above the panes have more than one row of the context bar; `parts/core.js` measures them."""
_STACKED = 640
"""In a window of at most so many pixels Streamlit stacks columns."""


def pane_height(share: int = 100, less: int = CHROME) -> str:
    """Return the height of a pane with `share` percent of the window, minus `less` pixels.

    Further rows of the context bar, and the row that is offered to a newcomer, are subtracted besides.
    """
    return f"calc({share}vh - {less}px - {_MORE})"


def stacked_height(less: int = CHROME) -> str:
    """Return the height of a pane with others below it, for windows so narrow that columns stack.

    There it leaves room for the beginning of what is below, so that the page can be scrolled by it.
    """
    return f"min({pane_height(less=less)}, max(54vh, (100vw - {_STACKED}px) * 999))"
