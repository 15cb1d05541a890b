"""Apply an identity to the values of bindings, seen through the variables that they use, until it applies nowhere."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from relax_core.ir.attrs import attr
from relax_core.ir.expr import (
    Binding,
    BindingBlock,
    Call,
    Constant,
    DataflowBlock,
    Dims,
    Expr,
    Function,
    GlobalVar,
    Null,
    Op,
    PrimValue,
    TensorType,
    Tuple,
    Type,
    Var,
    VarBinding,
)
from relax_core.ir.integer.prove import constant_value
from relax_core.ir.module import IRModule
from relax_core.ir.node import Node, preorder
from relax_core.ir.rewriting.builder import Emitter, names_in
from relax_core.ir.rewriting.substitute import free_vars
from relax_core.passes.core import PassContext
from relax_core.passes.functions import change_functions
from relax_core.passes.relax.operators.calls import op_call
from relax_core.passes.relax.redundancy import without_redundancy

_MAX_ROUNDS = 100
Identity: TypeAlias = "Callable[[Call, Site], Expr | None]"
"""`identity(call, site)` returns what takes the place of a call, or `None`; what that uses it emits at the site."""
Misses: TypeAlias = dict[Var, tuple[Node, str]]
"""Why nothing is done at a binding, by its variable."""


@dataclass(slots=True)
class Site:
    """A binding of a function: what is known of the values that it uses, and where more bindings may be made."""

    ctx: PassContext
    type_of: Mapping[Node, Type]
    value_of: Mapping[Node, Expr]
    compile_time: frozenset[Node]
    emitter: Emitter
    binding: VarBinding
    misses: "Misses"
    used: list[Node] = field(default_factory=list[Node])

    def call_of(self, expr: Expr, name: str) -> Call | None:
        """Return the call of an operator that gives the value of `expr`."""
        match self.value_of.get(expr):
            case Call(op=Op(name=found)) as call if found == f"relax.{name}":
                self.used.append(expr)
                return call
            case _:
                return None

    def dims(self, expr: Expr) -> Dims | None:
        """Return the dimensions of a tensor, if they are known one by one."""
        type_ = self.type_of.get(expr)
        return type_.dims if isinstance(type_, TensorType) else None

    def order_of(self, call: Call) -> tuple[int, ...] | None:
        """Return the axes of a permute_dims, counted from 0, if they are known."""
        dims = self.dims(call.args[0])
        match call.args[1]:
            case Null() if dims is not None:
                return tuple(reversed(range(len(dims))))
            case Tuple(fields=fields):
                values = [constant_value(item.value) for item in fields if isinstance(item, PrimValue)]
                return tuple(value % len(fields) for value in values if value is not None)
            case _:
                return None

    def op(self, name: str, *args: Expr) -> Var:
        """Emit a call of an operator before the binding."""
        return self.emitter.emit(op_call(name, *args))

    def is_compile_time(self, *exprs: Expr) -> bool:
        """Tell whether values depend on weights only: the parameters behind the first `num_input` of the function."""
        return all(isinstance(expr, Constant) or expr in self.compile_time for expr in exprs)

    def missed(self, words: str) -> None:
        """Say why nothing is done here."""
        self.misses[self.binding.var] = (self.binding, f"{self.binding.var.name} stays: {words}")


def rewrite_calls(module: IRModule, name: str, identity: Identity, applied: str, ctx: PassContext) -> IRModule:
    """Return `module` with `identity` applied to the calls of the operator `name`, and without redundancy."""
    changed = module
    misses: Misses = {}
    for _ in range(_MAX_ROUNDS):
        # What stays is told as it is in the end.
        misses.clear()
        new = _once(changed, _Search(f"relax.{name}", identity, applied, misses), ctx)
        if new is changed:
            break
        changed = new
    for place, words in misses.values():
        ctx.remark(place, "missed", words)
    return without_redundancy(module, changed, ctx)


@dataclass(frozen=True, slots=True)
class _Search:
    """What is looked for: calls of the operator `name`; what was done is told as `applied`."""

    name: str
    identity: Identity
    applied: str
    misses: Misses


def _once(module: IRModule, search: _Search, ctx: PassContext) -> IRModule:
    type_of = ctx.types(module)

    def change(_: GlobalVar, function: Function) -> Function:
        bindings = [item for item in preorder(function) if isinstance(item, VarBinding)]
        value_of: dict[Node, Expr] = {item.var: item.value for item in bindings}
        compile_time = _compile_time(function, bindings)
        names = names_in(function)

        def block(node: Node) -> Node | None:
            """Rule: call -> what is equal to it."""
            if not isinstance(node, BindingBlock):
                return None
            emitter = Emitter(names, is_dataflow=isinstance(node, DataflowBlock))
            for item in node.bindings:
                made = item
                match item:
                    case VarBinding(value=Call(op=Op(name=found)) as call) if found == search.name:
                        site = Site(ctx, type_of, value_of, compile_time, emitter, item, search.misses)
                        made = _rewritten(site, call, search)
                    case _:
                        pass
                emitter.bindings.append(made)
            return None if tuple(emitter.bindings) == node.bindings else replace(node, bindings=tuple(emitter.bindings))

        return ctx.rewrite(function, block)

    return change_functions(module, ctx, change)


def _rewritten(site: Site, call: Call, search: _Search) -> Binding:
    start = len(site.emitter.bindings)
    value = search.identity(call, site)
    if value is None:
        del site.emitter.bindings[start:]
        return site.binding
    for item in site.emitter.bindings[start:]:
        site.ctx.derive(item, call, *site.used)
    site.ctx.derive(value, call, *site.used, rule=search.applied)
    made = replace(site.binding, value=value)
    site.ctx.log.rebuilt(site.binding, made)
    site.ctx.remark(made, "applied", f"{made.var.name}: {search.applied}", tuple(site.used))
    return made


def _compile_time(function: Function, bindings: list[VarBinding]) -> frozenset[Node]:
    count = attr(function.attrs, "num_input")
    if not isinstance(count, int):
        return frozenset()
    found: set[Node] = set(function.params[count:])
    for item in bindings:
        used = free_vars(item.value)
        if used and found.issuperset(used):
            found.add(item.var)
    return frozenset(found)
