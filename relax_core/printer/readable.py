"""Change a module so that a version of apache-tvm reads its text: equal in value, if not in form."""

from dataclasses import replace
from functools import partial
from math import prod

from relax_core.ir.expr import (
    OBJECT,
    Call,
    DataTypeImm,
    Expr,
    GlobalVar,
    Null,
    Op,
    PrimValue,
    ShapeExpr,
    ShapeType,
    Tuple,
    Var,
    constant,
)
from relax_core.ir.integer.prove import constant_value
from relax_core.ir.module import Definition, IRModule
from relax_core.ir.node import Node, preorder
from relax_core.ir.prim import FloatImm, IntImm, PrimVar
from relax_core.ir.rewriting.rewrite import RewriteLog, rewrite
from relax_core.ir.rewriting.substitute import free_symbols
from relax_core.ir.tir import Allocate, Buffer, BufferParam, BufferRef, DeclBuffer, PrimFunc
from relax_core.printer.spelling import Tvm

_CALL_TIR = ("relax.call_tir", "relax.call_tir_inplace", "relax.call_tir_with_grad")
_UNTYPED = ("relax.builtin.alloc_tensor", "relax.memory.alloc_tensor", "relax.vm.alloc_tensor")


def readable_in(module: IRModule, tvm: Tvm) -> IRModule:
    """Return the module in the form that a version of apache-tvm reads; itself if it has that already.

    Allocations declare no type, a pure packed call does, and memory of a prim func is that of a buffer. In 0.27 no
    dtype is "void", and the scalars that `call_tir` gives as `tir_vars` are inputs, which stand before the results. A
    prim func whose calls differ in the number of their inputs keeps its parameters, and its calls keep theirs.
    """
    module = rewrite(module, _with_expected_types, log=RewriteLog(), kinds=(Call,))
    allocating = [item for _, item in module.prim_funcs if any(isinstance(part, Allocate) for part in preorder(item))]
    changed = {item: rewrite(item, _with_buffer, log=RewriteLog()) for item in allocating}
    module = module.with_definitions(
        *(
            replace(item, function=changed[item.function])
            for item in module
            if isinstance(item.function, PrimFunc) and item.function in changed
        )
    )
    if tvm == "0.25":
        return module
    return _with_scalar_inputs(rewrite(module, _of_0_27, log=RewriteLog(), kinds=(Call,)))


def _with_expected_types(node: Node) -> Node | None:
    """Rule: alloc_tensor(..., ty_args=t) -> alloc_tensor(...); call_pure_packed(...) -> the same with ty_args=Any.

    Rule: full(shape, 1.5) -> full(shape, R.const(1.5)).
    """
    match node:
        case Call(op=Op(name="relax.full"), args=(shape, PrimValue(value=IntImm() | FloatImm() as value), *rest)):
            return replace(node, args=(shape, constant(value.value, value.dtype), *rest))
        case Call(op=Op(name=name)) if name in _UNTYPED and node.type_args:
            return replace(node, type_args=())
        case Call(op=Op(name="relax.call_pure_packed"), type_args=()):
            return replace(node, type_args=(OBJECT,))
        case _:
            return None


def _of_0_27(node: Node) -> Node | None:
    """Rule: matmul(x, y, out_dtype="void") -> matmul(x, y), which has the dtype of its operands.

    Rule: layout_transform(x, index_map, axis_separators=[]) -> layout_transform(x, index_map).
    """
    match node:
        case Call(op=Op(name="relax.layout_transform"), args=(x, index_map, value, *separators)) if any(
            isinstance(item, Tuple) and not item.fields for item in separators
        ):
            kept = (Null() if isinstance(item, Tuple) and not item.fields else item for item in separators)
            return replace(node, args=(x, index_map, value, *kept))
        case Call(op=Op(), args=args) if any(_is_void(item) for item in args):
            return replace(node, args=tuple(Null() if _is_void(item) else item for item in args))
        case _:
            return None


def _is_void(value: Expr) -> bool:
    return isinstance(value, DataTypeImm) and value.value == "void"


