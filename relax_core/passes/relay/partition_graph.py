"""PartitionGraph: each region becomes an external function, and a call of it takes its place.

See: tvm/src/relay/transforms/partition_graph.cc, v0.19
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from relax_core.analysis.region_literals import literals_of
from relax_core.analysis.regions import (
    Region,
    RegionSets,
    find_sets,
    is_annotation,
    is_begin,
    is_closed,
)
from relax_core.ir.attrs import attr
from relax_core.ir.builder import Names
from relax_core.ir.expr import Call, Constant, Expr, Function, GlobalVar, Tuple, TupleGetItem, Var
from relax_core.ir.module import Definition, IRModule
from relax_core.ir.node import Node
from relax_core.ir.relay import Constructor, Let
from relax_core.ir.types import TupleType, Type
from relax_core.ir.values import rebuilt, value_parts, with_values
from relax_core.passes.core import Pass, PassContext
from relax_core.passes.relay.split_tuples import enclosed, is_split, split_tuples
from relax_core.passes.relay.to_a_normal_form import to_a_normal_form
from relax_core.passes.remarks import Said

_SIGN = re.compile(r"\W", re.ASCII)


@dataclass(frozen=True, slots=True)
class PartitionGraphOptions:
    """The functions are called `tvmgen_<mod_name>_<target>_<function>_<region>`, with `_` for signs in these names.

    Literals, and tuples of them, that flow into a region stand in its function if `bind_constants`, else they are
    arguments.
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
            cut = _Partition(item.var.name, options, ctx, types, names)
            after = cut.run(item.function)
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


@dataclass(slots=True, eq=False)
class _Cut:
    """What becomes of a region: the parameters by what flows in, what flows out, and the call when it is made.

    `literals` are the tuples of literals that flow in and are bound.
    """

    region: Region
    inputs: dict[Expr, Var]
    literals: tuple[Expr, ...]
    outputs: tuple[Expr, ...]
    call: Call | None = None


