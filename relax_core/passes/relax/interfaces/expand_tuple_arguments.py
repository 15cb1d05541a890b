"""Pass the fields of tuples to private functions one by one."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from relax_core.ir.expr import (
    Binding,
    BindingBlock,
    Call,
    DataflowBlock,
    Expr,
    Function,
    GlobalVar,
    SeqExpr,
    Tuple,
    TupleGetItem,
    TupleType,
    Type,
    Var,
    VarBinding,
)
from relax_core.ir.module import IRModule
from relax_core.ir.node import Node
from relax_core.ir.rewriting.builder import Emitter, Names, names_in
from relax_core.passes.core import NoOptions, Pass, PassContext
from relax_core.passes.functions import change_functions
from relax_core.passes.relax.functions import join_blocks
from relax_core.passes.relax.interfaces.internal import cleaned, escaping, internal_functions, uses_of


def run(module: IRModule, _options: NoOptions, ctx: PassContext) -> IRModule:
    """Give private functions a parameter for each field of a tuple, of nested ones as well.

    TVM also changes functions that are used as values, whose callers then still pass the tuple.
    """
    uses = uses_of(module)
    expanded = {
        name: function
        for name, function in internal_functions(module, uses).items()
        if any(isinstance(param.annotation, TupleType) for param in function.params)
    }
    for name, function, place in escaping(module, uses):
        if any(isinstance(param.annotation, TupleType) for param in function.params):
            ctx.remark(function, "missed", f"@{name} keeps its tuples: it is used as a value", (place,))

    def change(var: GlobalVar, function: Function) -> Function:
        names = names_in(function)

        def expand(node: Node) -> Node | None:
            """Rule: call with a tuple -> call with its fields."""
            return _expanded_calls(node, expanded, names) if isinstance(node, BindingBlock) else None

        new = ctx.rewrite(function, expand)
        return _expanded(var.name, new, names, ctx) if var.name in expanded else new

    return cleaned(change_functions(module, ctx, change), ctx)


def _expanded_calls(block: BindingBlock, expanded: Mapping[str, Function], names: Names) -> BindingBlock | None:
    bindings: list[Binding] = []
    for item in block.bindings:
        match item:
            case VarBinding(value=Call(op=GlobalVar(name=name), args=args) as call) if name in expanded:
                emitter = Emitter(names, is_dataflow=isinstance(block, DataflowBlock))
                pairs = zip(args, expanded[name].params, strict=True)
                given = tuple(part for arg, param in pairs for part in _fields(arg, param.annotation, emitter))
                bindings += (*emitter.bindings, replace(item, value=replace(call, args=given)))
            case _:
                bindings.append(item)
    is_same = len(bindings) == len(block.bindings) and not any(map(_is_other, bindings, block.bindings))
    return None if is_same else replace(block, bindings=tuple(bindings))


def _is_other(a: Binding, b: Binding) -> bool:
    return a is not b


def _fields(value: Expr, type_: Type | None, emitter: Emitter) -> Iterator[Expr]:
    """Yield what a tuple holds that is no tuple, in order; fields are taken where they are not known."""
    if not isinstance(type_, TupleType):
        yield value
        return
    for index, field_type in enumerate(type_.fields):
        part = value.fields[index] if isinstance(value, Tuple) else emitter.emit(TupleGetItem(value, index))
        yield from _fields(part, field_type, emitter)


@dataclass(slots=True)
class _Params:
    """The parameters that are made for the fields of one tuple, and the bindings of the tuples in it."""

    names: Names
    made: list[Var] = field(default_factory=list[Var])
    bindings: list[VarBinding] = field(default_factory=list[VarBinding])

    def whole(self, name: str, type_: TupleType) -> Tuple:
        """Return the tuple that parameters called after `name` make up; tuples in it are bound."""
        return Tuple(tuple(self.field(f"{name}_{index}", item) for index, item in enumerate(type_.fields)))

    def field(self, name: str, type_: Type) -> Var:
        var = Var(self.names.fresh(name), type_)
        if isinstance(type_, TupleType):
            self.bindings.append(VarBinding(var, self.whole(name, type_)))
        else:
            self.made.append(var)
        return var


def _expanded(name: str, function: Function, names: Names, ctx: PassContext) -> Function:
    """Return `function` with a parameter for each field, of which it makes the tuples itself."""
    params: list[Var] = []
    bindings: list[Binding] = []
    for param in function.params:
        if not isinstance(param.annotation, TupleType):
            params.append(param)
            continue
        made = _Params(names)
        value = made.whole(param.name, param.annotation)
        bindings += (ctx.derive(item, param) for item in made.bindings)
        bindings.append(ctx.derive(VarBinding(param, value, span=param.span), param))
        params += (ctx.derive(item, param) for item in made.made)
        words = ", ".join(item.name for item in made.made) or "nothing"
        ctx.remark(param, "applied", f"@{name} takes {words} in place of the tuple {param.name}")
    body = function.body
    assert isinstance(body, SeqExpr), "a function in A-normal form has a sequence as its body"
    emitter = Emitter(names)
    result = emitter.emit(body.body) if isinstance(body.body, Tuple) else body.body
    after = tuple(ctx.derive(item, body) for item in emitter.bindings)
    blocks = (BindingBlock(tuple(bindings)), *body.blocks, BindingBlock(after))
    made_body = ctx.rewrite(replace(body, blocks=blocks if after else blocks[:-1], body=result), join_blocks)
    made_function = replace(function, params=tuple(params), body=made_body)
    return ctx.derive(made_function, function, rule="function of tuples -> function of their fields")


PASS = Pass(
    "ExpandTupleArguments",
    "Gives private functions a parameter for each field of a tuple that they take.",
    run,
    needs=("normal form",),
    see="tvm/src/relax/transform/expand_tuple_arguments.cc",
)
