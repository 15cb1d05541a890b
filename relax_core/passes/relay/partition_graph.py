"""PartitionGraph: each region becomes an external function, and a call of it takes its place.

See: tvm/src/relay/transforms/partition_graph.cc, v0.19
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from relax_core.analysis.regions import (
    DEFAULT,
    Region,
    annotated_target,
    end,
    find_regions,
    is_annotation,
    is_begin,
    is_closed,
    is_end,
    open_postorder,
)
from relax_core.check.infer import infer
from relax_core.ir.attrs import attr, attrs_of
from relax_core.ir.builder import Names
from relax_core.ir.expr import Call, Constant, Expr, Function, GlobalVar, Tuple, TupleGetItem, Var
from relax_core.ir.module import Definition, IRModule
from relax_core.ir.node import Node, children, map_children
from relax_core.ir.relay import Constructor
from relax_core.ir.types import TupleType, Type
from relax_core.passes.core import Pass, PassContext
from relax_core.passes.relay.to_a_normal_form import to_a_normal_form
from relax_core.passes.relay.to_graph_normal_form import let_values


@dataclass(frozen=True, slots=True)
class PartitionGraphOptions:
    """The functions are called `tvmgen_<mod_name>_<target>_<function>_<region>`.

    Literals that flow into a region stand in its function if `bind_constants`, else they are arguments.
    """

    mod_name: str = "default"
    bind_constants: bool = True


def run(module: IRModule, options: PartitionGraphOptions, ctx: PassContext) -> IRModule:
    """Partition every function that is no external one."""
    types = infer(module).types
    definitions: list[Definition] = []
    made: list[Definition] = []
    names = Names(module.names)
    for item in module.definitions:
        if isinstance(item.function, Function) and not is_closed(item.function):
            prepared = _Preparation(ctx, dict(types)).run(item.function)
            cut = _Partition(item.var.name, options, ctx, prepared.types, names)
            after = cut.run(prepared.function)
            made += cut.made
            item = item if after is item.function else replace(item, function=after)
        definitions.append(item)
    if not made and all(new is old for new, old in zip(definitions, module.definitions, strict=True)):
        return module
    is_graph = attr(module.attrs, "lets") == "graph_form"
    attrs = tuple(item for item in module.attrs if item[0] != "lets")
    result = replace(module, definitions=(*definitions, *made), attrs=attrs)
    ctx.log.rebuilt(module, result)
    return to_a_normal_form(result, ctx.log) if is_graph else result


@dataclass(frozen=True, slots=True)
class _Prepared:
    function: Function
    types: dict[Node, Type]


class _Preparation:
    """Takes the default annotations away, and puts the end of a tuple around its fields; keeps the types of nodes."""

    def __init__(self, ctx: PassContext, types: dict[Node, Type]) -> None:
        self.ctx = ctx
        self.types = types

    def run(self, function: Function) -> _Prepared:
        new_of: dict[Node, Node] = {}
        for node in open_postorder(function):
            new = self._new(node, new_of)
            if new is not node and node in self.types:
                self.types.setdefault(new, self.types[node])
            self.ctx.log.rebuilt(node, new)
            new_of[node] = new
        result = new_of[function]
        assert isinstance(result, Function), "a function stays a function"
        return _Prepared(result, self.types)

    def _new(self, node: Node, new_of: dict[Node, Node]) -> Node:
        if isinstance(node, Function) and is_closed(node):
            return node
        if is_annotation(node) and annotated_target(node) == DEFAULT:
            return new_of[node.args[0]]
        if is_end(node) and isinstance(inner := new_of[node.args[0]], Tuple) and inner.fields:
            return Tuple(tuple(self._field(item, annotated_target(node)) for item in inner.fields), span=node.span)
        return map_children(node, new_of.__getitem__)

    def _field(self, item: Expr, target: str) -> Expr:
        """Return the end of a field of a tuple; a value that only passes through is the value itself."""
        if is_begin(item):
            return item.args[0]
        ended = end(item, target)
        if item in self.types:
            self.types[ended] = self.types[item]
        return ended


@dataclass(slots=True)
class _Partition:
    """Cuts one function; `made` are the external functions."""

    function_name: str
    options: PartitionGraphOptions
    ctx: PassContext
    types: dict[Node, Type]
    names: Names
    made: list[Definition] = field(default_factory=list[Definition])
    bound: Mapping[Var, Expr] = field(default_factory=dict[Var, Expr])
    result_of: dict[Expr, tuple[Region, int, int]] = field(default_factory=dict[Expr, tuple[Region, int, int]])
    call_of: dict[Region, Call] = field(default_factory=dict[Region, Call])

    def run(self, function: Function) -> Function:
        """Return the function with a call for each region. Iterative, each node once."""
        regions = find_regions(function)
        self.bound = let_values(function)
        inputs = {item: self._inputs(item) for item in regions.all}
        for region in regions.all:
            outputs = self._outputs(region)
            for item in region.ends:
                value = self._value(item.args[0])
                self.result_of[item if value is item.args[0] else value] = (region, outputs.index(value), len(outputs))
        new_of: dict[Node, Node] = {}
        stack: list[tuple[Node, bool]] = [(function, False)]
        while stack:
            node, is_ready = stack.pop()
            if node in new_of:
                continue
            parts = self._parts(node, inputs)
            if not is_ready and parts:
                stack.append((node, True))
                stack.extend((part, False) for part in reversed(parts) if part not in new_of)
                continue
            new_of[node] = self._new(node, new_of, inputs, regions.of.get(node))
        result = new_of[function]
        assert isinstance(result, Function), "a function stays a function"
        return result

    def _outputs(self, region: Region) -> tuple[Expr, ...]:
        """Return what a region computes for others; the end of a variable stands for the value of its let."""
        return tuple(dict.fromkeys(self._value(item.args[0]) for item in region.ends))

    def _value(self, expr: Expr) -> Expr:
        return self.bound.get(expr, expr) if isinstance(expr, Var) else expr

    def _parts(self, node: Node, inputs: dict[Region, dict[Expr, Var]]) -> tuple[Node, ...]:
        """Return what must be cut before `node`: for an end, the inputs of its whole region."""
        found = self.result_of.get(node) if isinstance(node, Expr) else None
        if found is not None:
            return tuple(inputs[found[0]])
        if is_begin(node) or (isinstance(node, Function) and is_closed(node)):
            return ()
        return children(node)

    def _new(
        self, node: Node, new_of: dict[Node, Node], inputs: dict[Region, dict[Expr, Var]], region: Region | None
    ) -> Node:
        found = self.result_of.get(node) if isinstance(node, Expr) else None
        if found is not None:
            call = self._call(found[0], inputs[found[0]], new_of)
            new: Node = call if found[2] == 1 else TupleGetItem(call, found[1], span=node.span)
            self.ctx.log.replace(node, new, "call the external function", known=(call,))
            return new
        if is_begin(node) and region is not None:
            # A begin that no end leads to: only the reported way to annotate lets leaves one.
            return self._var(region, 0, node)
        if isinstance(node, Function) and is_closed(node):
            return node
        if is_end(node):
            return new_of[node.args[0]]
        new = map_children(node, new_of.__getitem__)
        self.ctx.log.rebuilt(node, new)
        return new

    def _inputs(self, region: Region) -> dict[Expr, Var]:
        """Return the parameters of a region's function by what flows in: one each, but for literals and names."""
        found: dict[Expr, Var] = {}
        for begin in region.begins:
            value = begin.args[0]
            is_bound = isinstance(value, GlobalVar | Constructor) or (
                isinstance(value, Constant) and self.options.bind_constants
            )
            if not is_bound and value not in found:
                found[value] = self._var(region, len(found), begin)
        return found

    def _var(self, region: Region, place: int, begin: Call) -> Var:
        type_ = self.types.get(begin) or self.types.get(begin.args[0])
        return Var(f"{region.target}_{region.number}_i{place}", type_, span=begin.span)

    def _call(self, region: Region, inputs: dict[Expr, Var], new_of: dict[Node, Node]) -> Call:
        if region in self.call_of:
            return self.call_of[region]
        name = f"tvmgen_{self.options.mod_name}_{region.target}_{self.function_name}_{region.number}"
        var = GlobalVar(self.names.fresh(name))
        outputs = self._outputs(region)
        inner = self._inside(region, inputs)
        bodies = tuple(_expr(inner[item]) for item in outputs)
        body = bodies[0] if len(bodies) == 1 else Tuple(bodies)
        attrs = attrs_of({"Primitive": 1, "Inline": 1, "Compiler": region.target, "global_symbol": var.name})
        function = Function(tuple(inputs.values()), body, self._type(outputs), attrs)
        self.ctx.log.derive(function, region.nodes)
        self.made.append(Definition(var, function))
        call = Call(var, tuple(_expr(new_of[item]) for item in inputs))
        self.ctx.log.derive(call, region.nodes, "partition")
        self.ctx.remark(call, "applied", f"@{var.name}: {len(region.operators)} operators", region.operators)
        self.call_of[region] = call
        return call

    def _type(self, outputs: tuple[Expr, ...]) -> Type | None:
        types = tuple(type_ for item in outputs if (type_ := self.types.get(item)) is not None)
        if len(types) != len(outputs):
            return None
        return types[0] if len(types) == 1 else TupleType(types)

    def _inside(self, region: Region, inputs: dict[Expr, Var]) -> dict[Node, Node]:
        """Return what the nodes of a region become in its function."""
        inner: dict[Node, Node] = {}
        for node in region.nodes:
            if is_begin(node):
                value = node.args[0]
                inner[node] = inputs.get(value, value)
            elif is_end(node):
                continue
            else:
                inner[node] = map_children(node, lambda child: inner.get(child, child))
            self.ctx.log.rebuilt(node, inner[node])
        return inner


def _expr(node: Node) -> Expr:
    assert isinstance(node, Expr), "an expression becomes an expression"
    return node


PASS = Pass(
    name="PartitionGraph",
    summary="Cuts each region out as an external function.",
    run=run,
    options=PartitionGraphOptions,
    dialect="relay",
    see="tvm/src/relay/transforms/partition_graph.cc",
)
