"""Drop the parameters of private functions that nothing uses."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from relax_core.check.unify import Solution, bind_symbols
from relax_core.ir.expr import OBJECT, Call, Expr, Function, GlobalVar, ShapeExpr, ShapeType, Type, Var
from relax_core.ir.module import IRModule
from relax_core.ir.node import Node
from relax_core.ir.notation.show import show_prim
from relax_core.ir.prim import PrimExpr, PrimVar
from relax_core.ir.rewriting.builder import names_in
from relax_core.ir.rewriting.substitute import free_symbols, free_vars, type_nodes
from relax_core.passes.core import NoOptions, Pass, PassContext
from relax_core.passes.functions import change_functions
from relax_core.passes.relax.closures.captures import binding_symbols
from relax_core.passes.relax.interfaces.internal import escaping, internal_functions, uses_of


def run(module: IRModule, _options: NoOptions, ctx: PassContext) -> IRModule:
    """Drop unused parameters from private functions and from the calls of them.

    A dimension that only such a parameter gives becomes a parameter of its own, a shape; of several the one that the
    function uses last comes first, as in TVM, where the order of three or more varies from process to process. TVM
    stops with an internal error if a caller does not know that dimension, and changes functions that are also used as
    values, whose callers then pass too much: here the parameter, or the function, stays as it is.
    """
    uses = uses_of(module)
    type_of = ctx.types(module)
    plans: dict[str, _Plan] = {}
    for name, function in internal_functions(module, uses).items():
        plan = _plan(name, function, uses.calls.get(name, ()), type_of, ctx)
        if plan is not None:
            plans[name] = plan
    for name, function, place in escaping(module, uses):
        ctx.remark(function, "missed", f"@{name} keeps its parameters: it is used as a value", (place,))

    def shorten(node: Node) -> Node | None:
        """Rule: call with unused arguments -> call without them."""
        match node:
            case Call(op=GlobalVar(name=name), args=args) if name in plans:
                plan = plans[name]
                dims = _solved(plan.function, args, type_of)
                shapes = (ShapeExpr((dims[symbol],), span=node.span) for symbol in plan.symbols)
                return replace(node, args=(*(args[index] for index in plan.kept), *shapes))
            case _:
                return None

    def change(var: GlobalVar, function: Function) -> Function:
        new = ctx.rewrite(function, shorten)
        return plans[var.name].applied(var.name, new, ctx) if var.name in plans else new

    return change_functions(module, ctx, change)


@dataclass(frozen=True, slots=True)
class _Plan:
    """The parameters that stay, by index, and the symbols that become parameters."""

    function: Function
    kept: tuple[int, ...]
    symbols: tuple[PrimVar, ...]

    def applied(self, name: str, function: Function, ctx: PassContext) -> Function:
        """Return the function with the parameters that stay."""
        names = names_in(function)
        added = tuple(Var(names.fresh(f"param_{item.name}"), ShapeType((item,))) for item in self.symbols)
        dropped = [param for index, param in enumerate(function.params) if index not in self.kept]
        for param in dropped:
            ctx.remark(param, "applied", f"@{name} loses the parameter {param.name}: nothing uses it")
        for param in added:
            ctx.remark(function, "applied", f"@{name} gets {param.name}: a parameter that goes gave that dimension")
        made = replace(function, params=(*(function.params[index] for index in self.kept), *added))
        return ctx.derive(made, function, rule="function -> function without unused parameters")


def _solved(function: Function, args: Sequence[Expr], type_of: Mapping[Node, Type]) -> Mapping[PrimVar, PrimExpr]:
    solution = Solution()
    for param, arg in zip(function.params, args, strict=True):
        bind_symbols(param.annotation or OBJECT, type_of.get(arg, OBJECT), param.name, solution, set())
    return solution.values


def _plan(
    name: str, function: Function, calls: Sequence[Call], type_of: Mapping[Node, Type], ctx: PassContext
) -> _Plan | None:
    used = {*free_vars(function.body), *(item for param in function.params for item in _shape_vars(param))}
    kept = [param for param in function.params if param in used]
    known = [_solved(function, call.args, type_of) for call in calls]
    for param in function.params:
        if param in kept:
            continue
        given = binding_symbols(param.annotation)
        lost = _lost(function, kept)
        needed = [symbol for symbol in given if symbol in lost]
        unknown = [symbol for symbol in needed if any(symbol not in values for values in known)]
        if unknown:
            ctx.remark(
                param,
                "missed",
                f"@{name} keeps {param.name}: a caller does not know its dimension {show_prim(unknown[0])}",
            )
        if unknown or (isinstance(param.annotation, ShapeType) and len(given) == 1 and needed):
            kept.append(param)
    indices = tuple(index for index, param in enumerate(function.params) if param in kept)
    return None if len(indices) == len(function.params) else _Plan(function, indices, _lost(function, kept))


def _lost(function: Function, kept: Sequence[Var]) -> tuple[PrimVar, ...]:
    """Return the symbols that the parameters give and the function needs, but those in `kept` do not give.

    They stand in the reverse of the order in which the function uses them.
    """
    given = {symbol for param in function.params for symbol in binding_symbols(param.annotation)}
    still = {symbol for param in kept for symbol in binding_symbols(param.annotation)}
    needed = dict.fromkeys(
        (
            *(symbol for param in kept for symbol in free_symbols(param.annotation)),
            *free_symbols(function.body),
            *free_symbols(function.ret_type),
        )
    )
    return tuple(symbol for symbol in reversed(needed) if symbol in given and symbol not in still)


def _shape_vars(param: Var) -> tuple[Var, ...]:
    """Return the shape variables in the type of a parameter."""
    return tuple(item for item in type_nodes(param.annotation) if isinstance(item, Var))


PASS = Pass(
    "RemoveUnusedParameters",
    "Drops the parameters of private functions that nothing uses, and what was computed for them.",
    run,
    needs=("normal form",),
    see="tvm/src/relax/transform/remove_unused_parameters.cc",
)
