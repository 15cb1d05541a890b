"""Where a packed function's declaration is found: the library's table, what the host added, and further sources."""

import difflib
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final, TypeAlias

from relax_core.ops.packed.declared import SPECS
from relax_core.ops.packed.spec import PackedSpec

PACKED: Mapping[str, PackedSpec] = MappingProxyType({spec.name: spec for spec in SPECS})
"""The library's declarations by name."""

Source: TypeAlias = Callable[[str], PackedSpec | None]


class Declarations:
    """Declarations by name: those of the host before the library's, then what the sources know."""

    __slots__ = ("_added", "_sources")

    def __init__(self) -> None:
        self._added: dict[str, PackedSpec | None] = {}
        self._sources: tuple[Source, ...] = ()

    def add(self, name: str, spec: PackedSpec | None) -> None:
        """Declare the function `name`; `None` says that it has no schema."""
        self._added[name] = spec

    def add_source(self, source: Source) -> None:
        """Ask `source` for names that are in no table."""
        if source not in self._sources:
            self._sources = (*self._sources, source)

    def find(self, name: str) -> PackedSpec | None:
        """Return the declaration of the packed function `name`."""
        if name in self._added:
            return self._added[name]
        if name in PACKED:
            return PACKED[name]
        return next((spec for source in self._sources if (spec := source(name)) is not None), None)

    def all(self) -> tuple[PackedSpec, ...]:
        """Return the declarations of the tables, by name."""
        found = {**PACKED, **self._added}
        return tuple(spec for _, spec in sorted(found.items()) if spec is not None)

    def near(self, name: str) -> tuple[str, ...]:
        """Return at most three declared names that look like `name`."""
        return tuple(difflib.get_close_matches(name, [spec.name for spec in self.all()], 3, 0.6))


DECLARED: Final = Declarations()
