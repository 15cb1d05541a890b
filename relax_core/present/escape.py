"""The one place where text of a user's program becomes part of DOT or SVG."""

import html
import unicodedata


def visible(text: str) -> str:
    """Replace characters that change how others are shown by their escape, such as `\\u202e`.

    Control characters, marks of direction and lone surrogates could reorder or hide the text around them, and
    most are not allowed in XML.
    """
    return "".join(_escape_of(ch) if unicodedata.category(ch) in ("Cc", "Cf", "Cs", "Zl", "Zp") else ch for ch in text)


def markup(text: str) -> str:
    """Escape `text` for an HTML-like label of Graphviz, or for XML."""
    return html.escape(visible(text), quote=True)


def dot_string(text: str) -> str:
    """Write `text` as a quoted DOT string; Graphviz's own escapes (`\\n`, `\\N`) lose their meaning."""
    return '"' + visible(text).replace("\\", "\\\\").replace('"', '\\"') + '"'


def _escape_of(ch: str) -> str:
    code = ord(ch)
    named = {"\n": "\\n", "\t": "\\t", "\r": "\\r"}.get(ch)
    return named or (f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}")
