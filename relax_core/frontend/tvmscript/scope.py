"""Scopes of Relax functions and prim funcs: what a name stands for."""

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from relax_core.ir.expr import Expr, GlobalVar, Type, Var
from relax_core.ir.prim import PrimExpr
from relax_core.ir.tir import Buffer


@dataclass(frozen=True, slots=True)
class Poisoned:
    """A name whose definition failed; uses of it are not reported again."""


@dataclass(frozen=True, slots=True)
class ModuleName:
    """A name of the module itself: its class name, or `cls` after `cls = Module`."""


@dataclass(frozen=True, slots=True)
class Forward:
    """A local function that is defined later in the same list of statements, `level` functions deep."""

    var: Var
    level: int


@dataclass(frozen=True, slots=True)
class Regional:
    """A variable of a dataflow block that has ended without giving it out."""


@dataclass(frozen=True, slots=True)
class Macro:
    """A macro, with the scope in which its free names are looked up; that of the call if it is not hygienic."""

    node: ast.FunctionDef
    scope: "Scope"
    is_hygienic: bool = True


@dataclass(frozen=True, slots=True)
class Several:
    """A name of several things, such as `i` of `for *i, j in T.grid(2, 3, 4)`."""

    items: "tuple[Entity, ...]"


@dataclass(frozen=True, slots=True)
class OperatorName:
    """A name for an operator, after `f = R.add`."""

    node: ast.Attribute


Entity = Var | PrimExpr | Buffer | Expr | Poisoned | ModuleName | Forward | Regional | Macro | Several | OperatorName

POISONED = Poisoned()
REGIONAL = Regional()
MODULE_NAME = ModuleName()


@dataclass(slots=True)
class Scope:
    """Names of one list of statements, on top of those around it."""

    outer: "Scope | None" = None
    names: dict[str, Entity] = field(default_factory=dict[str, Entity])

    def find(self, name: str) -> Entity | None:
        """Return what `name` stands for here."""
        scope: Scope | None = self
        while scope is not None:
            found = scope.names.get(name)
            if found is not None:
                return found
            scope = scope.outer
        return None

    def define(self, name: str, entity: Entity) -> None:
        """Let `name` stand for `entity` from here on."""
        self.names[name] = entity

    def inner(self) -> "Scope":
        """Open a scope inside this one."""
        return Scope(self)

    def root(self) -> "Scope":
        """Return the outermost scope."""
        scope = self
        while scope.outer is not None:
            scope = scope.outer
        return scope

    def visible(self) -> Iterator[str]:
        """List the names that can be used here."""
        scope: Scope | None = self
        while scope is not None:
            yield from (name for name, entity in scope.names.items() if not isinstance(entity, Poisoned | Regional))
            scope = scope.outer


@dataclass(frozen=True, slots=True)
class ModuleScope:
    """The functions of the module that is read.

    `parameters` and `results` are the types that their signatures declare, as far as a bare literal argument and
    scalar arithmetic need them; `broken` are names whose definition failed.
    """

    name: str
    functions: Mapping[str, GlobalVar]
    parameters: Mapping[str, tuple[Type | None, ...]] = field(default_factory=dict[str, "tuple[Type | None, ...]"])
    broken: frozenset[str] = frozenset()
    results: Mapping[str, Type | None] = field(default_factory=dict[str, "Type | None"])
