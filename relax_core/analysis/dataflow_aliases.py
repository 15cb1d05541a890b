"""Which values of a dataflow block may share memory, and what is read behind a binding."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import count

from relax_core.ir.expr import (
    Binding,
    Call,
    DataflowBlock,
    DataflowVar,
    DataTypeImm,
    Expr,
    ExternFunc,
    GlobalVar,
    Null,
    Op,
    PrimValue,
    ShapeExpr,
    Tuple,
    TupleGetItem,
    TupleType,
    Type,
    Var,
)
from relax_core.ir.node import Node
from relax_core.ir.rewriting.substitute import free_vars

OUTSIDE = -1
"""The memory of parameters, constants and values of other blocks: nobody knows who else has it."""
_VIEWS = frozenset(
    f"relax.{name}"
    for name in (
        "expand_dims",
        "squeeze",
        "reshape",
        "permute_dims",
        "flatten",
        "nn.batch_flatten",
        "memory.view",
        "memory.ensure_zero_offset",
    )
)
"""Operators whose result may be the memory of their first argument."""


@dataclass(frozen=True, slots=True)
class AliasedMemory:
    """The places that a value may be in: its own, or those of the fields of a tuple."""

    own: frozenset[int] = frozenset()
    fields: "tuple[AliasedMemory, ...] | None" = None

    def all(self) -> frozenset[int]:
        """Return all places, those of fields among them."""
        return self.own.union(*(item.all() for item in self.fields or ()))

    def field(self, index: int) -> "AliasedMemory":
        """Return the memory of a field; of what may be several tuples, all that they have."""
        return self if self.fields is None or self.own else self.fields[index]


class Aliases:
    """The memory of each variable of a dataflow block, from what operators do with their arguments.

    An operator makes memory of its own, but for views, and any other function may return all that it is given.
    """

    def __init__(self, block: DataflowBlock, type_of: Mapping[Node, Type]) -> None:
        self._type_of = type_of
        self._fresh = count()
        self._memory: dict[Var, AliasedMemory] = {}
        for item in block.bindings:
            self._memory[item.var] = self._value(item)

    def of(self, expr: Expr) -> AliasedMemory:
        """Return the memory of an argument."""
        match expr:
            case Var():
                return self._memory.get(expr, AliasedMemory(frozenset((OUTSIDE,))))
            case Tuple(fields=fields):
                return AliasedMemory(fields=tuple(map(self.of, fields)))
            case TupleGetItem(tuple_value=value, index=index):
                return self.of(value).field(index)
            case ExternFunc() | GlobalVar() | PrimValue() | ShapeExpr() | DataTypeImm() | Null():
                return AliasedMemory()
            case _:
                return AliasedMemory(frozenset((OUTSIDE,)))

    def _value(self, binding: Binding) -> AliasedMemory:
        match binding.value:
            case Call(op=Op(name=name), args=args) if name in _VIEWS and args:
                return self.of(args[0])
            case Call(op=Op(name=name)) if name != "relax.call_pure_packed":
                return self._made(self._type_of.get(binding.var))
            case Call(args=args):
                given = frozenset[int]().union(*(self.of(item).all() for item in args))
                return AliasedMemory(given | self._made(None).own)
            case value:
                return self.of(value)

    def _made(self, type_: Type | None) -> AliasedMemory:
        if isinstance(type_, TupleType):
            return AliasedMemory(fields=tuple(map(self._made, type_.fields)))
        return AliasedMemory(frozenset((next(self._fresh),)))

    def used_by(self, binding: Binding) -> frozenset[int]:
        """Return the places that a binding reads; of a tuple that it takes a field of, those of the field."""
        match binding.value:
            case TupleGetItem() as value:
                return self.of(value).all()
            case value:
                return frozenset[int]().union(*(self.of(item).all() for item in free_vars(value)))


def with_later_uses(block: DataflowBlock, aliases: Aliases) -> Iterator[tuple[Binding, frozenset[int]]]:
    """Yield the bindings, last first, with the places that are read behind each, in the block or behind it."""
    used = frozenset[int]().union(
        *(aliases.of(item.var).all() for item in block.bindings if not isinstance(item.var, DataflowVar))
    )
    for item in reversed(block.bindings):
        yield item, used
        used |= aliases.used_by(item)
