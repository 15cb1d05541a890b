"""The code editor: text with highlighting, problems, and the node under the caret."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from relax_core.present.models import Code
from views.widgets.channel import PANE_HEIGHT, Buttons, channel


@dataclass(frozen=True, slots=True)
class EditorAction:
    """What the user did; `text` is the whole text at that moment."""

    kind: Literal["text", "submit", "open", "select", "tab", "command"]
    text: str
    node: str = ""
    command: str = ""
    """The id of the tab or button."""
    name: str = ""
    """The name of a file that was dropped onto the text."""


_EDITOR = channel("editor", EditorAction)


def editor(
    code: Code,
    *,
    key: str,
    selected: str = "",
    go_line: tuple[int, int] = (0, 0),
    tabs: Buttons = (),
    tab: str = "",
    actions: Buttons = (),
    is_readonly: bool = False,
    height: str = PANE_HEIGHT,
    on_action: Callable[[EditorAction], None] | None = None,
) -> EditorAction | None:
    """Show a text to edit.

    Args:
        code: text with tokens, ranges and problems. The user's text stays if it is only behind (typed meanwhile);
            it is replaced if `code.text` is neither what was shown nor what was typed.
        selected: node whose line is marked and scrolled to.
        go_line: a line to go to and a number that is changed to go there again.
        tabs: tabs in the head; by default the name of `code`.
        actions: buttons at the right of the head.
    """
    line, number = go_line
    return _EDITOR.show(
        key,
        code,
        view={
            "tabs": tabs,
            "tab": tab,
            "actions": actions,
            "is_readonly": is_readonly,
            "height": height,
            "go_line": (line, number),
        },
        commands={"node": selected},
        mirrored={"text": code.text},
        on_action=on_action,
    )
