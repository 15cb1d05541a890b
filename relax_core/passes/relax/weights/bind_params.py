"""Make constants of parameters whose values are known."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from relax_core.check.unify import contradiction, solve
from relax_core.ir.expr import Constant, Expr, Function, TensorType, Var, constant
from relax_core.ir.module import Definition, IRModule
from relax_core.ir.prim import const
from relax_core.ops.show import show_type
from relax_core.passes.core import Pass, PassContext
from relax_core.passes.functions import with_definitions


@dataclass(frozen=True, slots=True)
class BindParamsOptions:
    """`params` are the values by name, of parameters of the function `func_name`: arrays, or numbers and lists."""

    func_name: str = "main"
    params: tuple[tuple[str, Any], ...] = ()


def run(module: IRModule, options: BindParamsOptions, ctx: PassContext) -> IRModule:
    """Replace parameters by constants; dimensions that their shapes give become numbers.

    A module without such a function stays as it is.
    """
    item = module.find(options.func_name)
    if item is None or not isinstance(item.function, Function):
        ctx.remark(module, "missed", f"nothing is bound: there is no function {options.func_name}")
        return module
    if not options.params:
        return module
    bound = _bound(item.function, dict(options.params), ctx)
    new = ctx.derive(Definition(item.var, bound, span=item.span), item)
    return with_definitions(module, tuple(new if part is item else part for part in module.definitions), ctx)


def _bound(function: Function, given: Mapping[str, Any], ctx: PassContext) -> Function:
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
    return ctx.substitute(rest, values, solution.values)


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
