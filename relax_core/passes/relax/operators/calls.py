"""Making calls of operators with the defaults of their schema, for passes that compose them."""

from relax_core.ir.expr import Call, DataTypeImm, Expr, Op, PrimValue, Tuple
from relax_core.ir.prim import const
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
