"""Make Relax of Relay: polymorphism erased, data as objects with constructors, `match` as tests of tags."""

from collections.abc import Collection
from dataclasses import replace

from relax_core.analysis.relay_effects import effects_of
from relax_core.diagnostics import CompileError, Diagnostic
from relax_core.ir.attrs import has_attr, with_attr
from relax_core.ir.dialect import DIALECT_ATTR
from relax_core.ir.expr import Function, GlobalVar
from relax_core.ir.module import Definition, IRModule
from relax_core.ir.node import postorder
from relax_core.ir.rewriting.builder import Names, normalize
from relax_core.ir.rewriting.trampoline import run as run_steps
from relax_core.passes.core import NoOptions, Pass, PassContext
from relax_core.passes.relay.bind_literals import bind_literals
from relax_core.passes.relay.relay_to_relax_block import Supply
from relax_core.passes.relay.relay_to_relax_devices import places_of, with_kernels_placed
from relax_core.passes.relay.relay_to_relax_function import FunctionConverter
from relax_core.passes.relay.relay_to_relax_memory import without_memory
from relax_core.passes.relay.to_a_normal_form import to_a_normal_form
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


def _exported(name: str, function: Function, ctx: PassContext, *, is_inner: bool) -> Function:
    """Return a function under its own name for the host, or private if only the module calls it."""
    if has_attr(function.attrs, "global_symbol"):
        attrs = with_attr(function.attrs, "global_symbol", name)
        return function if attrs is function.attrs else ctx.derive(replace(function, attrs=attrs), function)
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
