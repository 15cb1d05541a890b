"""Prim funcs as what runs: a Relax function around each, which returns the buffers that it writes, and its value."""

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from relax_core.diagnostics import Diagnostic, RunError
from relax_core.engine.inputs import generate, prefixes_of, read_members, value_of_member
from relax_core.ir.expr import (
    BindingBlock,
    Call,
    Expr,
    Function,
    GlobalVar,
    PrimType,
    SeqExpr,
    TensorType,
    Tuple,
    Type,
    Var,
    VarBinding,
)
from relax_core.ir.module import Definition, IRModule
from relax_core.ir.node import postorder
from relax_core.ir.prim import PrimVar
from relax_core.ir.tir import PrimFunc
from relax_core.vm.kernels import written_params

PREFIX: Final = "run_"


def entry_name(module: IRModule, name: str) -> str:
    """Return the name of the Relax function around the prim func `name`: one that the module has not."""
    found = f"{PREFIX}{name}"
    while found in module:
        found += "_"
    return found


def chosen(module: IRModule, entry: str) -> str:
    """Return the function that is meant: `entry`, or the first one in a module of prim funcs that has it not."""
    names = [var.name for var, _ in module.prim_funcs]
    return entry if module.relax_functions or not names or entry in names else names[0]


def called(module: IRModule, entry: str) -> str:
    """Return the Relax function that runs for what is meant by `entry`: the one around it if it is a prim func."""
    name = chosen(module, entry)
    return entry_name(module, name) if name in [var.name for var, _ in module.prim_funcs] else name


def can_run(function: PrimFunc) -> bool:
    """Tell whether every parameter of `function` is a buffer or a scalar."""
    return all(param.dtype != "handle" or function.buffer_of(param) is not None for param in function.params)


def declared(function: PrimFunc) -> Function:
    """Return a Relax function without body that has the parameters of `function`, with shapes and dtypes."""
    symbols = {
        part
        for item in function.buffers
        for dim in item.buffer.shape
        for part in postorder(dim)
        if isinstance(part, PrimVar)
    }
    params = tuple(Var(_name(function, param), _type(function, param, symbols)) for param in function.params)
    return Function(params, Tuple(()), span=function.span)


def with_entries(module: IRModule, entry: str = "") -> IRModule:
    """Return `module` with a Relax function around each prim func; if it has Relax functions, around `entry` alone.

    The functions take tensors of any shape: the prim funcs check them.
    """
    names = (entry,) if module.relax_functions else module.names
    added = [
        Definition(GlobalVar(entry_name(module, item.var.name)), _around(item.var, item.function))
        for item in module
        if item.var.name in names and isinstance(item.function, PrimFunc) and can_run(item.function)
    ]
    return module.with_definitions(*added) if added else module


def _around(var: GlobalVar, function: PrimFunc) -> Function:
    span = function.span
    params = tuple(
        Var(_name(function, param), _type(function, param, frozenset(), has_shape=False), span=span)
        for param in function.params
    )
    call = VarBinding(Var("_", span=span), Call(var, params, span=span), span=span)
    returned = () if function.ret_dtype in (None, "void") else (call.var,)
    given = (*(params[position] for position in written_params(function)), *returned)
    result: Expr = given[0] if len(given) == 1 else Tuple(given, span=span)
    body = SeqExpr((BindingBlock((call,), span=span),), result, span=span)
    return Function(params, body, is_pure=False, span=span)


def _name(function: PrimFunc, param: PrimVar) -> str:
    buffer = function.buffer_of(param)
    return param.name if buffer is None else buffer.name


def _type(
    function: PrimFunc, param: PrimVar, symbols: "set[PrimVar] | frozenset[PrimVar]", *, has_shape: bool = True
) -> Type:
    buffer = function.buffer_of(param)
    if buffer is None:
        # A scalar that is a dimension as well has the size that this dimension has.
        return PrimType(param.dtype, param if param in symbols else None)
    if has_shape:
        return TensorType(buffer.shape, buffer.dtype)
    return TensorType(None, buffer.dtype, len(buffer.shape))


def arguments(
    function: PrimFunc,
    inputs: bytes | None,
    seed: int,
    sizes: Mapping[str, int],
    *,
    is_signed: bool = False,
    below: int = 10,
) -> tuple[Any, ...]:
    """Return the arguments of `function`: those that the archive `inputs` has, and made-up ones.

    Raises:
        RunError: the archive cannot be read, has too many members, or shapes that do not fit each other.
    """
    signature = declared(function)
    if inputs is None:
        return generate(signature, seed, sizes, is_signed=is_signed, below=below)
    members = read_members(inputs)
    names = prefixes_of(signature, members)
    if left := [name for name in members if name not in names]:
        words = f"the archive has {', '.join(left)}, which no parameter takes"
        raise RunError((Diagnostic("EN004", words),))
    found = generate(signature, seed, {**sizes, **_sizes(function, names, members)}, is_signed=is_signed, below=below)
    return tuple(
        value_of_member(name, param, members[name]) if name in members else made
        for name, param, made in zip(names, signature.params, found, strict=True)
    )


def _sizes(function: PrimFunc, names: tuple[str, ...], members: Mapping[str, npt.NDArray[Any]]) -> dict[str, int]:
    """Return the sizes of symbolic dimensions that the shapes of given arrays, and given scalars, have."""
    found: dict[str, int] = {}
    for name, param in zip(names, function.params, strict=True):
        array = members.get(name)
        buffer = function.buffer_of(param)
        if array is None:
            continue
        if buffer is None and np.issubdtype(array.dtype, np.integer) and array.size == 1:
            found.setdefault(param.name, int(array.item()))
        for dim, size in zip(() if buffer is None else buffer.shape, array.shape, strict=False):
            if isinstance(dim, PrimVar):
                found.setdefault(dim.name, size)
    symbols = {
        part.name
        for item in function.buffers
        for dim in item.buffer.shape
        for part in postorder(dim)
        if isinstance(part, PrimVar)
    }
    return {name: size for name, size in found.items() if name in symbols}
