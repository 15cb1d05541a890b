"""Where the values of a call come from: what a message about their types points at."""

from collections.abc import Iterator, Mapping

from relax_core.ir.expr import Call, Expr, ObjectType, Tuple, Type, Var
from relax_core.ir.node import Node
from relax_core.ops.show import show_type
from relax_core.source import Span

_MOST = 4


def origins(node: Node, type_of: Mapping[Node, Type]) -> tuple[tuple[str, Span], ...]:
    """Return for each variable that a call is given its type and the place of its definition."""
    if not isinstance(node, Call):
        return ()
    found: dict[Span, str] = {}
    for var in _variables(node.args):
        type_ = type_of.get(var)
        if var.span is not None and type_ is not None and not isinstance(type_, ObjectType):
            found[var.span] = f"{var.name} is {show_type(type_)}"
    return tuple((words, span) for span, words in found.items())[:_MOST]


def _variables(args: tuple[Expr, ...]) -> Iterator[Var]:
    for arg in args:
        match arg:
            case Var():
                yield arg
            case Tuple(fields=fields):
                yield from (item for item in fields if isinstance(item, Var))
            case _:
                pass
