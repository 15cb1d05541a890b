"""What workers exchange: operators that a function of the runtime computes, and what prepares a tensor for it."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

from relax_core.ir.expr import (
    Binding,
    BindingBlock,
    Call,
    DataflowBlock,
    Expr,
    ExternFunc,
    Function,
    GlobalVar,
    Op,
    PrimValue,
    ShapeExpr,
    TensorType,
    Tuple,
    Type,
    VarBinding,
)
from relax_core.ir.integer.prove import constant_value
from relax_core.ir.module import IRModule
from relax_core.ir.node import Node, nodes_in
from relax_core.ir.prim import IntImm, PrimExpr, StringImm, const
from relax_core.ir.rewriting.builder import Emitter, Names, names_in
from relax_core.ir.rewriting.rewrite import Rule
from relax_core.ops.show import show_type
from relax_core.passes.core import PassContext
from relax_core.passes.relax.functions import integer, rewrite_functions
from relax_core.passes.relax.operators.calls import ints, op_call

_RUNTIME = "runtime.disco."
_WAYS = ("sum", "prod", "min", "max", "avg")
"""The ways of reducing, in the order of their numbers in the runtime."""
_NAMES = frozenset(
    f"relax.ccl.{name}" for name in ("allreduce", "allgather", "broadcast_from_worker0", "scatter_from_worker0")
)


def with_exchanges(module: IRModule, ctx: PassContext, is_chosen: Callable[[GlobalVar, str], bool]) -> IRModule:
    """Replace operators that exchange tensors among workers by calls of functions of the runtime.

    What is divided among workers is first laid out part by part: its axis becomes two, of which the first, that of the
    workers, goes to the front. See: tvm/python/tvm/relax/transform/legalize_ops/ccl.py
    """
    if not any(map(_is_exchange, (node for _, function in module.relax_functions for node in nodes_in(function)))):
        return module
    types = ctx.types(module)

    def rules_for(function_name: GlobalVar, function: Function) -> tuple[Rule, ...]:
        names = names_in(function)

        def exchange(node: Node) -> Node | None:
            """Rule: exchange among workers -> call_dps_packed of a function of the runtime."""
            if not isinstance(node, BindingBlock):
                return None
            exchanges = _Exchanges(types, names, ctx, lambda name: is_chosen(function_name, name))
            bindings = tuple(made for item in node.bindings for made in exchanges.bindings(item, node))
            return None if bindings == node.bindings else replace(node, bindings=bindings)

        return (exchange,)

    return rewrite_functions(module, ctx, rules_for, (BindingBlock,))


def _is_exchange(node: Node) -> bool:
    return isinstance(node, Call) and isinstance(node.op, Op) and node.op.name in _NAMES


@dataclass(frozen=True, slots=True)
class _Exchanges:
    types: Mapping[Node, Type]
    names: Names
    ctx: PassContext
    is_chosen: Callable[[str], bool]

    def bindings(self, item: Binding, block: BindingBlock) -> Iterator[Binding]:
        """Yield what a binding becomes."""
        match item:
            case VarBinding(value=Call(op=Op(name=name), args=(tensor, *_)) as call) if name in _NAMES:
                data, out = self.types.get(tensor), self.types.get(call)
            case _:
                yield item
                return
        if not self.is_chosen(name):
            yield item
            return
        word = name.removeprefix("relax.ccl.")
        emitter = Emitter(self.names, is_dataflow=isinstance(block, DataflowBlock))
        inputs = _inputs(call, data, emitter) if isinstance(data, TensorType) and data.dims is not None else None
        if inputs is None or not isinstance(out, TensorType) or out.dims is None or out.dtype is None:
            shown = "a value" if data is None else show_type(data)
            self.ctx.remark(call, "missed", f"{word} stays an operator: {shown} is not known to divide", (tensor,))
            yield item
            return
        callee = ExternFunc(_RUNTIME + word)
        made = Call(Op("relax.call_dps_packed"), (callee, Tuple(inputs)), type_args=(out,), span=call.span)
        self.ctx.remark(call, "applied", f"{word} calls {callee.name} of the runtime")
        for binding in emitter.bindings:
            yield self.ctx.derive(binding, item)
        yield self.ctx.derive(replace(item, value=self.ctx.derive(made, call)), item)


def _inputs(call: Call, data: TensorType, emitter: Emitter) -> tuple[Expr, ...] | None:
    """Return what the function of the runtime takes, emitting what prepares it; `None` if the sizes do not show it."""
    match call:
        case Call(
            op=Op(name="relax.ccl.allreduce"),
            args=(x, PrimValue(value=StringImm(value=way)), PrimValue(value=IntImm(value=in_group))),
        ):
            return x, ShapeExpr((const(_WAYS.index(way)),)), integer(int(in_group))
        case Call(op=Op(name="relax.ccl.allgather"), args=(x, _, PrimValue(value=IntImm(value=in_group)))):
            return x, integer(int(in_group))
        case Call(op=Op(name="relax.ccl.broadcast_from_worker0"), args=(x,)):
            return x, integer(0)
        case Call(args=(x, PrimValue(value=IntImm(value=count)), PrimValue(value=IntImm(value=axis)))):
            parts = _parts(x, data, count, axis % len(data.dims or (1,)), emitter)
            return None if parts is None else (parts, integer(0))
        case _:
            return None


def _parts(x: Expr, data: TensorType, count: int, axis: int, emitter: Emitter) -> Expr | None:
    """Emit the tensor with the part of each worker as an element of its first axis."""
    dims: tuple[PrimExpr, ...] = data.dims or ()
    extent = constant_value(dims[axis]) if dims else None
    if extent is None or extent % count:
        return None
    shape = (*dims[:axis], const(count), const(extent // count), *dims[axis + 1 :])
    parts = emitter.emit(op_call("reshape", x, ShapeExpr(shape)))
    if not axis:
        return parts
    return emitter.emit(op_call("permute_dims", parts, ints((axis, *range(axis), *range(axis + 1, len(shape))))))
