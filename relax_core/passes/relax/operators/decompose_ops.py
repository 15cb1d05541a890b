"""Write composed operators as the arithmetic that they stand for."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from relax_core.ir.expr import (
    Binding,
    BindingBlock,
    Call,
    DataflowBlock,
    Function,
    GlobalVar,
    MatchCast,
    Op,
    ShapeExpr,
    ShapeType,
    Type,
    Var,
    VarBinding,
)
from relax_core.ir.module import IRModule
from relax_core.ir.node import Node
from relax_core.ir.prim import PrimVar
from relax_core.ir.rewriting.builder import Emitter, Names, names_in
from relax_core.passes.core import PassContext
from relax_core.passes.functions import change_functions
from relax_core.passes.relax.operators.decomposition import TENSOR_TO_SHAPE, Decompose, Layer


@dataclass(frozen=True, slots=True)
class DecomposeOptions:
    """`func_name` is the function that is changed; all are if it is empty."""

    func_name: str = ""


def decompose(
    module: IRModule, options: DecomposeOptions, rules: Mapping[str, Decompose], ctx: PassContext
) -> IRModule:
    """Return `module` with the operators of `rules` written as what they are made of."""
    type_of = ctx.types(module)
    if options.func_name and options.func_name not in module:
        ctx.remark(module, "missed", f"nothing is decomposed: there is no function {options.func_name}")

    def change(var: GlobalVar, function: Function) -> Function:
        if options.func_name not in ("", var.name):
            return function
        decomposition = _Decomposition(type_of, rules, names_in(function), ctx)
        return ctx.rewrite(function, decomposition.block)

    return change_functions(module, ctx, change)


@dataclass(frozen=True, slots=True)
class _Decomposition:
    type_of: Mapping[Node, Type]
    rules: Mapping[str, Decompose]
    names: Names
    ctx: PassContext

    def block(self, node: Node) -> Node | None:
        """Rule: composed operator -> the operators that it is made of."""
        if not isinstance(node, BindingBlock):
            return None
        emitter = Emitter(self.names, is_dataflow=isinstance(node, DataflowBlock))
        is_changed = False
        for item in node.bindings:
            made = self.binding(item, emitter)
            is_changed = is_changed or made is not item
            emitter.bindings.append(made)
        return replace(node, bindings=tuple(emitter.bindings)) if is_changed else None

    def binding(self, binding: Binding, emitter: Emitter) -> Binding:
        """Return a binding with its value decomposed; what must be bound before it is emitted."""
        match binding:
            case VarBinding(value=Call(op=Op(name=name)) as call) if name in self.rules:
                pass
            case _:
                return binding
        words = name.removeprefix("relax.").removeprefix("nn.")
        start = len(emitter.bindings)
        value = self.rules[name](Layer(call, name, self.type_of.get(call.args[0]), emitter))
        if value is None:
            self.ctx.remark(binding, "missed", f"{words} stays: the type of its argument does not say enough")
            return binding
        if name == TENSOR_TO_SHAPE:
            value = self.shape(value, call, emitter)
        elif isinstance(value, Var):
            # The last value has the name that the program gives it.
            value = emitter.bindings.pop().value
        for item in emitter.bindings[start:]:
            self.ctx.derive(item, call)
        self.ctx.derive(value, call, rule=f"{words} -> what it is made of")
        made = replace(binding, value=value)
        self.ctx.log.rebuilt(binding, made)
        self.ctx.remark(made, "applied", f"{words} is decomposed")
        return made

    def shape(self, value: Node, call: Call, emitter: Emitter) -> ShapeExpr:
        """Bind the dimensions of the shape that is read, and return it as an expression of them."""
        assert isinstance(value, Call), "a call of the machine"
        (type_,) = value.type_args
        assert isinstance(type_, ShapeType), "what is read is a shape"
        dims = tuple(PrimVar(self.names.fresh("x")) for _ in range(type_.ndim or 0))
        read = emitter.emit(value)
        cast = MatchCast(replace(read, name=self.names.fresh("y")), read, ShapeType(dims), span=call.span)
        emitter.bindings.append(cast)
        return ShapeExpr(dims)
