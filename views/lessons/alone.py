"""The program without what a page finds of it, which a lesson asks to be predicted."""

import msgspec

from relax_core.engine.protocol import Failure, SourceView
from views.shell.heights import stacked_height
from views.widgets.editor.component import editor


def show_alone(page: str, source: SourceView | Failure) -> None:
    """Show the text of the program in place of the panes of `page`."""
    if not isinstance(source, Failure):
        code = msgspec.structs.replace(source.code, problems=(), names=())
        editor(code, key=f"{page}.alone", is_readonly=True, height=stacked_height(), is_withheld=True)
