"""The names of a module, and the names that are visible at a place."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeVar

from relax_core.ir.expr import GlobalVar, Type
from relax_core.ir.node import Node
from relax_core.ir.relay import Constructor

V = TypeVar("V")


@dataclass(slots=True)
class ModuleNames:
    """What a module defines. A type is known by the number of its parameters, `None` if that is not known."""

    globals: dict[str, GlobalVar] = field(default_factory=dict[str, GlobalVar])
    types: dict[str, int | None] = field(default_factory=dict[str, "int | None"])
    constructors: dict[str, Constructor] = field(default_factory=dict[str, Constructor])
    # A text without a version may be a part of a module: functions of other parts are declared as they are met.
    is_fragment: bool = False
    undefined: dict[str, GlobalVar] = field(default_factory=dict[str, GlobalVar])


@dataclass(slots=True)
class Notes:
    """What a text says beside the program: types in comments, and device marks such as `<cpu(0)>`."""

    types: dict[Node, Type] = field(default_factory=dict[Node, Type])
    marks: dict[Node, str] = field(default_factory=dict[Node, str])
    missing_tables: set[str] = field(default_factory=set[str])


class Names(Generic[V]):
    """A scoped symbol table with an undo list: entering is O(1), leaving costs what was defined inside.

    `ended` are the names of scopes that have been left.
    """

    def __init__(self) -> None:
        self.visible: dict[str, V] = {}
        self.ended: set[str] = set()
        self._before: list[tuple[str, V | None]] = []

    def enter(self) -> int:
        """Start a scope and return the mark to leave it with."""
        return len(self._before)

    def define(self, name: str, value: V) -> None:
        """Make `name` visible until the scope is left."""
        self._before.append((name, self.visible.get(name)))
        self.visible[name] = value

    def leave(self, mark: int) -> None:
        """Forget what was defined since `mark`."""
        while len(self._before) > mark:
            name, value = self._before.pop()
            self.ended.add(name)
            if value is None:
                del self.visible[name]
            else:
                self.visible[name] = value


class Library(Protocol):
    """Definitions that a module may use without having them; what is used is added to the module."""

    @property
    def type_names(self) -> Iterable[str]:
        """The types that can be added."""
        ...

    @property
    def constructor_names(self) -> Iterable[str]:
        """The constructors that can be added."""
        ...

    @property
    def global_names(self) -> Iterable[str]:
        """The functions that can be added."""
        ...

    def add_type(self, name: str) -> bool:
        """Add a type with its constructors; `False` if there is none of this name."""
        ...

    def add_constructor(self, name: str) -> bool:
        """Add the type that has a constructor."""
        ...

    def add_global(self, name: str) -> bool:
        """Add a function."""
        ...
