"""Put the bodies of private functions in the place of their calls."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from relax_core.analysis.call_graph import call_graph
from relax_core.check.order import components
from relax_core.check.unify import Solution, bind_symbols, is_subtype
from relax_core.ir.expr import (
    OBJECT,
    Binding,
    BindingBlock,
    Call,
    Expr,
    Function,
    GlobalVar,
    MatchCast,
    SeqExpr,
    ShapeType,
    TensorType,
    TupleType,
    Type,
    Var,
    VarBinding,
)
from relax_core.ir.module import Definition, IRModule
from relax_core.ir.node import Node, preorder
from relax_core.ir.prim import PrimExpr, PrimVar
from relax_core.ir.rewriting.builder import Names, names_in
from relax_core.ir.rewriting.substitute import free_symbols
from relax_core.passes.core import NoOptions, Pass, PassContext
from relax_core.passes.functions import change_functions, with_definitions
from relax_core.passes.relax import canonicalize_bindings
from relax_core.passes.relax.blocks.outputs import hide_outputs, join_dataflow, seen_outside, show_outputs
from relax_core.passes.relax.closures.result_types import map_symbols
from relax_core.passes.relax.dead_code_elimination import without_unused
from relax_core.passes.relax.functions import join_blocks
from relax_core.passes.relax.interfaces.internal import escaping, internal_functions, uses_of

_CHECKED = (TensorType, ShapeType, TupleType)
"""The types of which a match_cast checks more than the kind."""


def run(module: IRModule, _options: NoOptions, ctx: PassContext) -> IRModule:
    """Inline every private function that is not recursive, callees first, and drop it.

    What nothing uses goes from the functions that called them. What a parameter's type checks is kept as a match_cast
    where the argument's type does not say it. TVM leaves that out, and drops functions that are also used as values,
    which leaves a name of nothing.
    """
    uses = uses_of(module)
    graph = call_graph(module)
    recursive = {
        var.name for group in components(module) for var in group if len(group) > 1 or _calls(graph, var, var.name)
    }
    inlined: dict[str, Function] = {}
    for name, function in internal_functions(module, uses).items():
        if name in recursive:
            ctx.remark(function, "missed", f"@{name} is not inlined: it calls itself")
        else:
            inlined[name] = function
    for name, function, place in escaping(module, uses):
        ctx.remark(function, "missed", f"@{name} is not inlined: it is used as a value", (place,))
    if not inlined:
        return module
    return _inlined_module(module, inlined, ctx)


def _calls(graph: Mapping[GlobalVar, tuple[GlobalVar, ...]], var: GlobalVar, name: str) -> bool:
    return any(used.name == name for used in graph[var])


def _inlined_module(module: IRModule, inlined: dict[str, Function], ctx: PassContext) -> IRModule:
    type_of = ctx.types(module)
    bodies: dict[str, Function] = {}
    for group in components(module):
        for var in group:
            function = module[var.name]
            if isinstance(function, Function):
                bodies[var.name] = _CallInlining(function, bodies, inlined, type_of, ctx).run()
    kept: list[Definition] = []
    for item in module.definitions:
        if item.var.name in inlined:
            ctx.remark(item, "applied", f"@{item.var.name} is inlined where it is called")
            ctx.log.replace(item, (), "private function -> its body at its calls")
        else:
            new = bodies.get(item.var.name, item.function)
            kept.append(item if new is item.function else ctx.derive(replace(item, function=new), item))
    together = with_definitions(module, tuple(kept), ctx)
    shown = {item for _, function in together.relax_functions for item in seen_outside(function)}
    result = canonicalize_bindings.canonicalized(together, ctx)
    changed = {name for name, function in bodies.items() if function is not module[name]}

    def tidy(var: GlobalVar, function: Function) -> Function:
        return hide_outputs(function, ctx, shown) if var.name in changed else function

    return change_functions(without_unused(result, ctx, changed), ctx, tidy)


@dataclass(slots=True)
class _CallInlining:
    """The calls of one function; `bodies` are the functions in which calls are inlined already."""

    function: Function
    bodies: Mapping[str, Function]
    inlined: Mapping[str, Function]
    type_of: Mapping[Node, Type]
    ctx: PassContext
    names: Names = field(init=False)

    def __post_init__(self) -> None:
        self.names = names_in(self.function)

    def run(self) -> Function:
        """Return the function with the bodies in place of the calls."""
        new = self.ctx.rewrite(self.function, self.inline, join_dataflow, join_blocks)
        return new if new is self.function else show_outputs(new, self.ctx)

    def inline(self, node: Node) -> Node | None:
        """Rule: call of a private function -> its body."""
        if not isinstance(node, SeqExpr) or not any(
            self.callee(item) for block in node.blocks for item in block.bindings
        ):
            return None
        blocks: list[BindingBlock] = []
        for block in node.blocks:
            part: list[Binding] = []
            for item in block.bindings:
                callee = self.callee(item)
                if callee is None or not isinstance(item.value, Call):
                    part.append(item)
                    continue
                body, casts = self.body_of(callee, item.value)
                blocks += (_like(block, (*part, *casts)), *body.blocks)
                part = [replace(item, value=body.body)]
            blocks.append(_like(block, tuple(part)))
        return replace(node, blocks=tuple(block for block in blocks if block.bindings))

    def callee(self, binding: Binding) -> Function | None:
        """Return the function that a binding calls, if it is inlined."""
        match binding:
            case VarBinding(value=Call(op=GlobalVar(name=name))) if name in self.inlined:
                return self.bodies[name]
            case _:
                return None

    def body_of(self, callee: Function, call: Call) -> tuple[SeqExpr, tuple[Binding, ...]]:
        """Return a copy of a body for a call, and the casts of arguments whose types do not say enough."""
        solution = Solution()
        for param, arg in zip(callee.params, call.args, strict=True):
            bind_symbols(param.annotation or OBJECT, self.type_of.get(arg, OBJECT), param.name, solution, set())
        symbols: dict[PrimVar, PrimExpr] = {item: PrimVar(item.name, item.dtype) for item in free_symbols(callee)}
        symbols.update(solution.values)
        values: dict[Var, Expr] = {}
        casts: list[Binding] = []
        for param, arg in zip(callee.params, call.args, strict=True):
            wanted = map_symbols(param.annotation or OBJECT, symbols)
            if is_subtype(self.type_of.get(arg, OBJECT), wanted) or not isinstance(wanted, _CHECKED):
                values[param] = arg
                continue
            var = self.ctx.derive(Var(self.names.fresh(param.name)), param)
            casts.append(self.ctx.derive(MatchCast(var, arg, wanted, span=call.span), call))
            values[param] = var
        body = self.ctx.substitute(callee.body, values, symbols)
        fresh: dict[Var, Expr] = {}
        for item in _bound(body):
            fresh[item] = self.ctx.derive(replace(item, name=self.names.fresh(item.name)), item)
        copied = self.ctx.substitute(body, fresh)
        assert isinstance(copied, SeqExpr), "a function in A-normal form has a sequence as its body"
        return copied, tuple(casts)


def _like(block: BindingBlock, bindings: tuple[Binding, ...]) -> BindingBlock:
    return replace(block, bindings=bindings)


def _bound(body: Node) -> Iterator[Var]:
    """Yield the variables that are bound in a body, parameters of local functions included."""
    for item in preorder(body):
        match item:
            case Function(params=params):
                yield from params
            case Binding(var=var):
                yield var
            case _:
                pass


PASS = Pass(
    "InlinePrivateFunctions",
    "Puts the bodies of private functions in the place of their calls.",
    run,
    needs=("normal form",),
    see="tvm/src/relax/transform/inline_functions.cc",
)
