"""FuseOps: calls of prim funcs that are computed together become one primitive function.

See: tvm/src/relax/transform/fuse_ops.cc
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from operator import is_
from typing import Final

from relax_core.analysis.dataflow_fusion import dataflow_graph, prim_func_kinds, prim_func_of
from relax_core.analysis.fusion_graph import FusionGraph, Kind
from relax_core.analysis.fusion_groups import FusionGroup, FusionGroups, fusion_groups
from relax_core.ir.attrs import Attrs, attrs_of, has_attr
from relax_core.ir.expr import (
    OBJECT,
    Binding,
    Call,
    Constant,
    DataflowBlock,
    DataflowVar,
    Expr,
    Function,
    GlobalVar,
    PrimType,
    PrimValue,
    SeqExpr,
    ShapeExpr,
    ShapeType,
    TupleGetItem,
    Type,
    Var,
    VarBinding,
)
from relax_core.ir.module import Definition, IRModule
from relax_core.ir.node import Node, preorder
from relax_core.ir.prim import PrimExpr, PrimVar
from relax_core.ir.rewriting.builder import Names
from relax_core.ir.rewriting.rewrite import Rule
from relax_core.ir.rewriting.substitute import free_symbols, free_vars
from relax_core.passes.core import Pass, PassContext
from relax_core.passes.fusing import FusionOptions, explain_end
from relax_core.passes.relax.closures.captures import binding_symbols
from relax_core.passes.relax.closures.result_types import map_symbols
from relax_core.passes.relax.functions import rewrite_functions


@dataclass(frozen=True, slots=True)
class Grouped:
    """A private function, and the bindings that stand for the group: fields that it takes, then the call."""

    function: Function
    bindings: tuple[Binding, ...]


def grouped_function(
    name: GlobalVar, group: Sequence[Binding], attrs: Attrs, type_of: Mapping[Node, Type], ctx: PassContext
) -> Grouped:
    """Make the function `name` of a group of bindings, of which only the last one's variable is used elsewhere.

    What the bindings use becomes parameters in the order of its first use, constants too. A field of a tuple that comes
    from outside is taken before the call. Dimensions that no parameter gives come as one shape.
    """
    inside = {item.var for item in group}
    fields = tuple(item for item in group if _is_outer_field(item, inside))
    made = _Making(type_of, ctx, Names(item.var.name for item in group))
    for item in group:
        if item in fields:
            made.take(item.var, item.var, _field_name(item.value))
        else:
            made.take_all(item.value, inside)
    function = made.function([item for item in group if item not in fields], attrs)
    last = group[-1]
    binding = VarBinding(last.var, Call(name, tuple(made.args), span=last.value.span), span=last.span)
    ctx.derive(binding, *group, rule="bindings -> call of their function")
    return Grouped(function, (*fields, binding))


@dataclass(slots=True)
class _Making:
    """`param_of` is what stands for a value from outside, `args` what is given for it, in the same order."""

    type_of: Mapping[Node, Type]
    ctx: PassContext
    names: Names
    param_of: dict[Node, Var] = field(default_factory=dict[Node, Var])
    args: list[Expr] = field(default_factory=list[Expr])
    symbols: dict[PrimVar, PrimExpr] = field(default_factory=dict[PrimVar, PrimExpr])

    def take(self, outside: Node, given: Expr, hint: str) -> None:
        """Make a parameter for a value from outside, unless there is one."""
        if outside not in self.param_of:
            param = Var(self.names.fresh(hint), self.type_of.get(outside, OBJECT), span=given.span)
            self.param_of[outside] = self.ctx.derive(param, outside)
            self.args.append(given)

    def take_all(self, value: Expr, inside: set[Var]) -> None:
        """Make parameters for what a value uses."""
        for part in (*preorder(value), *free_vars(value)):
            match part:
                case Constant():
                    count = sum(isinstance(item, Constant) for item in self.args)
                    self.take(part, part, f"param_{count}")
                case Var() if part not in inside:
                    self.take(part, part, part.name)
                case _:
                    pass

    def function(self, body: Sequence[Binding], attrs: Attrs) -> Function:
        """Return the function of the bindings `body`, with symbols of its own."""
        ret = self.type_of.get(body[-1].var, OBJECT)
        outer = [param.annotation for param in self.param_of.values()]
        found = (*map(free_symbols, outer), *(free_symbols(item.value) for item in body), free_symbols(ret))
        self.symbols.update((item, PrimVar(item.name, item.dtype)) for part in found for item in part)
        given = {symbol for type_ in outer for symbol in binding_symbols(type_)}
        params = [*self.renamed(), *self.symbol_params([item for item in self.symbols if item not in given])]
        values: dict[Var, Expr] = {item: param for item, param in self.param_of.items() if isinstance(item, Var)}
        bindings: list[Binding] = []
        for item in body:
            is_last = item is body[-1]
            var = Var(self.names.fresh("gv")) if is_last else DataflowVar(item.var.name)
            value = self.ctx.rewrite(item.value, self.constants)
            bindings.append(VarBinding(var, self.ctx.substitute(value, values, self.symbols), span=item.span))
            values[item.var] = self.ctx.derive(var, item.var)
            self.ctx.derive(bindings[-1], item)
        block = DataflowBlock(tuple(bindings))
        result = map_symbols(ret, self.symbols)
        return Function(tuple(params), SeqExpr((block,), bindings[-1].var), result, attrs, is_private=True)

    def constants(self, node: Node) -> Node | None:
        """Rule: constant -> parameter."""
        return self.param_of.get(node) if isinstance(node, Constant) else None

    def renamed(self) -> Iterator[Var]:
        """Yield the parameters with the function's own symbols in their types."""
        for outside, param in tuple(self.param_of.items()):
            annotation = param.annotation or OBJECT
            own = map_symbols(annotation, self.symbols)
            self.param_of[outside] = param if own is annotation else self.ctx.derive(Var(param.name, own), outside)
            yield self.param_of[outside]

    def symbol_params(self, missing: list[PrimVar]) -> Iterator[Var]:
        """Yield the parameters for the symbols that no other parameter gives."""
        dims = tuple(item for item in reversed(missing) if item.dtype == "int64")
        if dims:
            self.args.append(ShapeExpr(dims))
            yield Var(self.names.fresh("tir_vars"), ShapeType(tuple(self.symbols[item] for item in dims)))
        for item in missing:
            if item not in dims:
                self.args.append(PrimValue(item))
                yield Var(self.names.fresh(item.name), PrimType(item.dtype, self.symbols[item]))


