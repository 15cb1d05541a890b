"""Which language a module is written in."""

from collections.abc import Iterator
from typing import Literal, TypeAlias

from relax_core.ir.attrs import attr
from relax_core.ir.expr import DataTypeImm, ExternFunc, Function, Null, Op, PrimValue, SeqExpr, ShapeExpr
from relax_core.ir.module import IRModule
from relax_core.ir.node import Node, nodes_in, preorder
from relax_core.ir.relay import Constructor, Let, Match, RefCreate, RefRead, RefWrite

Dialect: TypeAlias = Literal["relax", "relay"]

DIALECT_ATTR = "dialect"
_OF_RELAY = frozenset((Let, Match, Constructor, RefCreate, RefRead, RefWrite))


def dialect_of(module: IRModule) -> Dialect:
    """Return the language of `module`: what its attribute `dialect` says, else what its nodes show.

    Relay has data types, lets, matches, references, and names of operators without "relax."; Relax has blocks of
    bindings, shapes and host scalars; its readers and passes give each function at least an empty sequence of blocks,
    so functions that show nothing of both are Relay.
    Complexity: without the attribute, up to the first node that shows it.
    """
    match attr(module.attrs, DIALECT_ATTR):
        case "relay":
            return "relay"
        case "relax":
            return "relax"
        case _:
            return "relay" if _shows_relay(module) else "relax"


def relay_parts(module: IRModule) -> Iterator[Node]:
    """Yield what only Relay has in `module`: data types, expressions, and names of operators without "relax."."""
    yield from module.type_data
    for item in module:
        for part in nodes_in(item.function) if isinstance(item.function, Function) else ():
            if type(part) in _OF_RELAY or (isinstance(part, Op) and not part.name.startswith("relax.")):
                yield part


def _shows_relay(module: IRModule) -> bool:
    if module.type_data:
        return True
    functions = [item.function for item in module if isinstance(item.function, Function)]
    for function in functions:
        for part in preorder(function):
            match part:
                case Let() | Match() | Constructor() | RefCreate() | RefRead() | RefWrite():
                    return True
                case Op(name=name):
                    return not name.startswith("relax.")
                case SeqExpr() | ShapeExpr() | PrimValue() | DataTypeImm() | Null() | ExternFunc():
                    return False
                case _:
                    pass
    return bool(functions)
