"""The data flow of Relay functions as drawings: shared expressions once, lets, matches, branches and references."""

from msgspec.structs import replace

from relax_core.analysis.regions import DEFAULT, Region, Regions, find_regions, is_annotation, is_begin, is_closed
from relax_core.ir.attrs import attr
from relax_core.ir.expr import Call, Constant, Expr, Function, GlobalVar, If, Op, Tuple, TupleGetItem, Var
from relax_core.ir.module import IRModule
from relax_core.ir.node import Node, postorder
from relax_core.ir.relay import (
    Clause,
    Constructor,
    Let,
    Match,
    Pattern,
    PatternConstructor,
    PatternTuple,
    PatternVar,
    RefCreate,
    RefRead,
    RefWrite,
)
from relax_core.present.drawings.drawing import DrawCluster, Drawing, DrawNode, EdgeKind, Look
from relax_core.present.drawings.flow import FlowDrawer, GraphContext, segment_of
from relax_core.present.drawings.flow_words import call_words, literal, name_of
from relax_core.present.regions.target_marks import category_of, external_target, symbol_of, targets_in
from relax_core.present.words import type_text
from relax_core.printer.relay_text.schedule import Schedule, is_leaf, schedule


class RegionBoxes:
    """The regions of a function that is being drawn.

    A region of the target `default` has no box: what it holds is marked as going to no target.
    """

    def __init__(self, module: IRModule) -> None:
        self.clusters: list[DrawCluster] = []
        self.labels: list[DrawNode] = []
        self._module = module
        self._targets = targets_in(module)
        self._regions = Regions(())

    def enter(self, function: Function) -> None:
        """Find the regions of the function that is drawn next."""
        self._regions = find_regions(function)

    def region_of(self, node: Node) -> Region | None:
        """Return the region that holds a node."""
        return self._regions.of.get(node)

    def is_shown(self, region: Region) -> bool:
        """Tell whether a region has a box."""
        return region.target != DEFAULT or region.is_open

    def box(self, region: Region, outer: str, function: str, group: tuple[str, ...]) -> str:
        """Return the key of a region's cluster inside `outer`, which is made on the first call."""
        key = f"{outer}/{function}/{region.target} {region.number}"
        if all(item.key != key for item in self.clusters):
            category = category_of(region.target, self._targets)
            title = f"{symbol_of(region.target, self._targets)} {region.target}"
            words = f"region {region.number}" + (", never ends" if region.is_open else "")
            is_open = region.is_open
            self.clusters.append(DrawCluster(key, "region", region.target, outer, category=category, is_open=is_open))
            label = DrawNode(f"{key}:label", "region", title, words, cluster=key, group=group, function=function)
            self.labels.append(replace(label, category=category, count=0))
        return key

    def category(self, node: Node) -> str:
        """Return the category of a node: its region's target, or that of the external function it calls."""
        region = self.region_of(node)
        if region is not None:
            return category_of(region.target, self._targets)
        return category_of(name, self._targets) if (name := self.target_called(node)) else ""

    def target_called(self, node: Node) -> str:
        """Return the target whose function `node` calls, empty if it calls none."""
        if isinstance(node, Call) and isinstance(node.op, GlobalVar):
            return external_target(self._module, node.op.name)
        return ""


def composite_words(function: Function) -> tuple[str, str]:
    """Return target and title of a composite: `dnnl`, `conv2d_relu`; without a dot in its name what it does."""
    name = str(attr(function.attrs, "Composite") or "fn")
    target, _, what = name.partition(".")
    return (target, what) if what else (name, _action(function.body))


def _action(body: Expr) -> str:
    operators = [node.op.name for node in postorder(body) if isinstance(node, Call) and isinstance(node.op, Op)]
    if operators:
        return " + ".join(operators)
    count = len(body.args) if isinstance(body, Call) and isinstance(body.op, Var) else 0
    return f"call · {count} arg{'' if count == 1 else 's'}"


