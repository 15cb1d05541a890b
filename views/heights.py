"""Heights of panes under a context bar that takes a second row in a narrow window."""

_ROW = 42
"""Pixels of a row of the context bar."""


def pane_height(bar_width: int, share: int = 100, less: int = 139) -> str:
    """Return the height of a pane with `share` percent of the window, less so many pixels for what is around it.

    In a window narrower than `bar_width` pixels the bar has a second row, which the pane gives way to.
    """
    return f"calc({share}vh - {less}px - {second_row(bar_width)})"


def second_row(bar_width: int) -> str:
    """Return the height of the bar's second row: nothing in a window of `bar_width` pixels or more."""
    return f"clamp(0px, ({bar_width}px - 100vw) * {_ROW}, {_ROW}px)"