def _with_buffer(node: Node) -> Node | None:
    """Rule: p = T.allocate([8]); B = T.decl_buffer((8,), data=p) -> B = T.alloc_buffer((8,)), else p is B.data."""
    match node:
        case Allocate(var=var, body=DeclBuffer(buffer=buffer, pointer=pointer) as inner, condition=None) if (
            pointer is var and _is_all(buffer, node) and not any(part is var for part in preorder(inner.body))
        ):
            return replace(inner, pointer=None, annotations=(*node.annotations, *inner.annotations))
        case Allocate(var=var, condition=None):
            made = Buffer(var.name, node.extents, node.dtype, scope=node.scope)
            body = rewrite(node.body, partial(_of_buffer, var, made), log=RewriteLog())
            return DeclBuffer(made, body, annotations=node.annotations, span=node.span)
        case _:
            return None


def _is_all(buffer: Buffer, memory: Allocate) -> bool:
    """Tell whether a buffer is as large as the memory that it points to, and of its dtype."""
    plain = not buffer.strides and buffer.elem_offset is None and buffer.scope == memory.scope
    sizes = [constant_value(item) for item in (*buffer.shape, *memory.extents)]
    if not plain or buffer.dtype != memory.dtype or None in sizes:
        return False
    rank = len(buffer.shape)
    return prod(filter(None, sizes[:rank])) == prod(filter(None, sizes[rank:]))


def _of_buffer(var: PrimVar, buffer: Buffer, node: Node) -> Node | None:
    """Rule: p -> B.data."""
    return BufferRef(buffer) if node is var else None


def _with_scalar_inputs(module: IRModule) -> IRModule:
    """Move the scalars of each `call_tir` and of its prim func in front of the results."""
    counts: dict[str, set[tuple[int, int]]] = {}
    for _, function in module.relax_functions:
        for item in preorder(function):
            match item:
                case Call(op=Op(name=name), args=(GlobalVar(name=callee), Tuple(fields=inputs), *_)) if (
                    name in _CALL_TIR
                ):
                    counts.setdefault(callee, set()).add((len(inputs), len(_scalars(item) or ())))
                case _:
                    pass
    moved = {name: next(iter(found)) for name, found in counts.items() if len(found) == 1}
    moved = {name: (start, count) for name, (start, count) in moved.items() if count}
    if not moved:
        return module
    changed: list[Definition] = []
    for item in module.definitions:
        if isinstance(item.function, PrimFunc) and item.var.name in moved:
            changed.append(replace(item, function=_reordered(item.function, *moved[item.var.name])))
    module = module.with_definitions(*changed)
    return rewrite(module, partial(_with_inputs, moved), log=RewriteLog(), kinds=(Call,))


def _scalars(call: Call) -> tuple[Expr, ...] | None:
    """Return what `tir_vars` of a call holds; `None` if there are none, or they are computed."""
    match call.args[2:]:
        case (*_, ShapeExpr(values=values)):
            return tuple(PrimValue(value) for value in values)
        case (*_, Var(annotation=ShapeType(values=tuple() as values))):
            return tuple(PrimValue(value) for value in values)
        case _:
            return None


def _reordered(function: PrimFunc, start: int, count: int) -> PrimFunc:
    """Move the last `count` parameters to `start`; a buffer before them is bound below if one is its dimension."""
    params = function.params
    scalars = params[len(params) - count :]
    buffers = tuple(_below(item, scalars) if item.handle in params[:start] else item for item in function.buffers)
    return replace(function, params=(*params[:start], *scalars, *params[start : len(params) - count]), buffers=buffers)


def _below(param: BufferParam, scalars: tuple[Node, ...]) -> BufferParam:
    uses = any(symbol in scalars for symbol in free_symbols(param.buffer))
    return replace(param, is_inline=False) if param.is_inline and uses else param


def _with_inputs(moved: dict[str, tuple[int, int]], node: Node) -> Node | None:
    """Rule: call_tir(f, (x,), tir_vars=[n]) -> call_tir(f, (x, n)); f(x, y, n) -> f(x, n, y)."""
    match node:
        case Call(op=Op(name=name), args=(GlobalVar(name=callee), Tuple() as inputs, *rest)) if name in _CALL_TIR:
            scalars = _scalars(node) if callee in moved else None
            if scalars is None:
                return None
            given = replace(inputs, fields=(*inputs.fields, *scalars))
            return replace(node, args=(node.args[0], given, *rest[:-1]))
        case Call(op=GlobalVar(name=callee), args=args) if callee in moved:
            start, count = moved[callee]
            return replace(node, args=(*args[:start], *args[len(args) - count :], *args[start : len(args) - count]))
        case _:
            return None
