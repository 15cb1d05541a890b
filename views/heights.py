"""Heights of panes under a context bar that takes a second row in a narrow window."""

CHROME = 125
"""Pixels of a window that are no pane: navigation, context bar, status line and their borders."""
TOUR = 45
"""Pixels of the row that is offered to a newcomer."""
_ROW = 42
"""Pixels of a row of the context bar."""
_STACKED = 640
"""In a window of at most so many pixels Streamlit stacks columns."""


def pane_height(bar_width: int, share: int = 100, less: int = CHROME) -> str:
    """Return the height of a pane with `share` percent of the window, less so many pixels for what is around it.

    In a window narrower than `bar_width` pixels the bar has a second row, which the pane gives way to.
    """
    return f"calc({share}vh - {less}px - {second_row(bar_width)})"


def stacked_height(bar_width: int) -> str:
    """Return the height of a pane that has others below it in a window of a phone's width, where columns stack.

    There it leaves room, so that what is below begins on the screen and the page can be scrolled there.
    """
    return f"min({pane_height(bar_width)}, max(54vh, (100vw - {_STACKED}px) * 999))"


def second_row(bar_width: int) -> str:
    """Return the height of the bar's second row: nothing in a window of `bar_width` pixels or more."""
    return f"clamp(0px, ({bar_width}px - 100vw) * {_ROW}, {_ROW}px)"
