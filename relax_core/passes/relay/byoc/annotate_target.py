"""AnnotateTarget: each operator gets the first target that supports it, and each of its inputs a begin.

An edge from one operator to another is `compiler_begin(compiler_end(value, its target), target of the user)`; a
variable or literal gets only the begin. See: tvm/src/relay/transforms/annotate_target.cc, v0.19
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from typing import Any, Literal

from relax_core.analysis.regions import (
    BEGIN_OP,
    DEFAULT,
    END_OP,
    Values,
    annotated_target,
    begin,
    end,
    find_regions,
    is_annotation,
    is_begin,
    is_closed,
    is_end,
    mark_of,
    open_values,
)
from relax_core.diagnostics import plural
from relax_core.ir.attrs import Attrs, attr, with_attr
from relax_core.ir.expr import Call, Expr, Function, If, Op, Tuple, TupleGetItem, Type, Var
from relax_core.ir.module import Definition, IRModule
from relax_core.ir.node import Node, children, map_children
from relax_core.ir.relay import Clause, Let, Match, RefCreate, RefRead, RefWrite
from relax_core.ir.values import with_values
from relax_core.passes.core import Pass, PassContext, keep_type, keep_types
from relax_core.passes.relay.normal_form.to_graph_normal_form import to_graph_normal_form
from relax_core.passes.remarks import UnnumberedRemark, value_name
from relax_core.pattern.partition.tables import Taker, target_of

Lets = Literal["reported", "values", "definition", "uses", "graph_form"]
_NO_TARGET_HINT = "give a table of what targets take, or AnnotateTarget(targets=['dnnl'])"
_LEAVE_OPEN: tuple[Lets, ...] = ("reported", "uses")
"""The ways that may leave a region without an end: the others end the value of every let in its place."""


@dataclass(frozen=True, slots=True)
class AnnotateTargetOptions:
    """`targets` in order of preference, all of the table if there are none.

    Tuples, projections, references and calls of local functions are annotated as operators are if
    `include_non_call_ops`. `lets` says what happens to let-bound values: "values" ends the region at the value, and
    every use begins another; "definition" begins and ends inside the value, literals included; "uses" ends at each use;
    "graph_form" removes the lets first; "reported" puts a begin with no end on every value, as TVM does.
    """

    targets: tuple[str, ...] = ()
    include_non_call_ops: bool = True
    lets: Lets = "values"

    def __post_init__(self) -> None:
        dotted = [item for item in self.targets if "." in item]
        if dotted:
            raise ValueError(f"the target {dotted[0]} has a dot; a dot divides a target from the name of a composite")


def run(module: IRModule, options: AnnotateTargetOptions, ctx: PassContext) -> IRModule:
    """Annotate every function that is no external one."""
    if not (options.targets or ctx.tables.targets):
        ctx.fail("BY001", "there is no target to annotate for", module, _NO_TARGET_HINT)
    if options.lets == "graph_form":
        module = to_graph_normal_form(module, ctx)
    types = ctx.types_of_values(module)
    changed: list[Definition] = []
    for item in module.definitions:
        if isinstance(item.function, Function) and not is_closed(item.function):
            order, hints = _without_annotations(item.function, types, ctx)
            annotator = _Annotator(options, ctx, hints, types)
            after = annotator.function(order)
            if options.lets in _LEAVE_OPEN and annotator.has_lets:
                _warn_of_open_regions(after, ctx)
            if after is not item.function:
                changed.append(replace(item, function=after))
    ctx.kept_types = types
    if options.lets == "graph_form":
        module = replace(module, attrs=with_attr(module.attrs, "lets", options.lets))
    return module.with_definitions(*changed) if changed else module


def _warn_of_open_regions(function: Function, ctx: PassContext) -> None:
    """Warn of regions that do not end."""
    for region in find_regions(function).all:
        if region.is_open and region.target != DEFAULT:
            message = f"the region {region.target} {region.number} begins here and never ends"
            hint = "AnnotateTarget(lets='values') ends a region at the value of a let"
            value: Expr = region.begins[0]
            while is_annotation(value):
                value = value.args[0]
            ctx.warn("BY002", message, value, hint)


def _without_annotations(
    function: Function, types: dict[Node, Type], ctx: PassContext
) -> tuple[Values, Mapping[Node, str]]:
    """Take away the annotations of an earlier run, and return the `open_values` of the function without them.

    The targets that the earlier run chose come with the nodes.
    """
    found: dict[Node, str] = {}
    plain: dict[Node, Node] = {}
    order = ctx.values_in(function)
    if not any(map(is_annotation, order)):
        return order, found
    for node, parts in order.items():
        if is_annotation(node):
            plain[node] = plain.get(node.args[0], node.args[0])
            continue
        target = next((annotated_target(item) for item in _parts(node) if is_begin(item)), DEFAULT)
        plain[node] = with_values(node, plain) if parts else node
        keep_type(types, node, plain[node])
        ctx.log.rebuilt(node, plain[node])
        if target != DEFAULT:
            found[plain[node]] = target
    return open_values(plain[function]), found


def _parts(node: Node) -> tuple[Expr, ...]:
    match node:
        case Call(args=args):
            return args
        case Tuple(fields=fields):
            return fields
        case TupleGetItem(tuple_value=value):
            return (value,)
        case _:
            return ()


class _Annotator:
    """Annotates one function, inputs first. `target_of[old]` is the target of a value whose region is open."""

    def __init__(
        self, options: AnnotateTargetOptions, ctx: PassContext, hints: Mapping[Node, str], types: dict[Node, Type]
    ) -> None:
        self.types = types
        self.options = options
        self.ctx = ctx
        self.hints = hints
        self.targets = options.targets or ctx.tables.targets
        self.target_of: dict[Node, str] = {}
        self.new_of: dict[Node, Any] = {}
        self.value_of: Mapping[Node, Expr] = {}
        self.used: frozenset[Node] = frozenset()
        self.has_lets = False
        self.placed: list[tuple[Node, str]] = []
        self.takers: dict[str, tuple[Taker, ...]] = {}
        self.marks: dict[str, Attrs] = {}

    def function(self, order: Values) -> Function:
        """Return a function annotated; `order` are its `open_values`."""
        if self.options.lets == "uses":
            self.value_of = {node.var: node.value for node in order if isinstance(node, Let)}
            # The first part of a let is its variable.
            uses = (parts[1:] if isinstance(node, Let) else parts for node, parts in order.items())
            self.used = frozenset(chain.from_iterable(uses))
        self.ctx.remark_on_reading(partial(_places, self.new_of, self.placed, self.targets))
        for node, parts in order.items():
            # The value of a let comes before its uses, and the let itself behind them.
            self.new_of[node] = self._visit(node) if parts else node
        olds, news = [*self.new_of], [*self.new_of.values()]
        keep_types(self.types, olds, news)
        self.ctx.log.copied(zip(olds, news, strict=True))
        self.ctx.log.copied(_annotated(self.new_of))
        result = self.new_of[next(reversed(order))]
        assert isinstance(result, Function), "a function stays a function"
        return result

    def _visit(self, node: Node) -> Node:
        match node:
            case Call():
                return self._call(node)
            case Tuple(fields=fields):
                return self._other(node, fields)
            case TupleGetItem(tuple_value=value):
                return self._other(node, (value,))
            case RefCreate(value=value):
                return self._other(node, (value,))
            case RefRead(ref=ref):
                return self._other(node, (ref,))
            case RefWrite(ref=ref, value=value):
                return self._other(node, (ref, value))
            case Let():
                self.has_lets = True
                return self._let(node)
            case If() | Match() | Clause():
                return map_children(node, self._ended)
            case Function() if not is_closed(node):
                body = self._ended(node.body)
                return node if body is node.body else replace(node, body=body)
            case _:
                return node

    def _call(self, node: Call) -> Node:
        op = node.op
        if not node.args:
            return map_children(node, lambda child: self.new_of.get(child, child))
        if isinstance(op, Var) and not self.options.include_non_call_ops:
            return map_children(node, lambda child: child if child is op else self._ended(child))
        target = self._choose(node)
        callee = op if isinstance(op, Op) else self.new_of[op]
        self._note(node, target)
        return Call(callee, self._inputs(node.args, target), node.attrs, node.type_args, span=node.span)

    def _choose(self, call: Call) -> str:
        """Return the target of a call: what an earlier run chose, the first that supports it, or "default"."""
        hint = self.hints.get(call)
        if hint is not None:
            return hint
        match call.op:
            case Op(name=name):
                if name not in self.takers:
                    self.takers[name] = self.ctx.tables.takers(call.op, self.targets)
                for target, accepts in self.takers[name]:
                    if accepts is None or accepts(call):
                        return target
                return DEFAULT
            case Function(attrs=attrs) if isinstance(name := attr(attrs, "Composite"), str):
                target = target_of(name)
                return target if target in self.targets else DEFAULT
            case _:
                return DEFAULT

    def _other(self, node: Expr, parts: tuple[Expr, ...]) -> Node:
        """Annotate what is no call: it goes where all of its parts go."""
        if not parts:
            return node
        if not self.options.include_non_call_ops:
            return map_children(node, self._ended)
        targets = {self.target_of.get(part, DEFAULT) for part in parts}
        target = self.hints.get(node) or (targets.pop() if len(targets) == 1 else DEFAULT)
        inputs = iter(self._inputs(parts, target))
        self._note(node, target)
        return map_children(node, lambda _: next(inputs))

    def _note(self, node: Node, target: str) -> None:
        self.target_of[node] = target
        self.placed.append((node, target))

    def _inputs(self, parts: tuple[Expr, ...], target: str) -> tuple[Expr, ...]:
        mark = self._mark(target)
        return tuple([Call(BEGIN_OP, (self._ended(part),), mark) for part in parts])

    def _mark(self, target: str) -> Attrs:
        """Return the attributes of annotations of a target, which share them."""
        mark = self.marks.get(target)
        if mark is None:
            mark = self.marks[target] = mark_of(target)
        return mark

    def _ended(self, part: Node) -> Any:
        """Return what a part becomes where its region ends; one that has no region, such as a variable, as it is."""
        target = self.target_of.get(part)
        if target is None and part in self.value_of:
            value = self.value_of[part]
            target = None if isinstance(value, Function) else self.target_of.get(value, DEFAULT)
        node = self.new_of.get(part, part)
        return node if target is None else Call(END_OP, (node,), self._mark(target))

    def _let(self, let: Let) -> Let:
        value, body = self._bound(let), self._ended(let.body)
        return let if value is let.value and body is let.body else Let(let.var, value, body, span=let.span)

    def _bound(self, let: Let) -> Expr:
        """Return the annotated value of a let; that of a variable without uses ends in its place in any case."""
        target = self.target_of.get(let.value)
        value = self.new_of.get(let.value, let.value)
        ended = value if target is None else end(value, target)
        match self.options.lets:
            case _ if isinstance(value, Function):
                return value
            case "values" | "graph_form":
                return ended
            case "reported":
                return begin(ended, target or DEFAULT)
            case "definition":
                return ended if target is not None else end(begin(value, DEFAULT), DEFAULT)
            case "uses":
                if let.var not in self.used:
                    return self._ended(let.value)
                return value if target is not None else begin(self._ended(let.value), DEFAULT)


def _annotated(new_of: Mapping[Node, Node]) -> Iterator[tuple[Node, Node]]:
    """Yield what each annotation stems from: a begin from the operator that it is for, an end from the value."""
    for old, new in new_of.items():
        for part in children(new):
            while is_annotation(part):
                yield part.args[0] if is_end(part) else old, part
                part = part.args[0]


def _places(
    new_of: dict[Node, Any], placed: list[tuple[Node, str]], targets: Collection[str]
) -> Iterator[UnnumberedRemark]:
    """Say of each node which target takes it, or why none does."""
    count = sum(1 for _ in _annotated(new_of))
    if count:
        function = next(reversed(new_of))
        words = f"{plural(count, 'annotation')} say where the regions of targets begin and end"
        yield UnnumberedRemark(function, "applied", words)
    for node, target in placed:
        match node:
            case _ if target != DEFAULT:
                yield UnnumberedRemark(node, "applied", f"goes to {target}")
            case Call(op=Op() | Function()):
                words = f"{value_name(node)} goes to no target: {' and '.join(targets)} do not take it"
                yield UnnumberedRemark(node, "missed", words)
            case Call():
                yield UnnumberedRemark(node, "missed", f"{value_name(node)} goes to no target: it calls no operator")
            case _:
                words = f"{value_name(node)} goes to no target: its parts do not all go to the same one"
                yield UnnumberedRemark(node, "missed", words)


PASS = Pass(
    name="AnnotateTarget",
    summary="Marks where the regions of each target begin and end.",
    run=run,
    options=AnnotateTargetOptions,
    dialect="relay",
    see="tvm/src/relay/transforms/annotate_target.cc",
    reads_data=False,
)
