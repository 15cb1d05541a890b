"""Making calls of operators with the defaults of their schema, for passes that compose them."""

from collections.abc import Iterator

from relax_core.ir.expr import Call, DataTypeImm, Expr, Op, PrimValue, ShapeExpr, Tuple
from relax_core.ir.prim import IntImm, const
from relax_core.ops import OPS
from relax_core.ops.spec import default_expr


def op_call(name: str, *args: Expr) -> Call:
    """Return a call of the operator `name`; the arguments that are left out at its end have their defaults."""
    full = f"relax.{name}"
    defaults = (default_expr(param) for param in OPS[full].params[len(args) :])
    return Call(Op(full), (*args, *(item for item in defaults if item is not None)))


def ints(values: tuple[int, ...]) -> Tuple:
    """Return a list of ints as an argument."""
    return Tuple(tuple(PrimValue(const(value)) for value in values))


def flag(*, value: bool) -> PrimValue:
    """Return a truth value as an argument."""
    return PrimValue(const(value))


def dtype(name: str) -> DataTypeImm:
    """Return a dtype as an argument."""
    return DataTypeImm(name)


def integers_in(value: Expr) -> Iterator[int]:
    """Yield the integers of an argument that is a tuple or a shape of such, or one of them."""
    match value:
        case Tuple(fields=fields):
            for item in fields:
                yield from integers_in(item)
        case PrimValue(value=IntImm(value=number)):
            yield number
        case ShapeExpr(values=values):
            yield from (item.value for item in values if isinstance(item, IntImm))
        case _:
            return
