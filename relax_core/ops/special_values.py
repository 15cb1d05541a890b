"""What operators give at special values, in words: where they differ from NumPy's functions or from apache-tvm."""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType


def _read() -> dict[str, tuple[str, ...]]:
    table: dict[str, str] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
    found: dict[str, tuple[str, ...]] = {}
    for names, words in table.items():
        for name in names.split(" / "):
            found[name] = (*found.get(name, ()), words)
    return found


SPECIAL_VALUES: Mapping[str, tuple[str, ...]] = MappingProxyType(_read())
"""By the operator's name without "relax.": what it gives for NaN, infinities, ends and no elements, in paragraphs."""
