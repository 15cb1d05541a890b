"""Move transpositions of products to where they are none."""

from dataclasses import replace

from relax_core.ir.expr import Binding, Call, Expr, Op, PrimValue, Tuple, Var, VarBinding
from relax_core.ir.integer.prove import constant_value
from relax_core.ir.rewriting.substitute import free_vars
from relax_core.passes.core import PassContext
from relax_core.passes.relax.operators.calls import ints
from relax_core.passes.relax.training.expressions import Expressions, op


def simplified(
    bindings: tuple[Binding, ...], result: Expr, made: Expressions, ctx: PassContext
) -> tuple[tuple[Binding, ...], Expr]:
    """Return bindings in which no product is transposed, and nothing twice, with the result that uses them.

    `(x^T)^T` is `x`, and `(a b)^T` is `b^T a^T`, where a transposition exchanges the last two axes.
    """
    simplification = _Simplification(made, ctx)
    for item in bindings:
        simplification.binding(item)
    return tuple(made.emitter.bindings), simplification.renamed(result)


class _Simplification:
    """The bindings so far, and the variables that others stand for."""

    def __init__(self, made: Expressions, ctx: PassContext) -> None:
        self.made = made
        self.ctx = ctx
        self.same_as: dict[Var, Expr] = {}
        self.value_of: dict[Expr, Expr] = {}
        made.emitter.bindings.clear()

    def renamed(self, value: Expr) -> Expr:
        used = {var: self.same_as[var] for var in free_vars(value) if var in self.same_as}
        return self.ctx.substitute(value, used) if used else value

    def binding(self, binding: Binding) -> None:
        value = self.renamed(binding.value)
        made = binding if value is binding.value else replace(binding, value=value)
        inner = self.transposed(value)
        match inner and self.value_of.get(inner):
            case Call() as call if self.transposed(call) is not None and isinstance(call.args[0], Var):
                self.same_as[binding.var] = call.args[0]
                return
            case Call(op=Op(name="relax.matmul"), args=(a, b, *rest)) if min(map(self.rank, (a, b))) > 1:
                start = len(self.made.emitter.bindings)
                # The transpositions are made in the order of the factors of the product as it was.
                new = op("matmul", self.other(b), self.other(a), *rest)
                made = replace(binding, value=self.made.normal(new))
                for item in (*self.made.emitter.bindings[start:], made):
                    self.ctx.derive(item, binding)
            case _:
                pass
        if made is not binding:
            self.ctx.log.rebuilt(binding, made)
        self.made.emitter.bindings.append(made)
        if isinstance(made, VarBinding):
            self.value_of[made.var] = made.value

    def rank(self, expr: Expr) -> int:
        return len(self.made.dims(expr))

    def transposed(self, value: Expr) -> Expr | None:
        """Return what a value transposes in its last two axes, `None` if it does not."""
        match value:
            case Call(op=Op(name="relax.permute_dims"), args=(x, axes)):
                rank = self.rank(x)
                fields = axes.fields if isinstance(axes, Tuple) else ()
                given = [constant_value(item.value) for item in fields if isinstance(item, PrimValue)]
                given = given or list(reversed(range(rank)))
                return x if rank > 1 and given == [*range(rank - 2), rank - 1, rank - 2] else None
            case _:
                return None

    def other(self, expr: Expr) -> Expr:
        """Return the transposition of a factor."""
        value = self.value_of.get(expr)
        inner = None if value is None else self.transposed(value)
        rank = self.rank(expr)
        return inner if inner is not None else op("permute_dims", expr, ints((*range(rank - 2), rank - 1, rank - 2)))
