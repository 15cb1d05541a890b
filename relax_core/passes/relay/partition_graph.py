"""PartitionGraph: each region becomes an external function, and a call of it takes its place.

See: tvm/src/relay/transforms/partition_graph.cc, v0.19
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from relax_core.analysis.regions import (
    DEFAULT,
    Region,
    Regions,
    annotated_target,
    end,
    find_regions,
    is_annotation,
    is_begin,
    is_closed,
    is_end,
    open_values,
)
from relax_core.ir.attrs import attr
from relax_core.ir.builder import Names
from relax_core.ir.expr import Call, Constant, Expr, Function, GlobalVar, Tuple, TupleGetItem, Var
from relax_core.ir.module import Definition, IRModule
from relax_core.ir.node import Node
from relax_core.ir.relay import Constructor, Let
from relax_core.ir.types import TupleType, Type
from relax_core.ir.values import value_parts, with_values
from relax_core.passes.core import Pass, PassContext, keep_type
from relax_core.passes.relay.to_a_normal_form import to_a_normal_form
from relax_core.passes.remarks import Said


@dataclass(frozen=True, slots=True)
class PartitionGraphOptions:
    """The functions are called `tvmgen_<mod_name>_<target>_<function>_<region>`.

    Literals that flow into a region stand in its function if `bind_constants`, else they are arguments.
    """

    mod_name: str = "default"
    bind_constants: bool = True


def run(module: IRModule, options: PartitionGraphOptions, ctx: PassContext) -> IRModule:
    """Partition every function that is no external one."""
    types = ctx.types_of_values(module)
    definitions: list[Definition] = []
    made: list[Definition] = []
    names = Names(module.names)
    for item in module.definitions:
        if isinstance(item.function, Function) and not is_closed(item.function):
            prepared = _Preparation(ctx, types).run(item.function)
            cut = _Partition(item.var.name, options, ctx, types, names)
            after = cut.run(prepared)
            made += cut.made
            ctx.remark_on_reading(cut.said)
            item = item if after is item.function else replace(item, function=after)
        definitions.append(item)
    if not made and all(new is old for new, old in zip(definitions, module.definitions, strict=True)):
        return module
    is_graph = attr(module.attrs, "lets") == "graph_form"
    attrs = tuple(item for item in module.attrs if item[0] != "lets")
    result = replace(module, definitions=(*definitions, *made), attrs=attrs)
    ctx.log.rebuilt(module, result)
    return to_a_normal_form(result, ctx.log) if is_graph else result


class _Preparation:
    """Takes the default annotations away, and puts the end of a tuple around its fields; adds types of made nodes."""

    def __init__(self, ctx: PassContext, types: dict[Node, Type]) -> None:
        self.ctx = ctx
        self.types = types
        self.has_split_tuple = False

    def run(self, function: Function) -> tuple[Node, ...]:
        """Return the nodes of the prepared function, in the order of `open_values`; the function is the last."""
        new_of: dict[Node, Node] = {}
        for node in open_values(function):
            if is_annotation(node):
                new = self._annotation(node, new_of)
            elif node.CHILDREN and not (isinstance(node, Function) and is_closed(node)):
                new = with_values(node, new_of)
                if new is not node:
                    keep_type(self.types, node, new)
            else:
                new = node
            self.ctx.log.rebuilt(node, new)
            new_of[node] = new
        # An annotation stands right behind its value, so without it the others keep their order.
        return open_values(new_of[function]) if self.has_split_tuple else tuple(dict.fromkeys(new_of.values()))

    def _annotation(self, node: Call, new_of: dict[Node, Node]) -> Node:
        if annotated_target(node) == DEFAULT:
            return new_of[node.args[0]]
        inner = new_of[node.args[0]]
        if isinstance(inner, Tuple) and inner.fields and is_end(node):
            self.has_split_tuple = True
            new = Tuple(tuple(self._field(item, annotated_target(node)) for item in inner.fields), span=node.span)
            keep_type(self.types, _enclosed(node, self.types), new)
            return new
        return with_values(node, new_of)

    def _field(self, item: Expr, target: str) -> Expr:
        """Return the end of a field of a tuple; a value that only passes through is the value itself."""
        if is_begin(item):
            return item.args[0]
        return end(item, target)


@dataclass(slots=True, eq=False)
class _Cut:
    """What becomes of a region: the parameters by what flows in, what flows out, and the call when it is made."""

    region: Region
    inputs: dict[Expr, Var]
    outputs: tuple[Expr, ...]
    call: Call | None = None


@dataclass(slots=True)
class _Partition:
    """Cuts one function; `made` are the external functions."""

    function_name: str
    options: PartitionGraphOptions
    ctx: PassContext
    types: dict[Node, Type]
    names: Names
    made: list[Definition] = field(default_factory=list[Definition])
    called: list[tuple[Call, GlobalVar, Region]] = field(default_factory=list["tuple[Call, GlobalVar, Region]"])
    new_of: dict[Node, Node] = field(default_factory=dict[Node, Node])
    result_of: dict[Node, tuple[_Cut, int]] = field(default_factory=dict[Node, "tuple[_Cut, int]"])
    """The region that gives a value, and the number of the value among what it gives."""
    region_of: Mapping[Node, Region] = field(default_factory=dict[Node, Region])

    def run(self, order: tuple[Node, ...]) -> Function:
        """Return the function whose nodes are `order`, with a call for each region. Iterative, each node once."""
        function = order[-1]
        assert isinstance(function, Function), "a function comes behind all that is in it"
        self._plan(find_regions(function, order), {node.var: node.value for node in order if isinstance(node, Let)})
        # `None` says that what is under it on the stack has had its parts cut.
        stack: list[Node | None] = [function]
        while stack:
            node = stack.pop()
            if node is None:
                node = stack.pop()
                assert node is not None, "there is a node under the mark"
                self.new_of[node] = self._new(node)
            elif node not in self.new_of:
                stack += (node, None)
                stack += self._parts(node)[::-1]
        result = self.new_of[function]
        assert isinstance(result, Function), "a function stays a function"
        return result

    def _plan(self, regions: Regions, bound: Mapping[Node, Expr]) -> None:
        """Decide what flows in and out of each region; the end of a variable stands for the value of its let."""
        self.region_of = regions.of
        for region in regions.all:
            values = {item: bound.get(item.args[0], item.args[0]) for item in region.ends}
            outputs = tuple(dict.fromkeys(values.values()))
            cut = _Cut(region, self._inputs(region), outputs)
            place_of = {value: place for place, value in enumerate(outputs)}
            for item, value in values.items():
                self.result_of[item if value is item.args[0] else value] = (cut, place_of[value])

    def _parts(self, node: Node) -> tuple[Node, ...]:
        """Return what must be cut before `node`: for an end, the inputs of its whole region."""
        found = self.result_of.get(node)
        if found is not None:
            return tuple(found[0].inputs)
        return () if self._is_whole(node) else value_parts(node)

    def _is_whole(self, node: Node) -> bool:
        """Tell whether nothing below `node` is cut with it."""
        return not node.CHILDREN or is_begin(node) or (isinstance(node, Function) and is_closed(node))

    def _new(self, node: Node) -> Node:
        found = self.result_of.get(node)
        if found is not None and node.CHILDREN:
            cut, place = found
            call = self._call(cut)
            new: Node = call if len(cut.outputs) == 1 else TupleGetItem(call, place, span=node.span)
            self.ctx.log.replace(node, new, "call the external function", known=(call,))
            return new
        if is_begin(node) and node in self.region_of:
            # A begin that no end leads to: only the reported way to annotate lets leaves one.
            return self._var(self.region_of[node], 0, node)
        if self._is_whole(node):
            return node
        if is_end(node):
            return self.new_of[node.args[0]]
        new = with_values(node, self.new_of)
        self.ctx.log.rebuilt(node, new)
        return new

    def _inputs(self, region: Region) -> dict[Expr, Var]:
        """Return the parameters of a region's function by what flows in: one each, but for literals and names."""
        found: dict[Expr, Var] = {}
        fixed = (GlobalVar, Constructor, Constant) if self.options.bind_constants else (GlobalVar, Constructor)
        for begin in region.begins:
            value = begin.args[0]
            if value not in found and not isinstance(value, fixed):
                found[value] = self._var(region, len(found), begin)
        return found

    def _var(self, region: Region, place: int, begin: Call) -> Var:
        return Var(
            f"{region.target}_{region.number}_i{place}", self.types.get(_enclosed(begin, self.types)), span=begin.span
        )

    def _call(self, cut: _Cut) -> Call:
        if cut.call is not None:
            return cut.call
        region = cut.region
        name = f"tvmgen_{self.options.mod_name}_{region.target}_{self.function_name}_{region.number}"
        var = GlobalVar(self.names.fresh(name))
        inner = self._inside(cut)
        bodies = tuple(_expr(inner[item]) for item in cut.outputs)
        body = bodies[0] if len(bodies) == 1 else Tuple(bodies)
        attrs = (("Primitive", 1), ("Inline", 1), ("Compiler", region.target), ("global_symbol", var.name))
        function = Function(tuple(cut.inputs.values()), body, self._type(cut.outputs), attrs)
        self.ctx.log.derive(function, region.nodes)
        self.made.append(Definition(var, function))
        cut.call = Call(var, tuple(_expr(self.new_of[item]) for item in cut.inputs))
        self.ctx.log.derive(cut.call, region.nodes, "partition")
        self.called.append((cut.call, var, region))
        return cut.call

    def said(self) -> Iterator[Said]:
        """Say of each call which function it calls, and what is in it."""
        for call, var, region in self.called:
            operators = region.operators
            yield Said(call, "applied", f"@{var.name}: {len(operators)} operators", operators)

    def _type(self, outputs: tuple[Expr, ...]) -> Type | None:
        found = (self.types.get(_enclosed(item, self.types)) for item in outputs)
        types = tuple(type_ for type_ in found if type_ is not None)
        if len(types) != len(outputs):
            return None
        return types[0] if len(types) == 1 else TupleType(types)

    def _inside(self, cut: _Cut) -> dict[Node, Node]:
        """Return what the nodes of a region become in its function."""
        inner: dict[Node, Node] = {}
        for begin in cut.region.begins:
            value = begin.args[0]
            inner[begin] = cut.inputs.get(value, value)
        for node in cut.region.operators:
            inner[node] = with_values(node, inner)
        for node, new in inner.items():
            self.ctx.log.rebuilt(node, new)
        return inner


def _enclosed(node: Node, types: Mapping[Node, Type]) -> Node:
    """Return the value that has the type of `node`: itself, or behind annotations whose types are not known."""
    while node not in types and is_annotation(node):
        node = node.args[0]
    return node


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
