"""Take back the memory that ManifestAlloc made explicit: Relax plans its own.

`let %t = memory.alloc_tensor(...); let %_ = vm.invoke_tvm_op(%kernel, (%x,), (%t,))` becomes `let %t = %kernel(%x)`.
"""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from relax_core.ir.expr import (
    Call,
    Constant,
    Expr,
    Function,
    FuncType,
    Op,
    TensorType,
    Tuple,
    TupleGetItem,
    TupleType,
    Type,
    Var,
)
from relax_core.ir.module import IRModule
from relax_core.ir.node import Node, postorder
from relax_core.ir.prim import IntImm
from relax_core.ir.relay import Let
from relax_core.passes.core import PassContext
from relax_core.passes.relay.dead_code_elimination import RelayDCEOptions
from relax_core.passes.relay.dead_code_elimination import run as remove_dead_code
from relax_core.passes.relay.rebuild import change_functions, let_vars, rebuild

_KERNELS = ("vm.invoke_tvm_op", "memory.invoke_tvm_op")
_SHAPES = ("vm.shape_func", "memory.shape_func")
_ROOM, _END = "memory.alloc_tensor", "memory.kill"


def without_memory(module: IRModule, ctx: PassContext) -> IRModule:
    """Return `module` with kernels that give their results; the same object if no kernel writes into memory."""
    if not any(_operator(node) in (*_KERNELS, _END) for item in module for node in postorder(item.function)):
        return module
    types = ctx.types(module)

    def change(function: Function) -> Function:
        lets = let_vars(function)
        written = _written(function, lets)
        return rebuild(function, lambda old, rebuilt: _taken_back(rebuilt, lets, written, types), ctx)

    return remove_dead_code(change_functions(module, change, ctx), RelayDCEOptions(), ctx)


def _written(function: Function, lets: Mapping[Var, Let]) -> frozenset[Node]:
    """Return the tensors that exactly one kernel writes, made for it."""
    found: dict[Node, int] = {}
    for node in postorder(function.body):
        if isinstance(node, Call) and _operator(node) in (*_KERNELS, *_SHAPES) and len(node.args) == 3:
            for item in _fields(node.args[2], lets):
                found[item] = found.get(item, 0) + 1
    return frozenset(
        item
        for item, count in found.items()
        if count == 1 and isinstance(item, Var) and item in lets and _operator(lets[item].value) == _ROOM
    )


def _taken_back(node: Node, lets: Mapping[Var, Let], written: frozenset[Node], types: Mapping[Node, Type]) -> Node:
    """Rule: let t = room; let _ = kernel writes t; body -> let t = kernel; body."""
    if not isinstance(node, Let) or not isinstance(node.value, Call):
        return node
    name, call = _operator(node.value), node.value
    if node.var in written:
        return node.body
    if name == _END:
        return replace(node, value=Tuple((), span=call.span))
    if name not in (*_KERNELS, *_SHAPES):
        return node
    outputs = tuple(item for item in _fields(call.args[2], lets) if isinstance(item, Var))
    if not written.issuperset(outputs):
        return node
    if name in _SHAPES:
        # Only the room for results needs the shape, and that goes.
        return _bound(tuple((var, _zeros(types.get(var))) for var in outputs), node.body)
    made = Call(call.args[0], _fields(call.args[1], lets), span=call.span)
    signature = types.get(call.args[0])
    if len(outputs) == 1 and not (isinstance(signature, FuncType) and isinstance(signature.ret, TupleType)):
        return replace(node, var=outputs[0], value=made)
    whole = Var("results", span=call.span)
    fields = tuple((var, TupleGetItem(whole, k, span=call.span)) for k, var in enumerate(outputs))
    return _bound(((whole, made), *fields), node.body)


def _bound(pairs: tuple[tuple[Var, Expr], ...], body: Expr) -> Expr:
    for var, value in reversed(pairs):
        body = Let(var, value, body, span=value.span)
    return body


def _fields(expr: Expr, lets: Mapping[Var, Let]) -> tuple[Expr, ...]:
    while isinstance(expr, Var) and expr in lets:
        expr = lets[expr].value
    return expr.fields if isinstance(expr, Tuple) else (expr,)


def _zeros(type_: Type | None) -> Constant:
    dims = type_.dims or () if isinstance(type_, TensorType) else ()
    data = np.zeros(tuple(dim.value for dim in dims if isinstance(dim, IntImm)), "int64")
    data.flags.writeable = False
    return Constant(data)


def _operator(node: Node) -> str:
    return node.op.name if isinstance(node, Call) and isinstance(node.op, Op) else ""
