"""Every diagnostic code with one paragraph, read from `codes.toml`."""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

CODES: Mapping[str, str] = MappingProxyType(
    tomllib.loads(Path(__file__).with_name("codes.toml").read_text(encoding="utf-8"))
)