@dataclass(slots=True)
class _Partition:
    """Cuts one function; `made` are the external functions. Annotations of no target are looked through."""

    function_name: str
    options: PartitionGraphOptions
    ctx: PassContext
    types: dict[Node, Type]
    names: Names
    made: list[Definition] = field(default_factory=list[Definition])
    called: list[tuple[Call, GlobalVar, Region]] = field(default_factory=list["tuple[Call, GlobalVar, Region]"])
    new_of: dict[Node, Node] = field(default_factory=dict[Node, Node])
    copied: list[tuple[Node, Node]] = field(default_factory=list["tuple[Node, Node]"])
    behind: Mapping[Node, Expr] = field(default_factory=dict[Node, Expr])
    """What stands behind annotations of no target."""
    result_of: dict[Node, tuple[_Cut, int]] = field(default_factory=dict[Node, "tuple[_Cut, int]"])
    """The region that gives a value, and the number of the value among what it gives."""
    region_of: Mapping[Node, Region] = field(default_factory=dict[Node, Region])
    has_open: bool = False

    def run(self, function: Function) -> Function:
        """Return the function with a call for each region. Iterative, each node once."""
        order = self.ctx.values_in(function)
        sets = find_sets(order, skips_default=True)
        tuples = {end for end in sets.ends if is_split(end, sets.behind)}
        if tuples:
            order = split_tuples(order, tuples, self.types, self.ctx.log)
            sets = find_sets(order, skips_default=True)
        self._plan(sets, {node.var: node.value for node in order if isinstance(node, Let)})
        self.ctx.log.copied(self.copied)
        # What is below a begin without an end is not reached.
        for node in order[-1:] if self.has_open else order:
            # What is inside a region is computed in its function, unless something outside uses it without an end.
            if node not in self.new_of and (node not in self.region_of or node in self.result_of):
                try:
                    self.new_of[node] = self._new(node)
                except KeyError:
                    # What it needs comes later, or is a value that leaves its region without an end.
                    self._cut(node)
        result = self.new_of[order[-1]]
        assert isinstance(result, Function), "a function stays a function"
        return result

    def _cut(self, root: Node) -> None:
        """Find what becomes of a node, and before that of what it needs. Iterative, each node once."""
        new_of = self.new_of
        stack = [root]
        while stack:
            node = stack[-1]
            needed = () if node in new_of else [part for part in self._parts(node) if part not in new_of]
            if needed:
                stack += needed[::-1]
                continue
            if node not in new_of:
                new_of[node] = self._new(node)
            stack.pop()

    def _plan(self, sets: RegionSets, bound: Mapping[Node, Expr]) -> None:
        """Decide what flows in and out of each region; the end of a variable stands for the value of its let."""
        regions = sets.regions()
        self.region_of, self.behind = regions.of, sets.behind
        self.has_open = any(region.is_open for region in regions.all)
        for region in regions.all:
            values: dict[Expr, Expr] = {}
            for item in region.ends:
                inner = self._behind(item.args[0])
                value = self._behind(bound.get(inner, inner))
                values[item if value is inner else value] = value
            outputs = tuple(dict.fromkeys(values.values()))
            inputs, literals = self._inputs(region)
            cut = _Cut(region, inputs, literals, outputs)
            place_of = {value: place for place, value in enumerate(outputs)}
            self.result_of.update({item: (cut, place_of[value]) for item, value in values.items() if item.CHILDREN})

    def _behind(self, node: Expr) -> Expr:
        return self.behind.get(node, node)

    def _parts(self, node: Node) -> Iterable[Node]:
        """Return what must be cut before `node`: for an end, the inputs of its whole region."""
        found = self.result_of.get(node)
        if found is not None:
            cut = found[0]
            return (*cut.inputs, *cut.literals) if cut.literals else cut.inputs
        if node in self.behind:
            return (self.behind[node],)
        return () if is_begin(node) or _is_closed(node) else value_parts(node)

    def _new(self, node: Node) -> Node:
        """Return what becomes of a node, after that of its parts."""
        if not node.CHILDREN or _is_closed(node):
            return node
        found = self.result_of.get(node)
        if found is not None:
            return self._result(node, *found)
        if node in self.behind:
            return self.new_of[self.behind[node]]
        if is_annotation(node):
            # A begin that no end leads to: only the reported way to annotate lets leaves one.
            return self._var(self.region_of[node], 0, node) if is_begin(node) else self.new_of[node.args[0]]
        new = rebuilt(node, self.new_of)
        if new is not node:
            self.copied.append((node, new))
        return new

    def _result(self, node: Node, cut: _Cut, place: int) -> Node:
        """Return the call of an external function, or the field that `node` stands for."""
        call = self._call(cut)
        new = call if len(cut.outputs) == 1 else TupleGetItem(call, place, span=node.span)
        self.ctx.log.replace(node, new, "call the external function", known=(call,))
        return new

    def _inputs(self, region: Region) -> tuple[dict[Expr, Var], tuple[Expr, ...]]:
        """Return the parameters of a region's function by what flows in: one each, but for literals and names.

        The tuples among the literals come besides.
        """
        found: dict[Expr, Var] = {}
        literals: list[Expr] = []
        fixed = (GlobalVar, Constructor, Constant) if self.options.bind_constants else (GlobalVar, Constructor)
        for begin in region.begins:
            value = self._behind(begin.args[0])
            if value in found or isinstance(value, fixed):
                continue
            if isinstance(value, Tuple) and self.options.bind_constants and literals_of(value):
                literals.append(value)
            else:
                found[value] = self._var(region, len(found), begin)
        return found, tuple(literals)

    def _var(self, region: Region, place: int, begin: Call) -> Var:
        value = begin.args[0]
        type_ = self.types.get(value if value in self.types else enclosed(value, self.types))
        return Var(f"{region.target}_{region.number}_i{place}", type_, span=begin.span)

    def _call(self, cut: _Cut) -> Call:
        if cut.call is not None:
            return cut.call
        args = tuple([_expr(self.new_of[item]) for item in cut.inputs])
        inner = self._inside(cut)
        region = cut.region
        name = _symbol(f"tvmgen_{self.options.mod_name}_{region.target}_{self.function_name}_{region.number}")
        var = GlobalVar(self.names.fresh(name))
        bodies = tuple(_expr(inner[item]) for item in cut.outputs)
        body = bodies[0] if len(bodies) == 1 else Tuple(bodies)
        attrs = (("Primitive", 1), ("Inline", 1), ("Compiler", region.target), ("global_symbol", var.name))
        function = Function(tuple(cut.inputs.values()), body, self._type(cut.outputs), attrs)
        self.ctx.log.derive(function, region.nodes)
        self.made.append(Definition(var, function))
        cut.call = Call(var, args)
        self.ctx.log.derive(cut.call, region.nodes, "partition")
        self.called.append((cut.call, var, region))
        return cut.call

    def said(self) -> Iterator[Said]:
        """Say of each call which function it calls, and what is in it."""
        for call, var, region in self.called:
            operators = region.operators
            yield Said(call, "applied", f"@{var.name}: {len(operators)} operators", operators)

    def _type(self, outputs: tuple[Expr, ...]) -> Type | None:
        found = (self.types.get(enclosed(item, self.types)) for item in outputs)
        types = tuple(type_ for type_ in found if type_ is not None)
        if len(types) != len(outputs):
            return None
        return types[0] if len(types) == 1 else TupleType(types)

    def _inside(self, cut: _Cut) -> dict[Node, Node]:
        """Return what the nodes of a region become in its function."""
        inner: dict[Node, Node] = {}
        for begin in cut.region.begins:
            value = self._behind(begin.args[0])
            inner[begin] = cut.inputs.get(value) or (self.new_of[value] if value in cut.literals else value)
        for node in cut.region.operators:
            if not self.behind.keys().isdisjoint(value_parts(node)):
                plain = {part: self.behind[part] for part in value_parts(node) if part in self.behind}
                inner.update((part, inner.get(value, value)) for part, value in plain.items())
            inner[node] = with_values(node, inner)
        self.copied += [(node, new) for node, new in inner.items() if new is not node]
        return inner


def _symbol(name: str) -> str:
    """Return `name` as linkers take it: `_` stands for what is no letter, digit or `_`."""
    return _SIGN.sub("_", name)


def _is_closed(node: Node) -> bool:
    return isinstance(node, Function) and is_closed(node)


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
