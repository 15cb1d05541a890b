"""What the user looks at as one frozen value: a record of state for each page, and those that pages share."""

from collections.abc import Mapping
from dataclasses import Field, dataclass, fields, replace
from types import MappingProxyType
from typing import Any, Final, TypeVar

from views.manifests import MANIFESTS
from views.state.rules import KEPT, KEY, Kept, Rule
from views.state.shared import ClassState, FocusState, LessonState, ProgramState

S = TypeVar("S")

RECORDS: Final[tuple[type[Any], ...]] = (
    ProgramState,
    FocusState,
    LessonState,
    ClassState,
    *(item.state for item in MANIFESTS.values() if item.state is not None),
)
_FIELDS: Final[Mapping[str, "Field[Any]"]] = MappingProxyType(
    {item.name: item for record in RECORDS for item in fields(record)}
)
RULES: Final[Mapping[str, Rule]] = MappingProxyType({name: item.metadata[KEY] for name, item in _FIELDS.items()})
"""What each field of each record may be: the table by which an address is read."""

if len(_FIELDS) < sum(len(fields(record)) for record in RECORDS):
    raise TypeError("two records of state have a field of one name, which an address could not tell apart")


@dataclass(frozen=True, slots=True)
class Selection:
    """A screen: which module, which pipeline, which stage, which node, which time."""

    records: tuple[Any, ...] = tuple(record() for record in RECORDS)
    """One of each of `RECORDS`, in that order."""

    def of(self, record: type[S]) -> S:
        """Return the record of a class."""
        found: S = self.records[RECORDS.index(record)]
        return found

    def values(self) -> dict[str, str | int]:
        """Return all fields by their names."""
        return {item.name: getattr(record, item.name) for record in self.records for item in fields(record)}

    def changed(self, **values: str | int) -> "Selection":
        """Return the selection with other values of some fields.

        Raises:
            TypeError: no record has such a field.
        """
        unknown = values.keys() - _FIELDS.keys()
        if unknown:
            raise TypeError(f"no record of state has a field {', '.join(sorted(unknown))}")
        return Selection(tuple(_with(record, values) for record in self.records))

    def kept(self, at_least: Kept) -> "Selection":
        """Return a selection that has what stays as it is when another text, or another sample, is opened."""
        levels = ("always",) if at_least == "always" else ("edit", "always")
        values = self.values()
        return screen(**{name: values[name] for name, item in _FIELDS.items() if item.metadata[KEPT] in levels})


def _with(record: Any, values: Mapping[str, str | int]) -> Any:
    own = {item.name: values[item.name] for item in fields(record) if item.name in values}
    return replace(record, **own) if own else record


_DEFAULT: Final = Selection()


def screen(**values: str | int) -> Selection:
    """Return the selection whose fields are as they are by default but for `values`."""
    return _DEFAULT.changed(**values)
