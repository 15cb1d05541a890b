"""PartitionGraph: each region becomes an external function, and a call of it takes its place.

See: tvm/src/relay/transforms/partition_graph.cc, v0.19

See: FlattenTupleOutputs in tvm/src/relay/transforms/partition_graph.cc, v0.19
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import NoReturn

from relax_core.analysis.region_literals import literals_of
from relax_core.analysis.regions import (
    DEFAULT,
    Region,
    RegionSets,
    Values,
    annotated_target,
    end,
    find_sets,
    is_annotation,
    is_begin,
    is_closed,
    open_values,
)
from relax_core.analysis.relay_scopes import OPENERS
from relax_core.check.relay.well_formed import well_formed_relay
from relax_core.ir.attrs import attr
from relax_core.ir.expr import Call, Constant, Expr, Function, GlobalVar, Op, Tuple, TupleGetItem, TupleType, Type, Var
from relax_core.ir.module import Definition, IRModule
from relax_core.ir.node import Node
from relax_core.ir.relay import Constructor, Let
from relax_core.ir.rewriting.builder import Names
from relax_core.ir.rewriting.rewrite import RewriteLog
from relax_core.ir.values import rebuilt, with_values
from relax_core.passes.core import Pass, PassContext, keep_type
from relax_core.passes.relay.normal_form.to_a_normal_form import to_a_normal_form
from relax_core.passes.remarks import UnnumberedRemark


def is_split(node: Call, behind: Mapping[Node, Expr]) -> bool:
    """Tell whether an end encloses a tuple with fields; `behind` is what stands behind annotations of no target."""
    inner = behind.get(node.args[0], node.args[0])
    return isinstance(inner, Tuple) and bool(inner.fields)


def split_tuples(order: Values, ends: Set[Node], types: dict[Node, Type], log: RewriteLog) -> Values:
    """Return the `open_values` of a function with each of `ends` around the fields of its tuple; they were `order`."""
    new_of: dict[Node, Node] = {}
    for node, parts in order.items():
        if node in ends and isinstance(node, Call):
            new_of[node] = _fields_ended(node, new_of, types)
        else:
            new_of[node] = rebuilt(node, parts, new_of)
            keep_type(types, node, new_of[node])
        log.rebuilt(node, new_of[node])
    return open_values(new_of[next(reversed(order))])


def _fields_ended(node: Call, new_of: Mapping[Node, Node], types: dict[Node, Type]) -> Tuple:
    inner = _plain(new_of[node.args[0]])
    assert isinstance(inner, Tuple), "a tuple stays one"
    new = Tuple(tuple(_field(_plain(item), annotated_target(node)) for item in inner.fields), span=node.span)
    keep_type(types, enclosed(node, types), new)
    return new


def _plain(node: Node) -> Expr:
    """Return what stands behind annotations of no target."""
    while is_annotation(node) and annotated_target(node) == DEFAULT:
        node = node.args[0]
    assert isinstance(node, Expr), "an expression stays one"
    return node


def _field(item: Expr, target: str) -> Expr:
    """Return the end of a field of a tuple; a value that only passes through is the value itself."""
    return item.args[0] if is_begin(item) else end(item, target)


def enclosed(node: Node, types: Mapping[Node, Type]) -> Node:
    """Return the value that has the type of `node`: itself, or behind annotations whose types are not known."""
    while node not in types and is_annotation(node):
        node = node.args[0]
    return node


_FIXED = (GlobalVar, Constructor, Constant, Op)
"""What stands in the function of a region itself, if no begin encloses it."""
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
    unusual: list[_Partition] = []
    told: list[tuple[Call, Var, Region]] = []
    names = Names(module.names)
    for item in module.definitions:
        if isinstance(item.function, Function) and not is_closed(item.function):
            cut = _Partition(item.var.name, options, ctx, types, names)
            after = cut.run(item.function)
            unusual += [cut] if cut.is_unusual else []
            told += [(begin, var, cut.open_begins[begin]) for begin, var in cut.told]
            made += cut.made
            if after is not item.function and not cut.made:
                ctx.remark(item.function, "applied", f"the annotations in @{item.var.name} go: no target has a region")
            ctx.remark_on_reading(cut.said)
            item = item if after is item.function else replace(item, function=after)
        definitions.append(item)
    if not made and not told and all(new is old for new, old in zip(definitions, module.definitions, strict=True)):
        return module
    is_graph = attr(module.attrs, "lets") == "graph_form"
    attrs = tuple(item for item in module.attrs if item[0] != "lets")
    result = replace(module, definitions=(*definitions, *made), attrs=attrs)
    ctx.log.rebuilt(module, result)
    # A place is looked up in the log, which is whole now.
    for begin, var, region in told:
        message = f"the region {region.target} {region.number} begins here and never ends; nothing binds %{var.name}"
        ctx.remark(begin, "missed", f"no function is made of the region {region.target} {region.number}: it never ends")
        ctx.warn("BY004", message, begin, "end the region where its value is used")
    if unusual:
        _require_closed(module, result, unusual, ctx)
    return to_a_normal_form(result, ctx.log) if is_graph else result


def _require_closed(before: IRModule, after: IRModule, cuts: "list[_Partition]", ctx: PassContext) -> None:
    """Fail if a cut took a variable out of its scope: a region may begin outside of a branch and end inside.

    The variables in the place of begins without an end were told already.
    """
    told = {f"%{var.name} is not bound" for cut in cuts for _, var in cut.told}
    told.update(item.message for item in well_formed_relay(before))
    lost = next((item for item in well_formed_relay(after) if item.code == "RY030" and item.message not in told), None)
    if lost is not None:
        place = next((found.region.nodes[0] for cut in cuts for found, _ in cut.result_of.values()), before)
        hint = "begin and end each region in one branch or function"
        ctx.fail("BY005", f"the regions cannot be cut out as they stand: {lost.message} any more", place, hint)


@dataclass(slots=True, eq=False)
class _Cut:
    """What becomes of a region: the parameters by what flows in, what flows out, and the call when it is made.

    `literals` are the tuples of literals that flow in and are bound, and `bare` what flows in without a begin.
    """

    region: Region
    inputs: dict[Expr, Var]
    literals: tuple[Expr, ...]
    outputs: tuple[Expr, ...]
    bare: tuple[Expr, ...] = ()
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
    olds: list[Node] = field(default_factory=list[Node])
    """What was rebuilt, and in `news` what became of it."""
    news: list[Node] = field(default_factory=list[Node])
    order: Values = field(default_factory=dict[Node, "tuple[Node, ...]"])
    """The `open_values` of the function."""
    behind: Mapping[Node, Expr] = field(default_factory=dict[Node, Expr])
    """What stands behind annotations of no target."""
    inside: Set[Node] = frozenset()
    """The nodes of regions."""
    result_of: dict[Node, tuple[_Cut, int]] = field(default_factory=dict[Node, "tuple[_Cut, int]"])
    """The region that gives a value, and the number of the value among what it gives."""
    has_bare: bool = False
    """Whether a region takes a value that no begin encloses."""
    told: list[tuple[Call, Var]] = field(default_factory=list["tuple[Call, Var]"])
    """The begins without an end, and the variables in their places."""
    open_begins: dict[Node, Region] = field(default_factory=dict[Node, Region])
    """The begins of the regions that have no end."""

    @property
    def is_unusual(self) -> bool:
        """Tell whether variables may have left their scope: there are scopes inside, or a begin was left out."""
        if not self.made:
            return False
        root = next(reversed(self.order))
        return self.has_bare or any(
            type(node) in OPENERS and parts and node is not root for node, parts in self.order.items()
        )

    def run(self, function: Function) -> Function:
        """Return the function with a call for each region. Iterative, each node once."""
        self.order = self.ctx.values_in(function)
        sets = find_sets(self.order, skips_default=True)
        tuples = {end for end in sets.ends if is_split(end, sets.behind)}
        if tuples:
            self.order = split_tuples(self.order, tuples, self.types, self.ctx.log)
            sets = find_sets(self.order, skips_default=True)
        self._plan(sets)
        self.ctx.log.copied(zip(self.olds, self.news, strict=True))
        root = next(reversed(self.order))
        new_of, inside, result_of = self.new_of, self.inside, self.result_of
        # What is below a begin without an end is not reached.
        for node in (root,) if self.open_begins else self.order:
            # What is inside a region is computed in its function, unless something outside uses it without an end.
            if (node not in inside or node in result_of) and node not in new_of:
                try:
                    new_of[node] = self._new(node)
                except KeyError:
                    # What it needs comes later, or is a value that leaves its region without an end.
                    self._cut(node)
        result = new_of[root]
        assert isinstance(result, Function), "a function stays a function"
        return result

    def _cut(self, root: Node) -> None:
        """Find what becomes of a node, and before that of what it needs. Iterative, each node once."""
        new_of = self.new_of
        entered: set[Node] = set()
        stack = [root]
        while stack:
            node = stack[-1]
            needed = () if node in new_of else [part for part in self._parts(node) if part not in new_of]
            if needed:
                if node in entered:
                    self._refuse(stack)
                entered.add(node)
                stack += needed[::-1]
                continue
            if node not in new_of:
                new_of[node] = self._new(node)
            stack.pop()

    def _refuse(self, stack: list[Node]) -> NoReturn:
        """Fail because of a region that needs what is computed from it: the last of `stack` stands there twice."""
        region = next(self.result_of[node][0].region for node in reversed(stack) if node in self.result_of)
        message = f"the region {region.target} {region.number} takes a value that is computed from its own result"
        hint = "end the region before that value, and begin another one behind it"
        self.ctx.fail("BY003", message, next(iter(region.operators), region.ends[0]), hint)

    def _plan(self, sets: RegionSets) -> None:
        """Decide what flows in and out of each region; the end of a variable stands for the value of its let."""
        self.inside, self.behind = sets.number_of.keys(), sets.behind
        bound: dict[Expr, Expr] = {node.var: node.value for node in self.order if type(node) is Let}
        for region in sets.regions().all:
            if region.is_open:
                self.open_begins.update(dict.fromkeys(region.begins, region))
            values: dict[Expr, Expr] = {}
            for item in region.ends:
                inner = self._behind(item.args[0])
                value = self._behind(bound.get(inner, inner))
                values[item if value is inner else value] = value
            place_of = {value: place for place, value in enumerate(dict.fromkeys(values.values()))}
            inputs, literals = self._inputs(region)
            bare = () if region.is_open else tuple(self._bare(region, place_of, sets))
            for value in bare:
                if value not in inputs:
                    inputs[value] = self._var(region, len(inputs), value)
            self.has_bare = self.has_bare or bool(bare)
            cut = _Cut(region, inputs, literals, tuple(place_of), bare)
            for item, value in values.items():
                if item.CHILDREN:
                    self.result_of[item] = (cut, place_of[value])

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
        return () if node in self.open_begins else self.order[node]

    def _new(self, node: Node) -> Node:
        """Return what becomes of a node, after that of its parts."""
        found = self.result_of.get(node)
        if found is not None:
            return self._result(node, *found)
        if node in self.behind:
            return self.new_of[self.behind[node]]
        if node in self.inside and is_annotation(node):
            return self._free(node) if node in self.open_begins else self.new_of[node.args[0]]
        new = rebuilt(node, self.order[node], self.new_of)
        self.olds.append(node)
        self.news.append(new)
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
                found[value] = self._var(region, len(found), begin.args[0], begin)
        return found, tuple(literals)

    def _bare(self, region: Region, outputs: Iterable[Expr], sets: RegionSets) -> Iterator[Expr]:
        """Yield what the function of a region needs that no begin encloses, which becomes parameters all the same.

        AnnotateTarget puts a begin around each input; annotations that were written by hand may leave one out, or end
        a value that is in no region.
        """
        own = {*region.nodes}
        parts = chain.from_iterable(self.order[node] for node in region.operators)
        outside = chain(
            (item for item in outputs if item not in own), (item for item in parts if item not in sets.inside)
        )
        for part in outside:
            value = self._behind(_expr(part))
            if not (isinstance(value, _FIXED) or (isinstance(value, Function) and is_closed(value))):
                yield value

    def _free(self, begin: Call) -> Var:
        region = self.open_begins[begin]
        var = self._var(region, 0, begin.args[0], begin)
        self.told.append((begin, var))
        self.ctx.log.derive(var, (begin,))
        return var

    def _var(self, region: Region, place: int, value: Expr, begin: Call | None = None) -> Var:
        span = value.span if begin is None else begin.span
        return Var(f"{region.target}_{region.number}_i{place}", self._type(value), span=span)

    def _type(self, value: Expr) -> Type | None:
        return self.types.get(value if value in self.types else enclosed(value, self.types))

    def _call(self, cut: _Cut) -> Call:
        if cut.call is not None:
            return cut.call
        args = tuple([_expr(self.new_of[item]) for item in cut.inputs])
        inner = self._inside(cut)
        region = cut.region
        name = _symbol(f"tvmgen_{self.options.mod_name}_{region.target}_{self.function_name}_{region.number}")
        var = GlobalVar(self.names.fresh(name))
        bodies = tuple([_expr(inner[item]) for item in cut.outputs])
        types = tuple([self._type(item) for item in cut.outputs])
        body, type_ = (bodies[0], types[0]) if len(bodies) == 1 else (Tuple(bodies), _tuple_type(types))
        attrs = (("Primitive", 1), ("Inline", 1), ("Compiler", region.target), ("global_symbol", var.name))
        function = Function(tuple(cut.inputs.values()), body, type_, attrs)
        self.ctx.log.derive(function, region.nodes)
        self.made.append(Definition(var, function))
        cut.call = Call(var, args)
        self.ctx.log.derive(cut.call, region.nodes, "partition")
        self.called.append((cut.call, var, region))
        return cut.call

    def said(self) -> Iterator[UnnumberedRemark]:
        """Say of each call which function it calls, and what is in it."""
        for call, var, region in self.called:
            operators = region.operators
            yield UnnumberedRemark(call, "applied", f"@{var.name}: {len(operators)} operators", operators)

    def _inside(self, cut: _Cut) -> dict[Node, Node]:
        """Return what the nodes of a region become in its function."""
        inner: dict[Node, Node] = {}
        behind = self.behind
        for begin in cut.region.begins:
            value = self._behind(begin.args[0])
            inner[begin] = cut.inputs.get(value) or (self.new_of[value] if value in cut.literals else value)
        inner.update((value, cut.inputs[value]) for value in cut.bare)
        for node in cut.region.operators:
            if behind and not behind.keys().isdisjoint(parts := self.order[node]):
                plain = {part: behind[part] for part in parts if part in behind}
                inner.update((part, inner.get(value, value)) for part, value in plain.items())
            inner[node] = with_values(node, inner)
        self.olds += inner
        self.news += inner.values()
        return inner


def _symbol(name: str) -> str:
    """Return `name` as linkers take it: `_` stands for what is no letter, digit or `_`."""
    return _SIGN.sub("_", name)


def _tuple_type(types: tuple[Type | None, ...]) -> Type | None:
    known = tuple([type_ for type_ in types if type_ is not None])
    return TupleType(known) if len(known) == len(types) else None


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
    reads_data=False,
)
