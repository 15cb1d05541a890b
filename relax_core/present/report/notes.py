"""The notes of a reader, in Markdown, as HTML: HTML in them is text, and a picture of them is not fetched."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markdown_it.utils import OptionsDict

from relax_core.present.escape import authored, markup

_EMBEDDED: Final = re.compile(r"data:image/(png|jpeg|gif|webp);base64,[A-Za-z0-9+/=]+")


def notes(text: str) -> str:
    """Write Markdown as HTML. A picture stays if it is in the text itself; any other one is a link to where it is."""
    reader = MarkdownIt("commonmark", {"html": False}).enable("table").enable("strikethrough")
    reader.add_render_rule("image", _image)
    return str(reader.render(authored(text.replace("\r\n", "\n").expandtabs(4))))


def _image(
    _self: RendererHTML, tokens: Sequence[Token], index: int, options: OptionsDict, env: Mapping[str, Any]
) -> str:
    token = tokens[index]
    source, words = str(token.attrs.get("src", "")), markup(token.content or "picture")
    if _EMBEDDED.fullmatch(source):
        return f'<img src="{source}" alt="{words}">'
    return f'<a href="{markup(source)}">{words}</a>'
