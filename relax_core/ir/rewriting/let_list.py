"""Lists of lets while a Relay scope is built: names for values, and the chain that they become."""

from typing import Final

from relax_core.ir.attrs import NO_ATTRS
from relax_core.ir.expr import Expr, Var
from relax_core.ir.relay import Let
from relax_core.ir.rewriting.builder import Names
from relax_core.ir.rewriting.rewrite import RewriteLog

GIVE_NAME: Final = "give a nested value a name"
"""The rule by which a value gets a let."""


class LetList:
    """The lets of one scope, in order. Every node that is made is led back to the value that it stands for."""

    def __init__(self, names: Names, log: RewriteLog) -> None:
        self._names = names
        self._log = log
        self._items: list[tuple[Var, Expr, Expr]] = []

    def push(self, value: Expr, origin: Expr) -> Var:
        """Bind `value`, which stands for `origin`, to a fresh variable."""
        var = Var(self._names.fresh("x"), span=origin.span)
        self._log.replace(origin, var, GIVE_NAME)
        self.bind(var, value, origin)
        return var

    def bind(self, var: Var, value: Expr, origin: Expr) -> None:
        """Bind `value` to a variable that exists; the let stems from `origin`."""
        self._items.append((var, value, origin))

    def wrap(self, body: Expr) -> Expr:
        """Return the lets around `body`; a let that is what it was stays the same object."""
        for var, value, origin in reversed(self._items):
            if isinstance(origin, Let) and (origin.var, origin.value, origin.body) == (var, value, body):
                body = origin
                continue
            attrs = origin.attrs if isinstance(origin, Let) and origin.var is var else NO_ATTRS
            body = Let(var, value, body, attrs, span=origin.span)
            self._log.derive(body, (origin,))
        return body
