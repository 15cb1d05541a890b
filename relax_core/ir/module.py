"""Modules: ordered functions with their global names and attributes."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import ClassVar, TypeAlias

from relax_core.ir.attrs import NO_ATTRS, Attrs, attr
from relax_core.ir.expr import Function, GlobalVar
from relax_core.ir.node import Node, node
from relax_core.ir.relay import TypeData
from relax_core.ir.tir import PrimFunc

BaseFunc: TypeAlias = Function | PrimFunc


@node
class Definition(Node):
    """A function of a module under its name."""

    CHILDREN: ClassVar[tuple[str, ...]] = ("var", "function")
    var: GlobalVar
    function: BaseFunc


@node
class IRModule(Node):
    """A module.

    `name` is the class name in the text, and `is_checked` whether the text wants it to be well-formed: not with
    `check_well_formed=False`. Both take no part in equality.
    """

    CHILDREN: ClassVar[tuple[str, ...]] = ("type_data", "definitions")
    definitions: tuple[Definition, ...] = ()
    attrs: Attrs = NO_ATTRS
    global_infos: Attrs = NO_ATTRS
    name: str = "Module"
    type_data: tuple[TypeData, ...] = ()
    is_checked: bool = True

    def __iter__(self) -> Iterator[Definition]:
        return iter(self.definitions)

    def find(self, name: str) -> Definition | None:
        """Return the definition called `name`."""
        return next((item for item in self.definitions if item.var.name == name), None)

    def __getitem__(self, name: str) -> BaseFunc:
        found = self.find(name)
        if found is None:
            raise KeyError(name)
        return found.function

    def __contains__(self, name: object) -> bool:
        return any(item.var.name == name for item in self.definitions)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the functions in order."""
        return tuple(item.var.name for item in self.definitions)

    @property
    def relax_functions(self) -> tuple[tuple[GlobalVar, Function], ...]:
        """The Relax functions in order."""
        return tuple((d.var, d.function) for d in self.definitions if isinstance(d.function, Function))

    @property
    def prim_funcs(self) -> tuple[tuple[GlobalVar, PrimFunc], ...]:
        """The prim funcs in order."""
        return tuple((d.var, d.function) for d in self.definitions if isinstance(d.function, PrimFunc))

    def map_functions(self, change: Callable[[Function], Function]) -> "IRModule":
        """Return the module with `change` applied to its functions, prim funcs aside; itself if nothing changed."""
        changed = [
            replace(item, function=after)
            for item in self.definitions
            if isinstance(item.function, Function) and (after := change(item.function)) is not item.function
        ]
        return self.with_definitions(*changed) if changed else self

    def with_definitions(self, *added: Definition) -> "IRModule":
        """Return the module with `added` behind its definitions; one with a name that is there replaces it."""
        by_name = {item.var.name: item for item in self.definitions}
        by_name.update((item.var.name, item) for item in added)
        return replace(self, definitions=tuple(by_name.values()))


def without_own_symbol(function: BaseFunc, name: str) -> BaseFunc:
    """Return a function without a `global_symbol` that says what every public function's is: its name."""
    if function.is_private or attr(function.attrs, "global_symbol") != name:
        return function
    return replace(function, attrs=tuple(item for item in function.attrs if item[0] != "global_symbol"))