def _is_outer_field(binding: Binding, inside: set[Var]) -> bool:
    match binding.value:
        case TupleGetItem(tuple_value=source):
            return source not in inside
        case _:
            return False


def _field_name(value: Expr) -> str:
    match value:
        case TupleGetItem(tuple_value=Var(name=name), index=index):
            return f"{name}_{index}"
        case _:
            return "param"


PRIMITIVE: Final = "Primitive"


@dataclass(frozen=True, slots=True)
class FuseOpsOptions(FusionOptions):
    """At level 0 nothing is fused; `max_depth` limits the values in a function."""


def run(module: IRModule, options: FuseOpsOptions, ctx: PassContext) -> IRModule:
    """Put the prim funcs that a dataflow block calls into functions, several in one where fusion allows it.

    Only `call_tir` is fused: an operator that LegalizeOps has not lowered stands alone.
    """
    if options.fuse_opt_level == 0:
        return module
    fusion = _Fusion(options, ctx, ctx.types(module), prim_func_kinds(module), Names(module.names))

    def rules_for(_: GlobalVar, function: Function) -> tuple[Rule, ...]:
        return () if has_attr(function.attrs, PRIMITIVE) else (fusion.fuse,)

    result = rewrite_functions(module, ctx, rules_for)
    return ctx.derive(result.with_definitions(*fusion.added), module) if fusion.added else result


@dataclass(slots=True)
class _Fusion:
    options: FuseOpsOptions
    ctx: PassContext
    type_of: Mapping[Node, Type]
    kinds: Mapping[str, Kind]
    names: Names
    added: list[Definition] = field(default_factory=list[Definition])

    def fuse(self, node: Node) -> Node | None:
        """Rule: bindings that are computed together -> a call of a function that holds them."""
        if not isinstance(node, DataflowBlock):
            return None
        graph = dataflow_graph(node, self.kinds)
        groups = fusion_groups(graph, self.options.max_depth)
        members: dict[FusionGroup, list[Binding]] = {}
        for item in graph.nodes:
            members.setdefault(groups.groups[item.index].find(), []).append(node.bindings[item.index])
        self.explain(graph, groups)
        bindings: list[Binding] = []
        for item in graph.nodes:
            group = members[groups.groups[item.index].find()]
            if not _is_function(group):
                bindings.append(node.bindings[item.index])
            elif node.bindings[item.index] is group[-1]:
                bindings.extend(self.call(group))
        if len(bindings) == len(node.bindings) and all(map(is_, bindings, node.bindings)):
            return None
        return DataflowBlock(tuple(bindings), span=node.span)

    def call(self, group: list[Binding]) -> tuple[Binding, ...]:
        """Make the function of a group, and return the bindings that call it."""
        callees = [callee.name for item in group if (callee := prim_func_of(item)) is not None]
        name = GlobalVar(self.names.fresh("_".join(("fused", *callees))))
        made = grouped_function(name, group, attrs_of({PRIMITIVE: True}), self.type_of, self.ctx)
        self.added.append(self.ctx.derive(Definition(name, made.function), *group))
        words = ", ".join(f"@{item}" for item in callees)
        message = f"{len(callees)} prim funcs become one function, @{name.name}: {words}"
        self.ctx.remark(group[-1], "applied", message, tuple(group))
        return made.bindings

    def explain(self, graph: FusionGraph, groups: FusionGroups) -> None:
        """Say of each value at the end of its group why it is not computed with what uses it."""
        for item in graph.nodes:
            missed = groups.missed.get(item.expr)
            is_end = groups.groups[item.index].find().root is item.expr
            if is_end and item.uses and isinstance(item.expr, Binding):
                explain_end(self.ctx, item.expr, item.expr.var.name, missed)


def _is_function(group: list[Binding]) -> bool:
    return len(group) > 1 and any(prim_func_of(item) is not None for item in group)


PASS = Pass(
    "FuseOps",
    "Puts prim funcs that are computed together into primitive functions.",
    run,
    options=FuseOpsOptions,
    needs=("normal form",),
    see="tvm/src/relax/transform/fuse_ops.cc",
)
