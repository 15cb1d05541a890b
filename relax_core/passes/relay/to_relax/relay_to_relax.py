"""Make Relax of Relay: polymorphism erased, data as objects with constructors, `match` as tests of tags.

Relax keeps what some operators take, such as the value of `nn.pad`, as attributes; a composite has it as a parameter.
"""

from collections import Counter
from collections.abc import Collection
from dataclasses import replace
from itertools import chain

from relax_core.analysis.relay_effects import effects_of
from relax_core.diagnostics import CompileError, Diagnostic, plural
from relax_core.ir.attrs import has_attr, with_attr
from relax_core.ir.dialect import DIALECT_ATTR
from relax_core.ir.expr import Call, Constant, Function, GlobalVar, Var
from relax_core.ir.module import BaseFunc, Definition, IRModule, without_own_symbol
from relax_core.ir.node import Node, children, postorder
from relax_core.ir.rewriting.builder import Names, normalize
from relax_core.ir.rewriting.trampoline import run as run_steps
from relax_core.ir.values import with_values
from relax_core.passes.core import NoOptions, Pass, PassContext
from relax_core.passes.relay.normal_form.to_a_normal_form import to_a_normal_form
from relax_core.passes.relay.to_relax.block import Supply
from relax_core.passes.relay.to_relax.devices import places_of, with_kernels_placed
from relax_core.passes.relay.to_relax.function import FunctionConverter
from relax_core.passes.relay.to_relax.memory import without_memory
from relax_core.printer.naming import legal

_INNER = ("Compiler", "Primitive", "Composite", "Inline")
"""Attributes of functions that only the module itself calls, if it calls them at all."""


def run(module: IRModule, options: NoOptions, ctx: PassContext) -> IRModule:
    """Return the module in Relax.

    Raises:
        CompileError: PS011 at each call of an operator that Relax cannot express.
    """
    module = with_kernels_placed(without_memory(module, ctx), ctx)
    named = to_a_normal_form(bind_literals(module, ctx), ctx.log, into_opaque=True)
    for var, function in named.relax_functions:
        count = sum(isinstance(node, Call) for node in postorder(function))
        ctx.remark(function, "applied", f"@{var.name} becomes a function of Relax: {plural(count, 'call')}")
    type_of = ctx.types(named)
    effects = effects_of(named)
    tags = {item.name: tag for data in named.type_data for tag, item in enumerate(data.constructors)}
    diagnostics: list[Diagnostic] = []
    definitions: list[Definition] = []
    globals_ = _legal_names(named, ctx)
    places = places_of(named)
    inner = _inner(named)
    for item in named.definitions:
        if isinstance(item.function, Function):
            supply = Supply(ctx, Names(), places)
            converter = FunctionConverter(type_of, tags, effects, supply, globals_, diagnostics)
            made = run_steps(converter.function(item.function))
            var = globals_[item.var.name]
            made = _exported(var.name, made, ctx, is_inner=item.var.name in inner)
            item = ctx.derive(replace(item, var=var, function=made), item)
        definitions.append(item)
    if diagnostics:
        raise CompileError(diagnostics)
    attrs = tuple(pair for pair in named.attrs if pair[0] != DIALECT_ATTR)
    relax = ctx.derive(replace(named, definitions=tuple(definitions), type_data=(), attrs=attrs), module)
    if places is not None:
        relax = ctx.derive(replace(relax, global_infos=places.infos), relax)
    return normalize(relax, ctx.log)


def _legal_names(module: IRModule, ctx: PassContext) -> dict[str, GlobalVar]:
    """Give functions whose names Relax cannot write, such as `f_?_2`, others; the rest keep their variables."""
    taken = Names(name for name in module.names if legal(name) == name)
    found: dict[str, GlobalVar] = {}
    for item in module:
        name = item.var.name
        is_legal = legal(name) == name
        found[name] = item.var if is_legal else ctx.derive(GlobalVar(taken.fresh(legal(name))), item.var)
    return found


def _inner(module: IRModule) -> Collection[str]:
    """Return the names of marked functions that others use."""
    marked = {item.var.name for item in module if any(has_attr(item.function.attrs, mark) for mark in _INNER)}
    if not marked:
        return ()
    uses = ((node.name, item.var.name) for item in module for node in postorder(item) if isinstance(node, GlobalVar))
    return {name for name, user in uses if name in marked and name != user}


def _exported(name: str, function: Function, ctx: PassContext, *, is_inner: bool) -> BaseFunc:
    """Return a function under its own name for the host, or private if only the module calls it."""
    if has_attr(function.attrs, "global_symbol"):
        named = without_own_symbol(replace(function, attrs=with_attr(function.attrs, "global_symbol", name)), name)
        return ctx.derive(named, function)
    if is_inner:
        return ctx.derive(replace(function, is_private=True), function)
    return function


PASS = Pass(
    "RelayToRelax",
    "Makes Relax of Relay: operators by their table, data as objects with constructors, match as tests of tags, "
    "polymorphism erased.",
    run,
    gives=("in Relax",),
    see="tvm/src/relay/backend/vm/compiler.cc",
    dialect="relay",
    to_dialect="relax",
)


def bind_literals(module: IRModule, ctx: PassContext) -> IRModule:
    """Return `module` without the parameters of composites whose one call gives them a tensor literal."""
    return module.map_functions(lambda function: _bound(function, ctx))


def _bound(function: Function, ctx: PassContext) -> Function:
    order = tuple(postorder(function))
    literal_of = _literals(order)
    if not literal_of:
        return function
    new_of: dict[Node, Node] = {}
    for node in order:
        new_of[node] = new = _new(node, new_of, literal_of)
        ctx.log.rebuilt(node, new)
    result = new_of[function]
    assert isinstance(result, Function), "a function stays a function"
    return result


def _literals(order: tuple[Node, ...]) -> dict[Var, Constant]:
    """Return what becomes of the parameters of composites that are called once with literals."""
    called = [
        (node.op, node)
        for node in order
        if isinstance(node, Call) and isinstance(node.op, Function) and has_attr(node.op.attrs, "Composite")
    ]
    uses = Counter(chain.from_iterable(map(children, order))) if called else Counter[Node]()
    found: dict[Var, Constant] = {}
    for composite, call in called:
        if uses[composite] == 1:
            pairs = zip(composite.params, call.args, strict=False)
            found.update({param: arg for param, arg in pairs if isinstance(arg, Constant)})
    return found


def _new(node: Node, new_of: dict[Node, Node], literal_of: dict[Var, Constant]) -> Node:
    match node:
        case Var():
            return literal_of.get(node, node)
        case Function(params=params, body=body) if any(param in literal_of for param in params):
            kept = tuple(param for param in params if param not in literal_of)
            after = replace(node, params=kept)
            return with_values(after, {body: new_of[body]})
        case Call(op=Function(params=params) as callee, args=args) if any(param in literal_of for param in params):
            pairs = zip(params, args, strict=False)
            kept = tuple(arg for param, arg in pairs if param not in literal_of)
            return with_values(replace(node, args=kept), {**{arg: new_of[arg] for arg in kept}, callee: new_of[callee]})
        case _:
            return with_values(node, new_of)
