"""Functions that belong to a target: composites move into them, as local functions."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from relax_core.ir.attrs import attr, attrs_of
from relax_core.ir.expr import (
    Binding,
    BindingBlock,
    Call,
    Expr,
    Function,
    GlobalVar,
    SeqExpr,
    Var,
    VarBinding,
)
from relax_core.ir.module import Definition, IRModule
from relax_core.ir.node import Node, preorder
from relax_core.ir.prim import PrimVar
from relax_core.ir.rewriting.builder import Names
from relax_core.ir.rewriting.substitute import free_symbols
from relax_core.passes.core import PassContext
from relax_core.passes.functions import with_definitions
from relax_core.passes.relax.byoc.outline import CODEGEN, COMPOSITE, PRIMITIVE, is_open
from relax_core.passes.relax.closures.result_types import map_symbols
from relax_core.pattern.partition.tables import target_of


def composites_of(module: IRModule) -> Mapping[str, Function]:
    """Return the composite functions of a module by their names."""
    return {var.name: function for var, function in module.relax_functions if attr(function.attrs, COMPOSITE)}


def target_function(name: str, composite: Function, ctx: PassContext) -> Function:
    """Return a function of the composite's target that calls the composite of the name `name`."""
    params = tuple(ctx.derive(Var(item.name, item.annotation), item) for item in composite.params)
    output = Var("output")
    binding = ctx.derive(VarBinding(output, Call(GlobalVar(name), params)), composite.body)
    body = SeqExpr((BindingBlock((binding,)),), output)
    return Function(params, body, composite.ret_type, attrs_of({CODEGEN: target_of(composite_name(composite))}))


def composite_name(function: Function) -> str:
    """Return the name of the pattern that a composite function was made for."""
    return str(attr(function.attrs, COMPOSITE))


def with_local_composites(
    function: Function, composites: Mapping[str, Function], ctx: PassContext, *, keeps_symbols: bool
) -> Function:
    """Return `function` with each composite that it calls as a local function, bound before its first call.

    Its bindings stand in one ordinary block: a dataflow block holds no local functions. With `keeps_symbols` the
    dimensions of the composites are those of the function, else each has its own.
    """
    assert isinstance(function.body, SeqExpr), "a function that was outlined is in normal form"
    moving = _Moving(composites, ctx, keeps_symbols)
    for block in function.body.blocks:
        for item in block.bindings:
            moving.add(item)
    block = BindingBlock(tuple(moving.bindings))
    return replace(function, body=SeqExpr((block,), ctx.substitute(function.body.body, moving.values)))


@dataclass(slots=True)
class _Moving:
    """The bindings so far, and what stands for the variables of the function and for composites by name."""

    composites: Mapping[str, Function]
    ctx: PassContext
    keeps_symbols: bool
    bindings: list[Binding] = field(default_factory=list[Binding])
    values: dict[Var, Expr] = field(default_factory=dict[Var, Expr])
    local_of: dict[str, Var] = field(default_factory=dict[str, Var])
    names: Names = field(default_factory=Names)

    def add(self, item: Binding) -> None:
        """Add a binding; a composite that it calls comes before it."""
        value = self.ctx.substitute(item.value, self.values)
        match value:
            case Call(op=GlobalVar(name=name)) if name in self.composites:
                value = self.ctx.derive(replace(value, op=self.local(name)), item.value)
            case _:
                pass
        self.values[item.var] = var = self.ctx.derive(Var(item.var.name, item.var.annotation), item.var)
        self.bindings.append(self.ctx.derive(VarBinding(var, value, span=item.span), item))

    def local(self, name: str) -> Var:
        """Return the variable of a composite."""
        if name not in self.local_of:
            composite = self.composites[name]
            var = self.local_of[name] = Var(self.names.fresh("local_func"))
            found = () if self.keeps_symbols else free_symbols(composite)
            copy = fresh_copy(composite, {item: PrimVar(item.name, item.dtype) for item in found}, self.ctx)
            attrs = tuple(item for item in copy.attrs if item[0] != PRIMITIVE)
            local = self.ctx.derive(replace(copy, attrs=attrs, is_private=False), composite)
            self.bindings.append(self.ctx.derive(VarBinding(var, local), composite))
        return self.local_of[name]


def fresh_copy(function: Function, symbols: Mapping[PrimVar, PrimVar], ctx: PassContext) -> Function:
    """Return `function` with variables of its own, and with other dimensions."""
    values: dict[Var, Expr] = {}
    for node in preorder(function):
        for var in _bound(node):
            own = None if var.annotation is None else map_symbols(var.annotation, dict(symbols))
            values[var] = ctx.derive(type(var)(var.name, own, span=var.span), var)
    return ctx.substitute(function, values, dict(symbols))


def _bound(node: Node) -> Iterator[Var]:
    match node:
        case Function(params=params):
            yield from params
        case Binding(var=var):
            yield var
        case _:
            pass


def in_target_functions(module: IRModule, ctx: PassContext) -> IRModule:
    """Return `module` with each composite that an open function calls in a function of its target."""
    composites = composites_of(module)
    open_functions = (function for _, function in module.relax_functions if is_open(function))
    called = {item.name for function in open_functions for item in preorder(function) if isinstance(item, GlobalVar)}
    names = Names(module.names)
    var_of = {
        name: GlobalVar(names.fresh(f"{name}_{target_of(composite_name(item))}"))
        for name, item in composites.items()
        if name in called
    }

    def call_wrapper(node: Node) -> Node | None:
        """Rule: composite -> function of its target that calls it."""
        return var_of[node.name] if isinstance(node, GlobalVar) and node.name in var_of else None

    definitions: list[Definition] = []
    for item in module.definitions:
        name = item.var.name
        if name in var_of:
            wrapper = with_local_composites(
                target_function(name, composites[name], ctx), composites, ctx, keeps_symbols=True
            )
            item = ctx.derive(Definition(var_of[name], wrapper), item)
        elif is_open(item.function):
            item = ctx.rewrite(item, call_wrapper)
        definitions.append(item)
    return with_definitions(module, tuple(definitions), ctx)
