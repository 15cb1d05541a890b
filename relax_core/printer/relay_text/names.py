"""Names of variables and type variables in a Relay function: unique, and legal in the text."""

import re
from collections.abc import Iterable, Set

from relax_core.frontend.relay.types import dtype_of_name
from relax_core.ir.expr import TypeVar, Var

_ILLEGAL = re.compile(r"[^\w?.]|\.(?![^\W\d])|\.$")


def relay_name(name: str) -> str:
    """Return `name` with what no identifier holds replaced."""
    legal = _ILLEGAL.sub("_", name) or "v"
    return f"v{legal}" if legal[0].isdigit() or legal[0] in "?." else legal


class RelayNames:
    """Gives each variable a name when it is first asked for: its own, with a number if that is taken.

    `used` are the variables that occur, and `types` the names that a type variable must not have.
    """

    def __init__(self, used: Set[Var], types: Iterable[str] = ()) -> None:
        self._used = used
        self._names: dict[Var | TypeVar, str] = {}
        self._vars: set[str] = {"_"}
        self._types: set[str] = {"_", "Tensor", *types}
        self._next: dict[str, int] = {}

    def var(self, var: Var) -> str:
        """Return the name of a variable, without `%`. All variables `_` that are never used share it."""
        if var.name == "_" and var not in self._used:
            return "_"
        found = self._names.get(var)
        return self._fresh(var, relay_name(var.name), self._vars) if found is None else found

    def type_var(self, variable: TypeVar) -> str:
        """Return the name of a type variable."""
        found = self._names.get(variable)
        return self._fresh(variable, relay_name(variable.name), self._types) if found is None else found

    def _fresh(self, key: Var | TypeVar, base: str, taken: set[str]) -> str:
        name = base
        while name in taken or (taken is self._types and dtype_of_name(name) is not None):
            count = self._next[base] = self._next.get(base, 0) + 1
            name = f"{base.rstrip('_') or 'v'}{count}"
        taken.add(name)
        self._names[key] = name
        return name
