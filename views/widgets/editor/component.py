"""The code editor: text with highlighting, problems, and the node under the caret."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import msgspec

from relax_core.engine.components.commands import Buttons
from relax_core.present.catalog_of.catalog_models import Vocabulary
from relax_core.present.models import Code, LineHeat
from relax_core.present.running.run_models import LastValue
from views.widgets.channel import PANE_HEIGHT, channel


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


class EditorProps(msgspec.Struct, frozen=True):
    """What the page says beside the text."""

    tabs: Buttons
    tab: str
    actions: Buttons
    is_readonly: bool
    height: str
    go_line: tuple[int, int]
    """A command: the line, and a number that is changed to go there again."""
    is_withheld: bool
    """Problems are held back: the list says so, and not that there are none."""
    heat: LineHeat | None
    """What the lines take; None shows nothing of it."""
    values: tuple[LastValue, ...]
    """What names of this very text held last in a run of it."""


NO_WORDS = Vocabulary(())
_EDITOR = channel("editor", Code, EditorProps, EditorAction, apart=Vocabulary)


def editor(
    code: Code,
    *,
    key: str,
    vocabulary: Vocabulary = NO_WORDS,
    selected: str = "",
    go_line: tuple[int, int] = (0, 0),
    tabs: Buttons = (),
    tab: str = "",
    actions: Buttons = (),
    is_readonly: bool = False,
    height: str = PANE_HEIGHT,
    is_withheld: bool = False,
    heat: LineHeat | None = None,
    values: tuple[LastValue, ...] = (),
    on_action: Callable[[EditorAction], None] | None = None,
) -> EditorAction | None:
    """Show a text to edit.

    Args:
        code: text with tokens, ranges and problems. The user's text stays if it is only behind (typed meanwhile);
            it is replaced if `code.text` is neither what was shown nor what was typed.
        key: names the component on the page.
        vocabulary: the words of the language, for completion and hovers.
        selected: node whose line is marked and scrolled to.
        go_line: a line to go to and a number that is changed to go there again.
        tabs: tabs in the head; by default the name of `code`.
        tab: the tab that is chosen.
        actions: buttons at the right of the head.
        is_readonly: the text can be marked and copied, and not changed.
        height: a CSS length.
        is_withheld: the list of problems says that they are held back, and not that there are none.
        heat: what the lines take of a quantity, as stripes beside them.
        values: what names of this text held last in a run of it, for hovers.
        on_action: called with what the user did.
    """
    return _EDITOR.show(
        key,
        code,
        view=EditorProps(tabs, tab, actions, is_readonly, height, go_line, is_withheld, heat, values),
        commands={"node": selected},
        mirrored={"text": code.text},
        base=vocabulary,
        on_action=on_action,
    )
