"""The state of reading one Relax function: names, types, symbolic dimensions, and bindings so far.

A call is read with its arguments, which are expressions: `RelaxReader` declares how one is read, which `relax_expr.py`
implements.
"""

import ast
import re
from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from typing import Self, TypeAlias

from relax_core.frontend.tvmscript.context import Context, Failed, Place
from relax_core.frontend.tvmscript.literal.numbers import Number
from relax_core.frontend.tvmscript.literal.values import Literal, Value
from relax_core.frontend.tvmscript.names import suggestion
from relax_core.frontend.tvmscript.plain.plain_types import plain_dims
from relax_core.frontend.tvmscript.relax.coerce import to_expr
from relax_core.frontend.tvmscript.relax.types import TypeReader
from relax_core.frontend.tvmscript.scalar.prim_variables import PrimVariables
from relax_core.frontend.tvmscript.scalar.scalars import ScalarReader
from relax_core.frontend.tvmscript.scope import (
    Entity,
    Forward,
    ModuleName,
    ModuleScope,
    Poisoned,
    Regional,
    Scope,
)
from relax_core.ir.expr import Binding, Expr, GlobalVar, Type, Var
from relax_core.ir.prim import PrimExpr, PrimVar

_KnownType: TypeAlias = tuple[Type, tuple[tuple[str, Entity | None], ...]]
"""A type that has been read, and what the names in its words stood for."""
_LEAST, _LARGEST = -(1 << 63), (1 << 63) - 1
_NAMES = re.compile(r"(?<![\w.])[^\W\d]\w*(?![\w=])")
"""What may be names in the words of a type: neither attributes nor keywords."""


@dataclass(slots=True)
class RelaxReader(ABC):
    """Reads the expressions of one function in one scope.

    `bindings` takes those that an expression needs before it. `level` counts the functions around this place, and
    `dtypes` holds those that the body declares for its symbolic dimensions. `tuples` are variables known to be tuples,
    `parameters` the parameter types of local functions; `macros` are the names of those that are being read.
    """

    context: Context
    module: ModuleScope
    scope: Scope
    level: int = 0
    dtypes: dict[str, str] = field(default_factory=dict[str, str])
    bindings: list[Binding] = field(default_factory=list[Binding])
    tuples: set[Var] = field(default_factory=set[Var])
    parameters: dict[Var, tuple[Type | None, ...]] = field(default_factory=dict[Var, "tuple[Type | None, ...]"])
    prims: PrimVariables = field(default_factory=PrimVariables)
    known_types: dict[str, "_KnownType"] = field(default_factory=dict[str, "_KnownType"])
    macros: tuple[str, ...] = ()

    def inner(self) -> Self:
        """Return a reader of a list of statements inside this one."""
        return replace(self, scope=self.scope.inner(), bindings=[], prims=self.prims.inner())

    def types(self, *, defines: bool = False) -> TypeReader:
        """Make the reader of types in this scope."""
        return TypeReader(
            *(self.context, self.scope.find, self.define_symbol, self.undefined, self.lookup, defines),
            *(self._scalar_of, self.prims),
        )

    def declared(self, node: ast.expr, *, defines: bool = False) -> Type:
        """Read a declared type; the same words, whose names stand for the same things, give the same type again."""
        plain = self.context.plain.get(node.id) if isinstance(node, ast.Name) else None
        text = plain if plain is not None and self.context.is_ascii else self.context.words(node)
        find = self.scope.find
        if (known := self.known_types.get(text)) is not None:
            for name, entity in known[1]:
                if find(name) is not entity:
                    break
            else:
                return known[0]
        made = self.types(defines=defines).read(node)
        if text:
            names = _NAMES.findall(text) if plain is None else plain_dims(plain)
            self.known_types[text] = made, tuple((name, find(name)) for name in names)
        return made

    def scalars(self) -> ScalarReader:
        """Make the reader of scalar expressions in this scope."""
        return self.types().scalars()

    def _scalar_of(self, value: Expr, node: ast.expr) -> PrimExpr | None:
        """Return the scalar expression that stands for a value; `None` if it is not known to be a host scalar."""
        return self.prims.scalar(value, self.bindings, self.context.span(node))

    def define_symbol(self, name: str, place: Place) -> PrimVar:
        """Define a symbolic dimension; its dtype is int64 unless the body declares another."""
        dtype = self.dtypes.get(name) or self.context.type_vars.get(name, "int64")
        symbol = PrimVar(name, dtype, span=self.context.span(place))
        scope = self.scope.root() if name in self.context.type_vars else self.scope
        scope.define(name, symbol)
        return symbol

    def literal(self, value: Number | str | None, node: ast.expr) -> Literal:
        """Return what a number or a string of Python stands for; an integer fits 64 bits."""
        if isinstance(value, int) and not _LEAST <= value <= _LARGEST:
            raise self.context.fail("PA010", node, "the integer does not fit 64 bits")
        return Literal(value, self.context.span(node))

    @abstractmethod
    def read(self, node: ast.expr) -> Value:
        """Read an expression as what it is by itself."""

    def expr(self, node: ast.expr, expected: Type | None = None) -> Expr:
        """Read an expression as a node; `expected` decides what a bare literal is."""
        return to_expr(self.context, self.read(node), node, expected)

    def lookup(self, node: ast.Name) -> Entity:
        """Return what a name stands for; raises `Failed` with a diagnostic if that is nothing."""
        found = self.scope.find(node.id)
        match found:
            case None:
                pass
            case Poisoned():
                raise Failed(node.id)
            case Forward(var=var, level=level):
                if self.level > level:
                    return var
                raise self.context.fail(
                    "RS005", node, f"the function `{node.id}` is used before its definition", "move the use behind it"
                )
            case Regional():
                hint = f"add it to R.output(...) of its dataflow block: R.output({node.id})"
                raise self.context.fail("RS001", node, f"`{node.id}` is visible only in its dataflow block", hint)
            case _:
                return found
        if node.id in self.module.functions:
            return self.module.functions[node.id]
        if node.id in self.context.type_vars:
            return self.define_symbol(node.id, node)
        raise self.undefined(node)

    def undefined(self, node: ast.Name) -> Failed:
        """Report that a name is not defined, with the one that may be meant."""
        if node.id in self.module.broken:
            return Failed(node.id)
        hint = suggestion(node.id, [*self.scope.visible(), *self.module.functions])
        return self.context.fail_undefined(node, hint)

    def is_module(self, name: str) -> bool:
        """Tell whether a name is one of the module: its own, what stands for it, or what a class calls itself by.

        A text in the style of a class writes `self.f` or `cls.f` without saying what these are.
        """
        found = self.scope.find(name)
        return isinstance(found, ModuleName) or (found is None and name in (self.module.name, "self", "cls"))

    def global_function(self, node: ast.Attribute) -> GlobalVar | None:
        """Return the function that `Module.f` or `cls.f` names, `None` if the base is not the module."""
        if not isinstance(node.value, ast.Name) or not self.is_module(node.value.id):
            return None
        found = self.module.functions.get(node.attr)
        if found is not None:
            return found
        if node.attr in self.module.broken:
            raise Failed(node.attr)
        hint = suggestion(node.attr, self.module.functions, f"{node.value.id}.")
        raise self.context.fail("RS003", node, f"the module has no function `{node.attr}`", hint)
