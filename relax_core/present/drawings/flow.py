"""The data flow of Relax functions as drawings: one node per binding, edges from definitions to uses."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import accumulate, pairwise

from msgspec.structs import replace

from relax_core.analysis.layers.bindings import Layers, layers_of
from relax_core.ir.attrs import attr
from relax_core.ir.expr import (
    Call,
    Constant,
    DataflowBlock,
    Expr,
    ExternFunc,
    Function,
    FuncType,
    GlobalVar,
    If,
    MatchCast,
    Op,
    SeqExpr,
    ShapeType,
    Tuple,
    TupleGetItem,
    Type,
    Var,
    VarBinding,
)
from relax_core.ir.module import IRModule
from relax_core.ir.node import Node, children
from relax_core.ops import find
from relax_core.present.drawings.drawing import SPREAD_FROM, DrawCluster, DrawEdge, Drawing, DrawNode, EdgeKind, Look
from relax_core.present.drawings.faults import NO_FAULTS, Faults
from relax_core.present.drawings.flow_words import call_words, literal, name_of, reachability
from relax_core.present.nodes.node_id import NodeIndex
from relax_core.present.words import is_void, type_text

_SEGMENT, _SEGMENT_COUNT = 100, 40
"""How many bindings of a block fold into one node of a large graph, and how many such nodes a block has."""


_SEGMENT_SHOWN = 40
"""So few bindings before, between or behind layers are shown as they are."""


def binding_groups(function: str, block: int, count: int, layers: tuple[Layers, ...]) -> list[tuple[str, ...]]:
    """Return for each of so many bindings the groups that it is in: all layers, its own and the modules of that, or a
    range of bindings."""
    groups: list[tuple[str, ...]] = []
    for place in range(count):
        start, last = segment_of(place, count)
        groups.append((f"{function}/block {block}/bindings {start + 1} to {last}",))
    last = 0
    for number, found in enumerate(layers):
        repeat = found.repeat
        if repeat.start - last <= _SEGMENT_SHOWN:
            groups[last : repeat.start] = [()] * (repeat.start - last)
        title = f"{found.name} × {repeat.count}".replace("/", "_")
        whole = f"{function}/block {block}.{number}/{title}"
        for copy, name in enumerate(found.copies):
            first = repeat.start + copy * repeat.length
            own = f"{whole}/{name.replace('/', '_')}"
            for place, modules in enumerate(found.modules[copy], first):
                inner = (module.replace("/", "_") for module in modules)
                groups[place] = (whole, *accumulate(inner, "{}/{}".format, initial=own))
        last = repeat.end
    if layers and count - last <= _SEGMENT_SHOWN:
        groups[last:] = [()] * (count - last)
    return groups


def segment_of(place: int, count: int) -> tuple[int, int]:
    """Return the half-open range of bindings, of `count` in a block, that folds with binding `place`."""
    size = max(_SEGMENT, -(-count // _SEGMENT_COUNT))
    start = place - place % size
    return start, min(start + size, count)


@dataclass(frozen=True, slots=True, eq=False)
class GraphContext:
    """The module that is drawn, with its types and the lines of its nodes."""

    module: IRModule
    types: Mapping[Node, Type]
    index: NodeIndex
    line_of: Callable[[Node], int]
    end_line_of: Callable[[Node], int]
    """The line where a node's text ends: for a function body the line of its result."""
    faults: Faults = NO_FAULTS
    """The errors of the module."""


def draw_function(
    name: str, function: Function, facts: GraphContext, kind: "type[FlowDrawer] | None" = None
) -> Drawing:
    """Draw one function without a box; `kind` is the drawer of its dialect, Relax if it is `None`."""
    flow = (kind or FlowDrawer)(name, facts)
    flow.body(function, "")
    return flow.drawing(f"@{name}")


def draw_functions(
    functions: tuple[tuple[str, Function], ...], facts: GraphContext, title: str, kind: "type[FlowDrawer] | None" = None
) -> Drawing:
    """Draw several functions, each in a box, and references between them."""
    flow = (kind or FlowDrawer)("", facts)
    for name, function in functions:
        flow.function = name
        key = f"fn:{name}"
        flow.clusters.append(DrawCluster(key, "function", f"@{name}"))
        flow.body(function, key)
    flow.link_references()
    return flow.drawing(title)


