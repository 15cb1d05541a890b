"""A program for each pass, on which what the pass does can be seen."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Final

_FILE: Final = Path(__file__).with_suffix(".toml")
"""By `dialect.Name`: the pass with its options, and a program, or the name of one that several share."""
_RULES: Final = "ApplyRules:"


@dataclass(frozen=True, slots=True)
class Example:
    """A program, and the pass that runs on it."""

    step: str
    """As a pipeline names the pass, with its options; the rules to apply behind `ApplyRules:`."""
    program: str
    table: str = ""

    @property
    def rules(self) -> str:
        """The rewrite rules, empty for any other pass."""
        return self.step.removeprefix(_RULES).strip() if self.step.startswith(_RULES) else ""

    @property
    def pipeline(self) -> str:
        """The pipeline of that pass alone."""
        return _RULES.removesuffix(":") if self.rules else self.step


@lru_cache(maxsize=1)
def examples() -> Mapping[str, Example]:
    """Return the example of each pass by `dialect.Name`."""
    given = tomllib.loads(_FILE.read_text(encoding="utf-8"))
    shared = given.pop("programs")
    made = (
        Example(**{**fields, "program": shared.get(fields["program"], fields["program"])}) for fields in given.values()
    )
    return MappingProxyType(dict(zip(given, made, strict=True)))
