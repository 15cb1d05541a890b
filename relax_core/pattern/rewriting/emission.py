"""Values that a callback nests, as bindings: what it uses at several places is computed once."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from relax_core.ir.expr import (
    LEAVES,
    Call,
    DataflowVar,
    Expr,
    Op,
    Tuple,
    TupleGetItem,
    Type,
    Var,
    VarBinding,
)
from relax_core.ir.node import Node, children
from relax_core.ir.rewriting.builder import Names

NOTHING_BOUND: Mapping[Expr, Var] = MappingProxyType({})


class Emission:
    """Binds nested values, those that are one object once; `bindings` are in the order of their evaluation.

    A value in `bound` has a variable already. `types` takes the types of what is made.
    """

    def __init__(
        self, names: Names, types: dict[Node, Type], bound: Mapping[Expr, Var] = NOTHING_BOUND, *, is_dataflow: bool
    ) -> None:
        self.bindings: list[VarBinding] = []
        self._names = names
        self._types = types
        self._kind = DataflowVar if is_dataflow else Var
        self._bound = bound
        self._operand_of: dict[Expr, Var] = {}
        self._rebuilt: dict[Expr, Expr] = {}

    def value(self, new: Expr) -> Expr:
        """Return `new` as the value of a binding: its operands are variables, literals, or tuples of them."""
        for node in _nested(new, self._bound):
            if node not in self._rebuilt:
                self._rebuilt[node] = self._with_operands(node)
        return self._rebuilt.get(new, new)

    def _with_operands(self, node: Expr) -> Expr:
        match node:
            case Call(op=op, args=args):
                keeps = isinstance(op, Op)
                new_args = tuple(
                    self._rebuilt[arg] if keeps and isinstance(arg, Tuple) else self._operand(arg) for arg in args
                )
                made: Expr = replace(node, op=self._operand(op), args=new_args)
            case Tuple(fields=fields):
                made = replace(node, fields=tuple(map(self._operand, fields)))
            case TupleGetItem(tuple_value=value):
                made = replace(node, tuple_value=self._operand(value))
            case _:
                return node
        if all(a is b for a, b in zip(children(made), children(node), strict=True)):
            return node
        if node in self._types:
            self._types[made] = self._types[node]
        return made

    def _operand(self, node: Expr) -> Expr:
        """Return what stands for a value where it is used."""
        if isinstance(node, LEAVES):
            return node
        found = self._bound.get(node) or self._operand_of.get(node)
        if found is None:
            value = self._rebuilt[node]
            var = self._kind(self._names.fresh("lv" if self._kind is DataflowVar else "gv"))
            if node in self._types:
                self._types[var] = self._types[node]
            self.bindings.append(VarBinding(var, value))
            found = self._operand_of[node] = var
        return found


def shares(new: Expr) -> bool:
    """Tell whether a value that is computed stands at several places of `new`."""
    counts = Counter(
        part
        for node in _nested(new, NOTHING_BOUND)
        for part in children(node)
        if isinstance(part, Call | Tuple | TupleGetItem)
    )
    return any(count > 1 for count in counts.values())


def _nested(root: Expr, known: Mapping[Expr, Var]) -> list[Expr]:
    """Return `root` and the values nested in it, operands first, without those that are known and what is in them.

    What stands in a branch or a function stays there.
    """
    found: dict[Expr, None] = {}
    stack: list[tuple[Expr, bool]] = [(root, False)]
    while stack:
        node, is_ready = stack.pop()
        if node in found or (node in known and node is not root):
            continue
        if is_ready or not isinstance(node, Call | Tuple | TupleGetItem):
            found[node] = None
            continue
        stack.append((node, True))
        stack += [(part, False) for part in reversed(children(node)) if isinstance(part, Expr)]
    return list(found)
