"""Make constants of parameters whose values are known."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from relax_core.check.unify import contradiction, solve
from relax_core.ir.equality import same_type
from relax_core.ir.expr import Constant, Expr, Function, TensorType, Type, Var, constant
from relax_core.ir.module import Definition, IRModule
from relax_core.ir.node import Node
from relax_core.ir.prim import const
from relax_core.ops.show import show_type
from relax_core.passes.core import Pass, PassContext
from relax_core.passes.functions import with_definitions
from relax_core.passes.relax.known_types import untyped, with_known_results
from relax_core.passes.relax.scalars.canonical_dims import canonical_dim


@dataclass(frozen=True, slots=True)
class BindParamsOptions:
    """`params` are the values by name, of parameters of the function `func_name`: arrays, or numbers and lists."""

    func_name: str = "main"
    params: tuple[tuple[str, Any], ...] = ()


def run(module: IRModule, options: BindParamsOptions, ctx: PassContext) -> IRModule:
    """Replace parameters by constants; dimensions that their shapes give become numbers.

    A constant may tell more than its parameter: the types that follow, and that of the result, do then, too.
    A module without such a function stays as it is.
    """
    item = module.find(options.func_name)
    if item is None or not isinstance(item.function, Function):
        ctx.remark(module, "missed", f"nothing is bound: there is no function {options.func_name}")
        return module
    if not options.params:
        return module
    types = ctx.types(module)
    bound = _bound(item.function, dict(options.params), types, ctx)
    new = ctx.derive(Definition(item.var, bound, span=item.span), item)
    changed = with_definitions(module, tuple(new if part is item else part for part in module.definitions), ctx)
    return with_known_results(module, changed, ctx)


def _bound(function: Function, given: Mapping[str, Any], types: Mapping[Node, Type], ctx: PassContext) -> Function:
    names = [param.name for param in function.params]
    for name in given:
        if names.count(name) != 1:
            words = "no parameter" if name not in names else "several parameters"
            ctx.fail("PS018", f"there is {words} {name}", function, f"parameters: {', '.join(names)}")
    values: dict[Var, Expr] = {}
    for param in function.params:
        if param.name in given:
            values[param] = ctx.derive(_constant(param, given[param.name], ctx), param)
            ctx.remark(param, "applied", f"{param.name} is a constant")
    params = tuple(param for param in function.params if param not in values)
    expected = [param.annotation for param in values if param.annotation is not None]
    shapes = [_type_of(values[param]) for param in values if param.annotation is not None]
    bound = [param.name for param in values if param.annotation is not None]
    solution, wrong = solve(expected, shapes, bound.__getitem__, set())
    for index, words in wrong:
        ctx.fail("PS018", f"a value is not of the type {show_type(expected[index])}: {words}", function)
    rest = replace(function, params=params)
    ctx.log.rebuilt(function, rest)
    known = {param for param in values if not same_type(types.get(param), _type_of(values[param]))}
    values |= untyped(function, known)
    return ctx.substitute(rest, values, solution.values, canonical_dim)


def _constant(param: Var, value: Any, ctx: PassContext) -> Constant:
    dtype = param.annotation.dtype if isinstance(param.annotation, TensorType) else None
    try:
        array = np.asarray(value, dtype=None if isinstance(value, np.ndarray) else dtype)
    except (TypeError, ValueError) as error:
        ctx.fail("PS018", f"the value of {param.name} is no tensor: {error}", param)
    made = constant(array.copy())
    words = contradiction(_type_of(made), param.annotation) if param.annotation is not None else None
    if words:
        ctx.fail("PS018", f"the value of {param.name} does not fit: {words}", param)
    return made


def _type_of(value: Expr) -> TensorType:
    assert isinstance(value, Constant), "parameters are bound to constants"
    return TensorType(tuple(const(size) for size in value.data.shape), str(value.data.dtype))


PASS = Pass(
    "BindParams",
    "Makes constants of parameters whose values are known.",
    run,
    options=BindParamsOptions,
    needs=("normal form",),
    see="tvm/src/relax/transform/bind_params.cc",
)
