"""Write results into the memory of arguments that nothing reads any more."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from relax_core.analysis.dataflow_aliases import OUTSIDE, Aliases, with_later_uses
from relax_core.ir.equality import structural_equal
from relax_core.ir.expr import (
    Binding,
    Call,
    DataflowBlock,
    Expr,
    Function,
    GlobalVar,
    Op,
    ShapeExpr,
    TensorType,
    Tuple,
    Type,
    Var,
    VarBinding,
)
from relax_core.ir.integer.prove import prove_equal
from relax_core.ir.module import Definition, IRModule
from relax_core.ir.node import Node, map_children, postorder
from relax_core.ir.rewriting.builder import Names
from relax_core.ir.tir import PrimFunc, Stmt
from relax_core.ops import OPS
from relax_core.ops.spec import Legalized, OpTypeError
from relax_core.passes.core import NoOptions, Pass, PassContext
from relax_core.passes.functions import change_functions
from relax_core.passes.relax.operators.calls import ints

_ELEMENTWISE = frozenset(f"relax.{name}" for name in ("add", "subtract", "multiply", "divide", "nn.silu", "nn.relu"))
"""Operators whose kernels read an element of an argument before they write the one in its place, and no other then."""


def run(module: IRModule, _options: NoOptions, ctx: PassContext) -> IRModule:
    """Lower operators on elements in dataflow blocks to `call_tir_inplace`, where an argument has the result's type.

    Nothing may read the memory of the argument behind the call: not the argument, a view of it, a tuple that holds it
    or another argument of the call. Parameters and values of other blocks are never written. Of several arguments the
    last is taken. apache-tvm also writes to constants, which are then others in the next run.
    """
    rewriting = _Rewriting(ctx, ctx.types(module), Names(module.names))

    def change(_: GlobalVar, function: Function) -> Function:
        def block(node: Node) -> Node | None:
            """Rule: call of an operator -> call_tir_inplace of its kernel."""
            return rewriting.block(node) if isinstance(node, DataflowBlock) else None

        return ctx.rewrite(function, block)

    result = change_functions(module, ctx, change)
    return ctx.derive(result.with_definitions(*rewriting.added), module) if rewriting.added else result


@dataclass(slots=True)
class _Rewriting:
    """The kernels that write into their arguments so far, and by what name LegalizeOps would know each of `kernels`."""

    ctx: PassContext
    type_of: Mapping[Node, Type]
    names: Names
    added: list[Definition] = field(default_factory=list[Definition])
    kernels: list[tuple[PrimFunc, str]] = field(default_factory=list[tuple[PrimFunc, str]])

    def block(self, block: DataflowBlock) -> DataflowBlock | None:
        aliases = Aliases(block, self.type_of)
        read_behind = dict(with_later_uses(block, aliases))
        bindings = tuple(self.binding(item, aliases, read_behind[item]) for item in block.bindings)
        return None if bindings == block.bindings else replace(block, bindings=bindings)

    def binding(self, binding: Binding, aliases: Aliases, later: frozenset[int]) -> Binding:
        match binding:
            case VarBinding(var=var, value=Call(op=Op(name=name)) as call) if name in _ELEMENTWISE:
                at = self.argument(binding, call, aliases, later)
                new = None if at is None else self.inplace(call, at)
                if at is None or new is None:
                    return binding
                made = replace(binding, value=new)
                self.ctx.log.rebuilt(binding, made)
                arg = call.args[at]
                name = arg.name if isinstance(arg, Var) else "an argument"
                self.ctx.remark(made, "applied", f"{var.name} is written into {name}, which nothing reads behind it")
                return made
            case _:
                return binding

    def argument(self, binding: Binding, call: Call, aliases: Aliases, later: frozenset[int]) -> int | None:
        """Return the place of the last argument that the result may be written into."""
        reasons: list[str] = []
        for at in reversed(range(len(call.args))):
            arg = call.args[at]
            if not self.is_alike(arg, binding.var):
                continue
            places = aliases.of(arg).all()
            others = frozenset[int]().union(*(aliases.of(item).all() for item in call.args if item is not arg))
            name = arg.name if isinstance(arg, Var) else "a constant"
            if OUTSIDE in places:
                reasons.append(f"{name} comes from outside the block")
            elif places & later:
                reasons.append(f"{name} is read later")
            elif places & others:
                reasons.append(f"{name} may be the memory of another argument")
            else:
                return at
        if reasons:
            self.ctx.remark(binding, "missed", f"{binding.var.name} needs memory of its own: {'; '.join(reasons)}")
        return None

    def is_alike(self, arg: Expr, result: Var) -> bool:
        """Tell whether two tensors have the same dtype and provably the same shape."""
        match self.type_of.get(arg), self.type_of.get(result):
            case TensorType(shape=tuple() as own, dtype=str(first)), TensorType(shape=tuple() as other, dtype=second):
                return first == second and len(own) == len(other) and all(map(prove_equal, own, other))
            case _:
                return False

    def inplace(self, call: Call, at: int) -> Call | None:
        made = self.legalized(call)
        source = call.args[at]
        places = [] if made is None else [k for k, item in enumerate(made.args) if item is source]
        if made is None or not places or len(made.out) != 1:
            return None
        # The same variable may be there twice: then the argument is counted as in the call.
        index = places[min(sum(item is source for item in call.args[:at]), len(places) - 1)]
        kernel = self.ctx.derive(_into_argument(made.prim_func, index, len(made.args)), call)
        callee = self.global_for(kernel, f"{self.name_of(made)}_inplace", call)
        scalars = (ShapeExpr(made.tir_vars),) if made.tir_vars else ()
        args = (callee, Tuple(made.args), ints((index,)), *scalars)
        return self.ctx.derive(Call(Op("relax.call_tir_inplace"), args, type_args=made.out, span=call.span), call)

    def legalized(self, call: Call) -> Legalized | None:
        assert isinstance(call.op, Op), "calls of operators alone are asked for"
        legalize = OPS[call.op.name].legalize
        if legalize is None:
            return None
        try:
            return legalize(call, tuple(self.type_of[item] for item in call.args), self.type_of[call])
        except OpTypeError:
            return None

    def name_of(self, made: Legalized) -> str:
        """Return the name that LegalizeOps would give a kernel, after which TVM names the one in place."""
        for kernel, name in self.kernels:
            if structural_equal(kernel, made.prim_func):
                return name
        self.kernels.append((made.prim_func, self.names.fresh(made.name)))
        return self.kernels[-1][1]

    def global_for(self, kernel: PrimFunc, name: str, call: Call) -> GlobalVar:
        for item in self.added:
            if structural_equal(item.function, kernel):
                return item.var
        var = self.ctx.derive(GlobalVar(self.names.fresh(name)), call)
        self.added.append(self.ctx.derive(Definition(var, kernel), call))
        return var


def _into_argument(kernel: PrimFunc, index: int, result: int) -> PrimFunc:
    """Return a kernel that writes into the buffer of the parameter `index` instead of that of `result`."""
    handle = kernel.params[result]
    target, output = kernel.buffer_of(kernel.params[index]), kernel.buffer_of(handle)
    assert target is not None, "the arguments of kernels are buffers"
    assert output is not None, "a kernel's result is a buffer"
    memo: dict[Node, Node] = {output: target}
    for node in postorder(kernel.body):
        if node not in memo:
            memo[node] = map_children(node, memo.__getitem__)
    body = memo[kernel.body]
    assert isinstance(body, Stmt), "a statement stays one"
    buffers = tuple(item for item in kernel.buffers if item.handle is not handle)
    params = tuple(item for item in kernel.params if item is not handle)
    return replace(kernel, params=params, buffers=buffers, body=body, attrs=(("tirx.noalias", True),))


PASS = Pass(
    "DataflowUseInplaceCalls",
    "Writes results into the memory of arguments that nothing reads any more.",
    run,
    needs=("normal form",),
    see="tvm/src/relax/transform/dataflow_inplace.cc",
)
