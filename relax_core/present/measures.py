"""How wide a text is, and how large a number of bytes, in a few characters."""

import unicodedata


def columns(text: str) -> int:
    """Count the columns of a fixed-width font that `text` takes."""
    if text.isascii():
        return len(text)
    return sum(2 if unicodedata.east_asian_width(ch) in "WF" else 1 for ch in text)


def cut(text: str, limit: int) -> str:
    """Return `text` with at most `limit` columns; what is cut is shown by `…`."""
    if columns(text) <= limit:
        return text
    kept: list[str] = []
    used = 1
    for ch in text:
        used += columns(ch)
        if used > limit:
            break
        kept.append(ch)
    return "".join(kept) + "…"


def bytes_text(count: int) -> str:
    """`20 B`, `1.1 kB`, `3.4 MB`."""
    if count < 1000:
        return f"{count} B"
    for unit, size in (("kB", 1e3), ("MB", 1e6), ("GB", 1e9)):
        if count < size * 1000 or unit == "GB":
            return f"{count / size:.1f} {unit}"
    raise AssertionError
