"""What type inference gives, for Relax and for Relay."""

from collections.abc import Mapping
from dataclasses import dataclass, field
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
