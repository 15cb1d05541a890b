"""Telling the text of a compiler from that of a person."""

_HEADS = ("# from tvm", "# from typing", "# import tvm")


def is_printed(text: str) -> bool:
    """Tell whether a compiler printed the text, so that its mistakes are those of a pass, not of who wrote it."""
    return text.lstrip().startswith(_HEADS)
