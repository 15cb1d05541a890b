"""The one place where text of a user's program becomes part of DOT, SVG, HTML, Markdown or the name of a file."""

import html
import re
import unicodedata
from collections.abc import Iterable
from itertools import starmap
from typing import Final

# Streamlit rewrites the text that its Markdown parser leaves: icons, its logo, free-standing arrows and relations,
# addresses. Each is broken up after its first characters.
_MADE_OF_TEXT: Final = re.compile(
    r":(?=material_|streamlit:)|[-<>~](?=[->=])|\b(?:https?|www)(?=[:.])|(?<=\w)@",
    re.IGNORECASE,
)
# An empty coloured span: it shows nothing, and keeps the text before and after it from being read together.
_APART: Final = ":red[]"
_LONGEST_NAME: Final = 100


def visible(text: str) -> str:
    """Replace characters that affect how their neighbours are shown by escapes, such as `\\u202e`.

    Control characters, directional marks and lone surrogates could reorder or hide the text around them, and most are
    not allowed in XML.
    """
    if text.isprintable():
        return text
    return "".join(_escape_of(ch) if _is_hidden(ch) else ch for ch in text)


def _is_hidden(ch: str) -> bool:
    return unicodedata.category(ch) in ("Cc", "Cf", "Cs", "Zl", "Zp") or ord(ch) & 0xFFFE == 0xFFFE


def markup(text: str) -> str:
    """Escape `text` for an HTML-like label of Graphviz, or for XML."""
    return html.escape(visible(text), quote=True)


def attribute(html_page: str) -> str:
    """Write a page of HTML, whose own texts are escaped, as the value of an attribute such as `srcdoc`."""
    return html.escape(html_page, quote=True)


def dot_string(text: str) -> str:
    """Write `text` as a quoted DOT string; Graphviz's own escapes (`\\n`, `\\N`) lose their meaning."""
    return '"' + visible(text).replace("\\", "\\\\").replace('"', '\\"') + '"'


def literal(text: str) -> str:
    """Write `text` as Markdown that Streamlit shows as exactly that text, whatever it holds.

    Every character that could mean something is written as its number: a backslash would not do, since colons
    between words still become symbols and an address becomes a link.
    """
    return _literal(_one_line(text))


def prose(text: str) -> str:
    """Write a message as Markdown in which what stands between backticks is code, and all else as it is."""
    parts = _one_line(text).split("`")
    if len(parts) % 2 == 0:
        # A backtick without another one is no mark of code.
        parts[-2:] = ["`".join(parts[-2:])]
    return "".join(starmap(_literal_or_code, enumerate(parts)))


def authored(text: str) -> str:
    """Return the Markdown that an author of lessons or documents wrote, hidden characters as escapes."""
    return "\n".join(map(visible, text.split("\n")))


def bold(title: str) -> str:
    """Write a title in bold."""
    return f"**{literal(title)}**"


def sentence(title: str, message: str) -> str:
    """Write a title in bold, and a message behind it."""
    return f"{bold(f'{title}.')} {prose(message)}"


def table(heads: tuple[str, str], rows: Iterable[tuple[str, str]]) -> str:
    """Write a table of two columns."""
    return "\n".join(f"| {left} | {right} |" for left, right in (heads, ("---", "---"), *starmap(_cells, rows)))


def _cells(left: str, right: str) -> tuple[str, str]:
    return prose(left), prose(right)


def badge(text: str, colour: str) -> str:
    """Write a text as a small label in one of Streamlit's colours."""
    return f":{colour}-badge[{literal(text)}]"


def bullets(items: Iterable[str]) -> str:
    """Write messages as a list."""
    return "\n".join(f"- {prose(item)}" for item in items)


def file_name(text: str) -> str:
    """Make a file name of `text`: no folders, no control characters, nothing special to a shell or a system."""
    name = re.sub(r"[^\w.+-]+", "_", text.replace("\\", "/").rpartition("/")[2]).lstrip(".-")[:_LONGEST_NAME]
    return name if name.strip("._") else "module"


def _one_line(text: str) -> str:
    return " ".join(map(visible, text.splitlines())).strip(" ")


def _literal(shown: str) -> str:
    parts: list[str] = []
    start = 0
    for found in _MADE_OF_TEXT.finditer(shown):
        parts += (_numbered(shown[start : found.end()]), _APART)
        start = found.end()
    return "".join((*parts, _numbered(shown[start:])))


def _literal_or_code(place: int, part: str) -> str:
    # Streamlit replaces symbols between colons everywhere, code included, once one stands anywhere; and it strips
    # spaces at the ends of code.
    is_code = place % 2 == 1 and part.strip() and not re.search(r":[^\s:]+:", part)
    if is_code:
        return f"`{part}`"
    return _literal(f"`{part}`" if place % 2 == 1 else part)


def _numbered(text: str) -> str:
    """Write each ASCII character that is no letter, digit or first space as its number."""
    kept = "".join(ch if ch.isalnum() or ch == " " or ord(ch) > 127 else f"&#{ord(ch)};" for ch in text)
    return re.sub(r"(?<= ) ", "&#32;", kept)


def _escape_of(ch: str) -> str:
    code = ord(ch)
    named = {"\n": "\\n", "\t": "\\t", "\r": "\\r"}.get(ch)
    return named or (f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}")
