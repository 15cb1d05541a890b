"""Where the symbolic dimensions of a function are used before anything gives them a value."""

from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace

from relax_core.ir.expr import Binding, Expr, Function, If, MatchCast, SeqExpr, Var, VarBinding
from relax_core.ir.node import Node, preorder
from relax_core.ir.prim import PrimVar
from relax_core.ir.rewriting.substitute import free_symbols, type_nodes, types_in
from relax_core.passes.relax.closures.captures import binding_symbols
from relax_core.passes.relax.closures.result_types import without_unbound


@dataclass(slots=True)
class SizeScopes:
    """What a walk through a sequence finds: `early` are the dimensions that it needs before they have a value.

    `retyped` are variables with their types as far as the dimensions are known there: the result of a conditional does
    not have those that only its branches know. A dimension that was taken out of a type and is given a value later
    counts as needed early, since a type would then say more than is known.
    """

    early: dict[PrimVar, None] = field(default_factory=dict[PrimVar, None])
    retyped: dict[Var, Expr] = field(default_factory=dict[Var, Expr])
    _forgotten: set[PrimVar] = field(default_factory=set[PrimVar])

    def walk(self, body: SeqExpr, given: AbstractSet[PrimVar]) -> None:
        """Walk through a sequence. Recursion follows the nesting of conditionals in the text, never its length."""
        known = set(given)
        for block in body.blocks:
            for item in block.bindings:
                self._binding(item, known)
        self._use(_used_symbols(body.body), known)

    def _binding(self, binding: Binding, known: set[PrimVar]) -> None:
        match binding:
            case MatchCast(value=value, type=type_):
                given = binding_symbols(type_)
                self._use((*_used_symbols(value), *(item for item in free_symbols(type_) if item not in given)), known)
                self.early.update(dict.fromkeys(item for item in given if item in self._forgotten))
                known.update(given)
            case VarBinding(value=If(condition=condition, true_branch=SeqExpr() as yes, false_branch=SeqExpr() as no)):
                self._use(_used_symbols(condition), known)
                self.walk(yes, known)
                self.walk(no, known)
            case VarBinding(value=value):
                self._use(_used_symbols(value), known)
            case _:
                raise AssertionError(type(binding).__name__)
        annotation = binding.var.annotation
        unknown = [item for item in free_symbols(annotation) if item not in known]
        if annotation is not None and unknown:
            self._forgotten.update(unknown)
            self.retyped[binding.var] = replace(binding.var, annotation=without_unbound(annotation, known))

    def _use(self, symbols: tuple[PrimVar, ...], known: AbstractSet[PrimVar]) -> None:
        self.early.update(dict.fromkeys(item for item in symbols if item not in known))


def _used_symbols(value: Expr) -> tuple[PrimVar, ...]:
    """Return the symbols that a value needs. What the type of a variable says was needed where that was bound."""
    return tuple(dict.fromkeys(_symbols_of_function(value) if isinstance(value, Function) else _symbols(value)))


def _symbols(value: Node) -> Iterator[PrimVar]:
    for node in preorder(value):
        if isinstance(node, PrimVar):
            yield node
        elif not isinstance(node, Var):
            parts = (part for type_ in types_in(node) for item in type_nodes(type_) for part in preorder(item))
            yield from (part for part in parts if isinstance(part, PrimVar))


def _symbols_of_function(function: Function) -> Iterator[PrimVar]:
    own = {symbol for item in function.params for symbol in binding_symbols(item.annotation)}
    own.update(
        symbol for item in preorder(function) if isinstance(item, MatchCast) for symbol in binding_symbols(item.type)
    )
    yield from (item for item in free_symbols(function) if item not in own)