_FOLDS_FROM = 100
"""Statements of an inner block from which it folds in a large graph, as the outermost one does."""
_IN_REGIONS = frozenset(("op", "call", "composite", "tuple", "field", "constant", "begin", "end"))


class RelayFlow(FlowDrawer):
    """Collects the nodes and edges of Relay functions.

    An expression is drawn where the printer gives it a line: once, in the innermost block that holds all its uses.
    Annotations of compiler regions are no nodes: a region is a box, its begins and ends are ports on its border.
    """

    def __init__(self, function: str, facts: GraphContext) -> None:
        super().__init__(function, facts)
        self._schedule = Schedule()
        self._boxes = RegionBoxes(facts.module)

    def body(self, function: Function, cluster: str) -> str:
        """Draw parameters, statements and result; returns the key of the result."""
        if (function, "body") not in self._schedule.block_of:
            self._schedule = schedule(function)
            self._boxes.enter(function)
        self._effects.append("")
        for param in function.params:
            self._add(param, "param", f"%{param.name}", self._type(param), cluster, (param,))
        if function.params:
            self._first_of[self.function] = self._key_of[function.params[0]]
        result = self._statements(function, "body", function.body, cluster)
        is_named = isinstance(result, Var)
        title, sub = (f"return {result.name}", "") if is_named else ("return", literal(result))
        key = self._add(result, "return", title, sub, cluster, (function.body,))
        self._first_of.setdefault(self.function, key)
        self._operand(key, result, cluster)
        self._effects.append("")
        return key

    def _statements(self, owner: Node, name: str, tail: Expr, cluster: str) -> Expr:
        """Draw the statements of a block and the expression of its value, which is returned."""
        block = self._schedule.block_of[owner, name]
        outer = self._group
        for place, item in enumerate(block.statements):
            if self._depth == 0 or len(block.statements) > _FOLDS_FROM:
                start, last = segment_of(place, len(block.statements))
                within = f"{outer[-1]}/" if self._depth and outer else ""
                self._group = (f"{self.function}/{within}statements {start + 1} to {last}",)
            if isinstance(item, Let) and self._schedule.block_of[item, "body"] is block:
                self._let(item, cluster)
            else:
                self._drawn(item, cluster)
        self._group = outer if self._depth else ()
        while isinstance(tail, Let) and self._schedule.block_of[tail, "body"] is block:
            tail = tail.body
        self._drawn(tail, cluster)
        return tail

    def _let(self, let: Let, cluster: str) -> None:
        sub = self._type(let.var)
        if isinstance(let.value, Function):
            # The variable may occur in the function.
            key = self._add(let, "let", f"let %{let.var.name}", sub, cluster, (let.var,))
            self._drawn(let.value, cluster, let.var.name)
        else:
            self._drawn(let.value, cluster)
            key = self._add(let, "let", f"let %{let.var.name}", sub, cluster, (let.var,))
        self._operand(key, let.value, cluster)

    def _drawn(self, expr: Expr, cluster: str, name: str = "") -> None:
        """Draw an expression that has no node yet; a leaf is drawn where it is used."""
        if expr in self._key_of or is_leaf(expr):
            return
        match expr:
            case Function() if is_closed(expr) and not name:
                # A composite is drawn where it is called.
                pass
            case Function():
                self._key_of[expr] = self._local(expr, name, cluster)
            case Call() if is_annotation(expr):
                self._annotation(expr, cluster)
            case Let():
                result = self._statements(expr, "body", expr, cluster)
                self._key_of[expr] = self._leaf(result, cluster) if is_leaf(result) else self._key_of[result]
            case _:
                self._key_of[expr] = self._expression(expr, cluster)

    def _expression(self, expr: Expr, cluster: str) -> str:
        match expr:
            case Call():
                return self._relay_call(expr, cluster)
            case Tuple(fields=fields):
                key = self._node(expr, "tuple", "( )", cluster)
                for number, item in enumerate(fields):
                    self._operand(key, item, cluster, "field", f".{number}")
                return key
            case TupleGetItem(tuple_value=value, index=number):
                key = self._add(expr, "field", f".{number}", "", cluster, (expr,))
                self._operand(key, value, cluster)
                return key
            case If():
                return self._branches(expr, cluster)
            case Match():
                return self._clauses(expr, cluster)
            case RefCreate(value=value):
                return self._reference(expr, "ref", (value,), cluster)
            case RefRead(ref=ref):
                return self._reference(expr, "ref_read", (ref,), cluster)
            case RefWrite(ref=ref, value=value):
                return self._reference(expr, "ref_write", (ref, value), cluster)
            case _:
                return self._node(expr, "constant", literal(expr) or type(expr).__name__, cluster)

    def _node(self, expr: Expr, look: Look, title: str, cluster: str, tag: str = "") -> str:
        return self._tagged(tag, self._add(expr, look, title, self._type(expr), cluster, (expr,)))

    def _reference(self, expr: Expr, title: str, parts: tuple[Expr, ...], cluster: str) -> str:
        key = self._node(expr, "op", title, cluster)
        for item in parts:
            self._operand(key, item, cluster)
        self._effects.append(key)
        return key

    def _annotation(self, call: Call, cluster: str) -> None:
        """Draw a port; an annotation for no target is as if absent."""
        value = call.args[0]
        region = self._boxes.region_of(call)
        if region is None or not self._boxes.is_shown(region):
            self._key_of[call] = self._key_of.get(value) or self._leaf(value, cluster)
            return
        look: Look = "begin" if is_begin(call) else "end"
        key = self._add(call, look, look, f"{region.target} {region.number}", cluster, (call,))
        is_open = region.is_open
        self._nodes[-1] = replace(self._nodes[-1], count=0, is_open=is_open)
        self._operand(key, value, cluster, "reference" if isinstance(value, GlobalVar) else "value")

    def _add(self, where: Node, look: Look, title: str, sub: str, cluster: str, ir: tuple[Node, ...]) -> str:
        """Add a node, inside the box of its region if it has one."""
        node = ir[0] if ir and look in _IN_REGIONS else None
        region = self._boxes.region_of(node) if node is not None else None
        if region is not None and self._boxes.is_shown(region):
            cluster = self._boxes.box(region, cluster, self.function, self._group)
        key = super()._add(where, look, title, sub, cluster, ir)
        if node is not None and (category := self._boxes.category(node)):
            self._nodes[-1] = replace(self._nodes[-1], category=category)
        return key

    def drawing(self, title: str) -> Drawing:
        """Return what was collected, the boxes of regions included."""
        self.clusters += self._boxes.clusters
        self._nodes += self._boxes.labels
        return super().drawing(title)

    def _relay_call(self, call: Call, cluster: str) -> str:
        look, tag, title, args = call_words(call)
        if target := self._boxes.target_called(call):
            tag, title = target, title.removeprefix("tvmgen_default_")
        if isinstance(call.op, Function) and is_closed(call.op):
            look, args = "composite", call.args
            tag, title = composite_words(call.op)
        key = self._node(call, look, title, cluster, tag)
        match call.op:
            case GlobalVar(name=name):
                self._references.append((key, name))
            case Op() | Constructor():
                pass
            case Function() if look == "composite":
                pass
            case callee:
                args = call.args
                self._operand(key, callee, cluster, "reference")
        for item in args:
            is_function = is_begin(item) and isinstance(item.args[0], GlobalVar)
            self._operand(key, item, cluster, "reference" if is_function else "value")
        if self._is_effect(call):
            self._effects.append(key)
        return key

    def _branches(self, value: If, cluster: str) -> str:
        test = self._add(value, "if", "if", "", cluster, (value,))
        self._operand(test, value.condition, cluster)
        ends: list[str] = []
        for words, name, branch in (
            ("then", "true_branch", value.true_branch),
            ("else", "false_branch", value.false_branch),
        ):
            box = f"{test}/{words}"
            self.clusters.append(DrawCluster(box, "branch", words, cluster))
            ends.append(self._inner(test, (value, name, branch), box, words))
        return self._meeting(value, ends, cluster)

    def _clauses(self, value: Match, cluster: str) -> str:
        test = self._add(value, "cases", "match" if value.is_complete else "match?", "", cluster, (value,))
        self._operand(test, value.value, cluster)
        ends: list[str] = []
        for number, clause in enumerate(value.clauses):
            box = f"{test}/{number}"
            self.clusters.append(DrawCluster(box, "branch", pattern_text(clause.pattern), cluster))
            for var in _variables(clause.pattern):
                key = self._add(var, "param", f"%{var.name}", self._type(var), box, (var,))
                self._edge(test, key, "value")
            ends.append(self._inner(test, (value, str(number), clause.body), box, "", clause))
        return self._meeting(value, ends, cluster)

    def _inner(
        self, test: str, block: tuple[Node, str, Expr], box: str, words: str, clause: Clause | None = None
    ) -> str:
        """Draw a branch or a clause in its box; returns the node of its value."""
        before = len(self._nodes)
        self._depth += 1
        self._effects.append("")
        result = self._statements(*block, box)
        end = self._add(clause or result, "merge", name_of(result), "", box, () if clause is None else (clause,))
        self._operand(end, result, box)
        self._depth -= 1
        if clause is None or not _variables(clause.pattern):
            self._edge(test, self._nodes[before].key, "branch", words)
        return end

    def _meeting(self, value: Expr, ends: list[str], cluster: str) -> str:
        self._effects.append("")
        key = self._node(value, "merge", "φ", cluster)
        for end in ends:
            self._edge(end, key, "value")
        return key

    def _operand(self, target: str, value: Expr, cluster: str, kind: EdgeKind = "value", label: str = "") -> None:
        """Add the edge from the node of `value`; a leaf other than a variable gets its node here."""
        source = self._key_of.get(value)
        if source is None and (is_leaf(value) or isinstance(value, Function)):
            source = self._leaf(value, cluster)
        if source and source != target:
            is_captured = kind == "value" and self._owner.startswith(f"{self._owner_of.get(source, '')}/")
            self._edge(source, target, "capture" if is_captured else kind, label)

    def _leaf(self, value: Expr, cluster: str) -> str:
        """Draw a leaf, or return the node of a variable where it is bound."""
        match value:
            case Var():
                # A variable that nothing binds is free: it is given from outside, as a parameter is.
                name = f"%{value.name}"
                return self._key_of.get(value) or self._add(value, "param", name, self._type(value), cluster, (value,))
            case GlobalVar(name=name):
                key = self._add(value, "global", f"@{name}", type_text(self._facts.types.get(value)), cluster, ())
                self._references.append((key, name))
                return key
            case Constant():
                return self._node(value, "constant", literal(value), cluster)
            case Function():
                return self._add(value, "composite", composite_words(value)[1], "", cluster, (value,))
            case _:
                return self._add(value, "constant", literal(value), "", cluster, ())


def pattern_text(pattern: Pattern) -> str:
    """Write a pattern as Relay does."""
    match pattern:
        case PatternVar(var=var):
            return f"%{var.name}"
        case PatternConstructor(constructor=constructor, patterns=()):
            return constructor.name
        case PatternConstructor(constructor=constructor, patterns=patterns):
            return f"{constructor.name}({', '.join(map(pattern_text, patterns))})"
        case PatternTuple(patterns=patterns):
            return f"({', '.join(map(pattern_text, patterns))})"
        case _:
            return "_"


def _variables(pattern: Pattern) -> tuple[Var, ...]:
    match pattern:
        case PatternVar(var=var):
            return (var,)
        case PatternConstructor(patterns=patterns) | PatternTuple(patterns=patterns):
            return tuple(var for item in patterns for var in _variables(item))
        case _:
            return ()
