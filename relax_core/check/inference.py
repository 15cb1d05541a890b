"""What type inference gives, for Relax and for Relay."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType

from relax_core.diagnostics import Diagnostic
from relax_core.ir.expr import Type
from relax_core.ir.node import Node


@dataclass(frozen=True, slots=True)
class Inference:
    """The types of a module's variables, expressions and globals, and what is wrong with them.

    `type_args` are those of the calls of polymorphic functions and constructors (Relay).
    """

    types: Mapping[Node, Type]
    diagnostics: tuple[Diagnostic, ...]
    type_args: Mapping[Node, tuple[Type, ...]] = field(default_factory=lambda: MappingProxyType({}))


class TypesWhenRead(Mapping[Node, Type]):
    """The types of a module, inferred when one is first asked for: a pass may find that it needs none."""

    def __init__(self, infer: Callable[[], Mapping[Node, Type]]) -> None:
        self._infer = infer

    @cached_property
    def _types(self) -> Mapping[Node, Type]:
        return self._infer()

    def __getitem__(self, node: Node) -> Type:
        return self._types[node]

    def __iter__(self) -> Iterator[Node]:
        return iter(self._types)

    def __len__(self) -> int:
        return len(self._types)