class FlowDrawer:
    """Collects the nodes and edges of functions."""

    def __init__(self, function: str, facts: GraphContext) -> None:
        self.function = function
        self.clusters: list[DrawCluster] = []
        self._facts = facts
        self._nodes: list[DrawNode] = []
        self._edges: dict[tuple[str, str, EdgeKind, str], int] = {}
        self._key_of: dict[Node, str] = {}
        self._owner_of: dict[str, str] = {}
        self._owner = ""
        self._depth = 0
        self._group: tuple[str, ...] = ()
        self._effects: list[str] = []
        self._references: list[tuple[str, str]] = []
        self._first_of: dict[str, str] = {}
        self._words: dict[Type, str] = {}

    def drawing(self, title: str) -> Drawing:
        """Return what was collected."""
        edges = tuple(self._drawn_edge(*key, count) for key, count in self._edges.items())
        reaches = reachability(edges)
        order = [(a, b) for a, b in pairwise(self._effects) if a and b]
        direct = {(edge.source, edge.target) for edge in edges}
        drawn = [pair for pair in order if pair not in direct]
        beside = tuple(pair for pair in drawn if self._are_neighbours(*pair) and not reaches(*pair))
        # There is no room for words between neighbours; the legend explains the line.
        edges += tuple(DrawEdge(a, b, "order", "" if (a, b) in beside else "then") for a, b in drawn)
        return Drawing(title, tuple(self._nodes), edges, tuple(self.clusters), beside)

    def _drawn_edge(self, source: str, target: str, kind: EdgeKind, label: str, count: int) -> DrawEdge:
        """Make an edge; a reference to another function ends at the border of its box."""
        owner, callee = source.rpartition(":")[0], target.rpartition(":")[0]
        box = f"fn:{callee}" if kind == "reference" and owner != callee else ""
        return DrawEdge(source, target, kind, label, count, to_cluster=box)

    def body(self, function: Function, cluster: str) -> str:
        """Draw parameters, bindings and result; returns the key of the result."""
        self._effects.append("")
        inputs = attr(function.attrs, "num_input", 1)
        for place, param in enumerate(function.params):
            self._add(param, "param", param.name, self._type(param), cluster, (param,))
            if self._depth == 0 and isinstance(inputs, int) and place >= inputs:
                self._nodes[-1] = replace(self._nodes[-1], is_weight=True)
        if function.params:
            self._first_of[self.function] = self._key_of[function.params[0]]
        seq = function.body
        result = self._blocks(seq, cluster) if isinstance(seq, SeqExpr) else seq
        self._draw((result,), cluster)
        is_named = isinstance(result, Var)
        title = f"return {result.name}" if isinstance(result, Var) else "return"
        sub = "" if is_named else literal(result)
        key = self._add(seq, "return", title, sub, cluster, (seq, result) if seq is not result else (seq,))
        self._nodes[-1] = replace(self._nodes[-1], line=self._facts.end_line_of(seq))
        self._first_of.setdefault(self.function, key)
        self._uses(key, result, cluster)
        self._effects.append("")
        return key

    def link_references(self) -> None:
        """Connect uses of functions, as values or callees, with their boxes where these are drawn."""
        drawn = {item.key for item in self.clusters}
        for source, name in self._references:
            if f"fn:{name}" in drawn and name in self._first_of:
                self._edge(source, self._first_of[name], "reference")

    def _are_neighbours(self, a: str, b: str) -> bool:
        cluster_of = {item.key: item.cluster for item in self._nodes} if len(self._nodes) <= 300 else {}
        return a in cluster_of and cluster_of.get(a) == cluster_of.get(b)

    def _blocks(self, seq: SeqExpr, cluster: str) -> Expr:
        """Draw the bindings of `seq`; a dataflow block is a box. Returns the expression of its value."""
        for number, block in enumerate(seq.blocks):
            inner = cluster
            if isinstance(block, DataflowBlock) and block.bindings:
                inner = f"{cluster}/df{number}:{self.function}"
                self.clusters.append(DrawCluster(inner, "dataflow", "dataflow", cluster))
            groups = self._groups(block.bindings, number) if self._depth == 0 else ()
            for place, binding in enumerate(block.bindings):
                if self._depth == 0:
                    self._group = groups[place]
                match binding:
                    case VarBinding(var=var, value=value):
                        self._bind(binding, var, value, inner)
                    case MatchCast(var=var, value=value):
                        self._nested(value, inner)
                        key = self._add(binding, "match", "match_cast", self._sub(var), inner, (binding, var))
                        self._key_of[var] = key
                        self._uses(key, value, inner)
                    case _:
                        raise AssertionError(type(binding).__name__)
        if self._depth == 0:
            self._group = ()
        return seq.body

    def _groups(self, bindings: tuple[Node, ...], block: int) -> list[tuple[str, ...]]:
        """Return what each binding of a block of a function is folded into: its layer, or a range of bindings."""
        layers = layers_of(bindings, self._type) if len(bindings) > SPREAD_FROM else ()
        return binding_groups(self.function, block, len(bindings), layers)

    def _bind(self, binding: VarBinding, var: Var, value: Expr, cluster: str) -> None:
        if isinstance(value, Function):
            self._key_of[var] = self._local(value, var.name, cluster)
            return
        self._nested(value, cluster)
        key = self._value(value, self._sub(var), cluster, (binding, var, value))
        self._key_of[var] = self._key_of[value] = key

    def _nested(self, root: Expr, cluster: str) -> None:
        """Draw the unnamed calls, fields and conditionals inside `root`, operands first."""
        operands = (root.condition,) if isinstance(root, If) else children(root)
        self._draw(() if isinstance(root, Function | SeqExpr) else operands, cluster)

    def _draw(self, roots: tuple[Node, ...], cluster: str) -> None:
        """Draw those of `roots` that get a node and have none yet."""
        stack: list[tuple[Node, bool]] = [(item, False) for item in reversed(roots)]
        while stack:
            item, is_ready = stack.pop()
            if item in self._key_of or isinstance(item, Var):
                continue
            if is_ready:
                assert isinstance(item, Expr)
                self._key_of[item] = self._anonymous(item, cluster)
            elif isinstance(item, Call | TupleGetItem):
                stack.append((item, True))
                stack.extend((child, False) for child in reversed(children(item)))
            elif isinstance(item, If | Function | SeqExpr):
                stack.append((item, True))
                if isinstance(item, If):
                    stack.append((item.condition, False))
            elif isinstance(item, Tuple):
                stack.extend((child, False) for child in reversed(item.fields))

    def _anonymous(self, item: Expr, cluster: str) -> str:
        if isinstance(item, Function):
            return self._local(item, "", cluster)
        return self._value(item, self._type(item), cluster, (item,))

    def _value(self, value: Expr, sub: str, cluster: str, ir: tuple[Node, ...]) -> str:
        """Draw the node of a value and the edges into it."""
        match value:
            case Call():
                return self._call(value, sub, cluster, ir)
            case TupleGetItem(tuple_value=inner, index=number):
                key = self._add(ir[0], "field", f".{number}", "", cluster, ir)
                self._uses(key, inner, cluster)
            case Tuple(fields=fields):
                key = self._add(ir[0], "tuple", "( )", sub, cluster, ir)
                for number, item in enumerate(fields):
                    self._uses(key, item, cluster, "field", f".{number}")
            case If():
                return self._if(value, sub, cluster, ir)
            case SeqExpr():
                result = self._blocks(value, cluster)
                self._draw((result,), cluster)
                key = self._add(ir[0], "merge", "value", sub, cluster, ir)
                self._uses(key, result, cluster)
            case GlobalVar(name=name):
                key = self._add(ir[0], "global", f"@{name}", sub, cluster, ir)
                self._references.append((key, name))
            case Var(name=name):
                key = self._tagged("=", self._add(ir[0], "op", name, sub, cluster, ir))
                self._uses(key, value, cluster)
            case _:
                key = self._add(ir[0], "constant", literal(value), sub, cluster, ir)
        return key

    def _call(self, call: Call, sub: str, cluster: str, ir: tuple[Node, ...]) -> str:
        look, tag, title, args = call_words(call)
        key = self._tagged(tag, self._add(ir[0], look, title, sub, cluster, ir))
        kind: EdgeKind = "capture" if look == "closure" else "value"
        for item in args:
            self._uses(key, item, cluster, kind)
        if isinstance(call.op, Var):
            self._uses(key, call.op, cluster, "reference")
        for item in (call.op, *call.args):
            if isinstance(item, GlobalVar):
                self._references.append((key, item.name))
        if self._is_effect(call):
            self._effects.append(key)
        return key

    def _is_effect(self, call: Call) -> bool:
        match call.op:
            case Op(name=name):
                spec = find(name)
                return spec is not None and not spec.is_pure
            case GlobalVar(name=name):
                callee = self._facts.module.find(name)
                return callee is not None and isinstance(callee.function, Function) and not callee.function.is_pure
            case ExternFunc():
                return True
            case other:
                type_ = self._facts.types.get(other)
                return isinstance(type_, FuncType) and not type_.is_pure

    def _if(self, value: If, sub: str, cluster: str, ir: tuple[Node, ...]) -> str:
        """Draw a condition, a box per branch, and the join."""
        test = self._add(value, "if", "if", "", cluster, (value,))
        self._uses(test, value.condition, cluster)
        results: list[tuple[str, Expr, str]] = []
        self._depth += 1
        for words, branch in (("then", value.true_branch), ("else", value.false_branch)):
            box = f"{test}/{words}"
            self.clusters.append(DrawCluster(box, "branch", words, cluster))
            first = len(self._nodes)
            self._effects.append("")
            result = self._blocks(branch, box) if isinstance(branch, SeqExpr) else branch
            self._draw((result,), box)
            end = self._add(branch, "merge", name_of(result), "", box, (branch,))
            self._uses(end, result, box)
            self._edge(test, self._nodes[first].key, "branch", words)
            results.append((words, branch, end))
        self._depth -= 1
        self._effects.append("")
        meeting = self._add(ir[0], "merge", "φ", sub, cluster, ir)
        for _, _, end in results:
            self._edge(end, meeting, "value")
        return meeting

    def _local(self, function: Function, name: str, cluster: str) -> str:
        """Draw a local function in a box; its value is the node of its result."""
        box = f"{cluster}/local:{name}:{len(self.clusters)}"
        self.clusters.append(DrawCluster(box, "local", f"{name}()" if name else "function", cluster))
        first = self._first_of.get(self.function)
        outer, self._owner = self._owner, f"{self._owner}/{box}"
        self._depth += 1
        key = self.body(function, box)
        self._depth -= 1
        self._owner = outer
        if first is not None:
            self._first_of[self.function] = first
        return key

    def _uses(self, target: str, value: Expr, cluster: str, kind: EdgeKind = "value", label: str = "") -> None:
        """Add an edge for each value that `value`, an operand of `target`, reads."""
        stack: list[Expr] = [value]
        while stack:
            item = stack.pop()
            match item:
                case Tuple(fields=fields):
                    stack.extend(reversed(fields))
                case Constant() if item not in self._key_of:
                    self._add(item, "constant", literal(item), self._type(item), cluster, (item,))
                case GlobalVar(name=name):
                    self._references.append((target, name))
                case _:
                    pass
            source = self._key_of.get(item)
            if source is not None and source != target:
                is_captured = kind == "value" and self._owner.startswith(f"{self._owner_of[source]}/")
                self._edge(source, target, "capture" if is_captured else kind, label)

    def _edge(self, source: str, target: str, kind: EdgeKind, label: str = "") -> None:
        key = (source, target, kind, label)
        self._edges[key] = self._edges.get(key, 0) + 1

    def _add(self, where: Node, look: Look, title: str, sub: str, cluster: str, ir: tuple[Node, ...]) -> str:
        key = f"{self.function}:{len(self._nodes)}"
        facts = self._facts
        id_, line, function = facts.index.id_of(where), facts.line_of(where), self.function
        is_shape = self._is_shape(look, title, ir)
        group = self._group
        self._nodes.append(
            DrawNode(
                key, look, title, sub, "", cluster, group, ir, id_, line=line, function=function, is_shape=is_shape
            )
        )
        self._owner_of[key] = self._owner
        for item in ir:
            self._key_of.setdefault(item, key)
        return key

    def _is_shape(self, look: Look, title: str, ir: tuple[Node, ...]) -> bool:
        if look in ("param", "return"):
            return False
        is_builtin = look == "packed" and "vm.builtin." in title and "shape" in title
        return is_builtin or any(isinstance(self._facts.types.get(item), ShapeType) for item in ir)

    def _tagged(self, tag: str, key: str) -> str:
        """Give the node that was added last, whose key is `key`, a tag."""
        if tag:
            self._nodes[-1] = replace(self._nodes[-1], tag=tag)
        return key

    def _type(self, item: Node) -> str:
        type_ = self._facts.types.get(item)
        return "" if type_ is None else self._words_of(type_)

    def _words_of(self, type_: Type) -> str:
        words = self._words.get(type_)
        if words is None:
            words = self._words[type_] = type_text(type_)
        return words

    def _sub(self, var: Var) -> str:
        type_ = self._facts.types.get(var, var.annotation)
        if var.name.startswith("_") and is_void(type_):
            return "void"
        return f"{var.name}   {'' if type_ is None else self._words_of(type_)}".rstrip()
