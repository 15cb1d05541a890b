"""Small Relax programs, one construct each, for comparisons with apache-tvm."""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

PROGRAMS: Mapping[str, str] = MappingProxyType(
    tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
)
"""By name, in the spelling of 2026."""
_OLDER_WORDS = (("out_ty=", "out_sinfo="), ("ty_args=", "sinfo_args="), ("R.Any", "R.Object"))


def in_older_words(text: str) -> str:
    """Return a program in the words of apache-tvm 0.25."""
    for word, older in _OLDER_WORDS:
        text = text.replace(word, older)
    return text
