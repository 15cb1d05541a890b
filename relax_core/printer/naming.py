"""Names for a text: unique in each function, and legal."""

import keyword
import unicodedata
from collections.abc import Iterable

from relax_core.ir.expr import (
    Constant,
    DataTypeImm,
    Expr,
    ExternFunc,
    GlobalVar,
    MatchCast,
    Null,
    Op,
    Var,
    VarBinding,
)
from relax_core.ir.module import BaseFunc
from relax_core.ir.node import Node, children, preorder
from relax_core.ir.prim import FloatImm, IntImm, PrimExpr, PrimVar, StringImm
from relax_core.ir.substitute import type_nodes, types_in
from relax_core.ir.tir import Buffer, PrimFunc

RESERVED = (
    "R", "T", "I", "relax", "tir", "tirx", "tvm", "cls", "np", "range", "float", "Tensor", "Shape", "Tuple", "Callable",
    "Object", "Any", "Prim", "DTensor", "TypeVar", "True", "False", "None", "_",
)  # fmt: skip

_NAMELESS = frozenset((Op, Constant, IntImm, FloatImm, StringImm, DataTypeImm, ExternFunc, Null))
"""Leaves that say nothing about names; most nodes are such."""


def legal(name: str, otherwise: str = "v") -> str:
    """Return `name` as a Python identifier that is no keyword."""
    name = unicodedata.normalize("NFKC", name)
    if not name.isidentifier():
        name = "".join(char if char.isidentifier() or (char.isalnum() and char.isascii()) else "_" for char in name)
        name = name if name.isidentifier() else f"{otherwise}{name}"
        name = unicodedata.normalize("NFKC", name)
    return f"{name}_" if keyword.iskeyword(name) else name


class FunctionNames:
    """The names of one function: variables, symbolic dimensions and buffers, in the order of definition."""

    def __init__(self, function: BaseFunc, taken: Iterable[str]) -> None:
        # The names of a module are many and the same for all its functions: they are not copied.
        self._shared = taken if isinstance(taken, frozenset) else frozenset(taken)
        self._taken: set[str] = set(RESERVED)
        self._next: dict[str, int] = {}
        self._names: dict[Node, str] = {}
        # The function holds its types, so their identities stay theirs.
        self._types_seen: set[int] = set()
        self.symbols: dict[PrimVar, None] = {}
        self.uses_globals = False
        self.used: set[Node] = set()
        self._hidden: frozenset[Node] = frozenset()
        if isinstance(function, PrimFunc):
            # A buffer in the signature hides the handle that it is passed by.
            self._hidden = frozenset(item.handle for item in function.buffers if item.is_inline)
        self._walk(function)

    def _walk(self, function: BaseFunc) -> None:
        """Collect what has a name, in the order of the text."""
        seen: set[Node] = set()
        stack: list[Node] = [function]
        while stack:
            node = stack.pop()
            if node in seen:
                continue
            seen.add(node)
            parts = children(node)
            self._collect(node, parts)
            stack += [part for part in reversed(parts) if type(part) not in _NAMELESS]

    def __getitem__(self, node: Node) -> str:
        if node not in self._names:
            self._name(node, getattr(node, "name", "v"))
        return self._names[node]

    def fresh(self, hint: str) -> str:
        """Return a name that nothing has."""
        base = legal(hint)
        name = base
        if name in self._taken or name in self._shared:
            count = self._next.get(base, 1)
            while (name := f"{base}_{count}") in self._taken or name in self._shared:
                count += 1
            self._next[base] = count + 1
        self._taken.add(name)
        return name

    def is_discarded(self, var: Var) -> bool:
        """Tell whether the value of a variable called `_` is never used: it is printed as a bare statement."""
        return var.name == "_" and var not in self.used

    def _collect(self, node: Node, parts: tuple[Node, ...]) -> None:
        for type_ in types_in(node):
            if id(type_) not in self._types_seen:
                self._types_seen.add(id(type_))
                for root in type_nodes(type_):
                    self._collect_in_type(root)
        if isinstance(node, Var):
            if node.name != "_":
                self._name(node, node.name)
        elif isinstance(node, GlobalVar):
            self.uses_globals = True
        elif isinstance(node, PrimVar | Buffer) and node not in self._hidden:
            self._name(node, node.name)
            if isinstance(node, PrimVar):
                self.symbols.setdefault(node)
        defined = node.var if isinstance(node, VarBinding | MatchCast) else None
        for part in parts:
            if isinstance(part, Var) and part is not defined:
                self.used.add(part)

    def _collect_in_type(self, root: PrimExpr | Var | Expr) -> None:
        for node in preorder(root):
            if isinstance(node, PrimVar):
                self.symbols.setdefault(node)
                self._name(node, node.name)
            elif isinstance(node, Var):
                self.used.add(node)

    def _name(self, node: Node, hint: str) -> None:
        if node in self._names:
            return
        if isinstance(node, Var) and hint == "_":
            hint = "v"
        self._names[node] = self.fresh(hint)
