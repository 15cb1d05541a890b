"""What FoldConstant does in every dialect: a call on constants is computed, and what became of it is told."""

from collections.abc import Callable

from relax_core.ir.expr import Call, Expr, Op
from relax_core.ops.spec import NOT_COMPUTED, OpTypeError, literal_of
from relax_core.passes.core import PassContext


def folded(
    ctx: PassContext, call: Call, constants: tuple[Expr, ...], refused: str, compute: Callable[[], object]
) -> Expr | None:
    """Return the literal that `compute` gives for a call of an operator on `constants`.

    `None`, with a remark that says why, if it is `refused` or cannot be computed; without one if no literal can be
    written for the value.
    """
    assert isinstance(call.op, Op), "only calls of operators are folded"
    name = call.op.name.removeprefix("relax.")
    shown = f"`{name}`" if name == call.op.name else name
    why = refused
    if not why:
        try:
            value = literal_of(compute())
        except OpTypeError as error:
            why = error.message
        except (*NOT_COMPUTED, MemoryError) as error:
            why = str(error)
        else:
            if value is not None:
                ctx.remark(call, "applied", f"{shown} is computed: its arguments are constants", constants)
            return value
    ctx.remark(call, "missed", f"{shown} is not folded: {why}")
    return None
