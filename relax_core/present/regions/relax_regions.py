"""The region report of a Relax module: calls of functions of targets, and what stays with the compiler."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from relax_core.analysis.hand_over import HandOver, hand_over
from relax_core.check.infer import infer
from relax_core.ir.attrs import attr
from relax_core.ir.expr import (
    Binding,
    BindingBlock,
    Call,
    Constant,
    Expr,
    ExternFunc,
    Function,
    GlobalVar,
    Op,
    TupleGetItem,
    TupleType,
    Type,
    Var,
)
from relax_core.ir.module import IRModule
from relax_core.ir.node import Node, preorder
from relax_core.pattern.language.nodes import Pattern
from relax_core.pattern.matching.facts import MatchContext, operator_name
from relax_core.pattern.matching.matcher import Miss, try_match
from relax_core.pattern.matching.reasons import ReasonKind
from relax_core.pattern.matching.search import facts_of
from relax_core.pattern.matching.variants import root_operators
from relax_core.pattern.partition.apart import node_name
from relax_core.pattern.partition.dataflow import DataflowGroups
from relax_core.pattern.partition.tables import PatternEntry, Tables, target_of
from relax_core.present.regions.flow_sizes import known_bytes, size_bytes
from relax_core.present.regions.region_models import Flow, OperatorCall, PairRow, RegionReport, RegionRow, Unsupported
from relax_core.present.regions.table_notes import table_notes
from relax_core.present.words import type_text

IdOf = Callable[[Node], str]
LineOf = Callable[[Node], int]
_KEYS = ("Codegen", "Composite", "Primitive")


@dataclass(frozen=True, slots=True, eq=False)
class RegionCall:
    """A call of a function of a target, or of a composite that is in none: a region, called `dnnl 0` for example."""

    name: str
    target: str
    function: str
    binding: Binding
    args: tuple[Expr, ...]
    handed: HandOver


def open_relax_functions(module: IRModule) -> Iterator[tuple[str, Function]]:
    """Yield the functions that partitioning processes: those that are neither composites nor of a target."""
    for var, function in module.relax_functions:
        if not any(attr(function.attrs, key) for key in _KEYS):
            yield var.name, function


def region_calls(module: IRModule, types: Mapping[Node, Type]) -> tuple[RegionCall, ...]:
    """Return the regions of a module, in order: each call of a function of a target, external or not."""
    found: list[RegionCall] = []
    numbers: dict[str, int] = {}
    for name, function in open_relax_functions(module):
        for node in preorder(function):
            called = _called(node.value) if isinstance(node, Binding) else None
            callee = None if called is None else module.find(called[0])
            if called is None or callee is None or not isinstance(callee.function, Function):
                continue
            target = _target(callee.function)
            if target and isinstance(node, Binding):
                number = numbers[target] = numbers.get(target, -1) + 1
                handed = hand_over(callee.var.name, target, callee.function, types)
                found.append(RegionCall(f"{target} {number}", target, name, node, called[1], handed))
    return tuple(found)


def _called(value: Expr) -> tuple[str, tuple[Expr, ...]] | None:
    match value:
        case Call(op=GlobalVar(name=name), args=args):
            return name, args
        case Call(op=Op(name="relax.call_dps_packed"), args=(ExternFunc(name=name), given, *_)):
            return name, tuple(getattr(given, "fields", (given,)))
        case _:
            return None


def _target(function: Function) -> str:
    target, composite = attr(function.attrs, "Codegen"), attr(function.attrs, "Composite")
    return target if isinstance(target, str) else target_of(composite) if isinstance(composite, str) else ""


def relax_region_report(module: IRModule, tables: Tables, id_of: IdOf, line_of: LineOf) -> RegionReport:
    """Report the regions of a Relax module behind FuseOpsByPattern or a later pass of partitioning.

    An operator counts once for each call of the region that holds it. Complexity: linear, but for the ways between
    regions.
    """
    types = infer(module).types
    report = _RelaxReporter(module, tables, id_of, line_of, types, region_calls(module, types))
    rows = tuple(map(report.row, report.calls))
    left = tuple(report.left_out())
    offloaded = sum(item.operator_count for item in rows)
    total = offloaded + sum(item.count for item in left)
    return RegionReport(rows, tuple(report.pairs()), left, total, offloaded, table_notes(tables, module))


@dataclass(slots=True)
class _RelaxReporter:
    module: IRModule
    tables: Tables
    id_of: IdOf
    line_of: LineOf
    types: Mapping[Node, Type]
    calls: tuple[RegionCall, ...]
    entries: tuple[PatternEntry, ...] = ()
    region_of: dict[Binding, RegionCall] = field(init=False)
    name_of: dict[Var, str] = field(init=False)
    facts_of: dict[Pattern, MatchContext] = field(default_factory=dict[Pattern, MatchContext])
    roots_of: dict[Pattern, frozenset[str] | None] = field(init=False)

    def __post_init__(self) -> None:
        self.entries = (*self.tables.patterns, *self.tables.single_operators())
        self.region_of = {item.binding: item for item in self.calls}
        self.name_of = {item.binding.var: item.name for item in self.calls}
        self.roots_of = {pattern: root_operators(pattern) for _, pattern, *_ in self.entries}

    def row(self, item: RegionCall) -> RegionRow:
        """Present a region."""
        handed, node = item.handed, self.id_of(item.binding)
        params = zip(handed.inputs, item.args, strict=False)
        inputs = tuple(self.flow(param.name, arg) for param, arg in params if not isinstance(arg, Constant))
        result = self.types.get(item.binding.var)
        fields = result.fields if isinstance(result, TupleType) else (result,)
        outputs = tuple(Flow(str(place), "", *_size(type_)) for place, type_ in enumerate(fields))
        literals = (*(self.types.get(arg) for arg in item.args if isinstance(arg, Constant)),
                    *(value.type for value in handed.constants))  # fmt: skip
        constants = tuple(Flow(f"c{place}", "literal", *_size(type_)) for place, type_ in enumerate(literals))
        is_function = attr(handed.function.attrs, "Codegen") is not None
        return RegionRow(
            item.name,
            item.function,
            item.target,
            tuple(_words(handed)),
            len(handed.operators),
            inputs,
            outputs,
            constants,
            known_bytes(inputs),
            known_bytes(outputs),
            external=handed.name if is_function else "",
            nodes=(node,) if node else (),
            places=tuple(self.places(handed, node)),
        )

    def places(self, handed: HandOver, node: str) -> Iterator[OperatorCall]:
        """Yield the operators of a region with their lines; the calls of one composite stem from several."""
        seen: set[Call] = set()
        for part in handed.parts:
            for call in part.operators:
                at = part.value if call in seen or len(part.operators) == 1 else call
                yield OperatorCall(node_name_of(call), self.line_of(at) or self.line_of(call), node)
                seen.add(call)

    def flow(self, name: str, value: Expr) -> Flow:
        """Present a value that goes into a region; a field of a region's result comes from that region."""
        source = self.name_of.get(value) if isinstance(value, Var) else None
        shown = value.name if isinstance(value, Var) else type(value).__name__
        return Flow(name, source or shown, *_size(self.types.get(value)))

    def outside(self) -> Iterator[tuple[str, Binding, Call]]:
        """Yield the calls that no region holds, by what they are called."""
        for _, function in open_relax_functions(self.module):
            for node in preorder(function):
                match node:
                    case Binding(value=Call(op=Op()) as call) if node not in self.region_of:
                        yield node_name_of(call), node, call
                    case _:
                        pass

    def left_out(self) -> Iterator[Unsupported]:
        """Yield what is in no region, the most frequent first."""
        found: dict[tuple[str, str], list[Binding]] = {}
        for name, binding, call in self.outside():
            found.setdefault((name, self.reason(call)), []).append(binding)
        for (name, reason), bindings in sorted(found.items(), key=lambda item: -len(item[1])):
            nodes = self.ids(bindings)
            places = tuple(OperatorCall(name, self.line_of(item), self.id_of(item)) for item in bindings)
            yield Unsupported(name, len(bindings), reason, nodes, places)

    def reason(self, call: Call) -> str:
        """Say why an operator is in no composite."""
        name = operator_name(call.op) or ""
        for composite, pattern, *check in self.entries:
            roots = self.roots_of[pattern]
            if roots is None or name not in roots:
                continue
            if pattern not in self.facts_of:
                self.facts_of[pattern] = facts_of(self.module, pattern)
            found = try_match(pattern, call, self.facts_of[pattern])
            if isinstance(found, Miss):
                return f"{composite} does not match: {self.met(found.node)} {found.reason}"
            if check and not check[0](found):
                return f"the predicate of {composite} refuses it"
            return f"{composite} matches, and could not become a composite here"
        return "no target supports it"

    def met(self, node: Node) -> str:
        """Name what a pattern met: of a call that partitioning made, the composite or the region."""
        found = self.module.find(node.name) if isinstance(node, GlobalVar) else None
        function = None if found is None else found.function
        if isinstance(function, Function):
            return str(attr(function.attrs, "Composite") or f"a region of {attr(function.attrs, 'Codegen')}")
        return node_name(node) if isinstance(node, Expr) else type(node).__name__

    def pairs(self) -> Iterator[PairRow]:
        """Yield the neighbouring regions of one target that stayed apart."""
        for name, function in open_relax_functions(self.module):
            for block in preorder(function):
                if isinstance(block, BindingBlock):
                    groups = DataflowGroups(block)
                    for user in block.bindings:
                        if user in self.region_of:
                            yield from (self.pair(name, way) for way in self.ways(groups, user))

    def ways(self, groups: DataflowGroups, user: Binding) -> Iterator[tuple[Binding, ...]]:
        """Yield a way to a region from each of the nearest regions of its target behind it."""
        target = self.region_of[user].target
        before: dict[Binding, Binding] = {}
        queue: deque[Binding] = deque([user])
        while queue:
            item = queue.popleft()
            for producer in groups.inputs[item]:
                if producer in before:
                    continue
                before[producer] = item
                region = self.region_of.get(producer)
                if region is None or region.target != target:
                    queue.append(producer)
                    continue
                way = (producer, *_up_to(user, before, item))
                if all(isinstance(step.value, TupleGetItem) for step in way[1:-1]):
                    way = groups.detour((*way[:-1], user)) or way
                yield way

    def pair(self, function: str, way: Sequence[Binding]) -> PairRow:
        """Present two regions that stayed apart by the way between them."""
        first, last = self.region_of[way[0]], self.region_of[way[-1]]
        names = tuple(self.name(item) for item in way if self.is_shown(item))
        kind, message = self.why(way, names, first.target)
        nodes = self.ids(way[1:-1])
        return PairRow(function, first.target, first.name, last.name, kind, message, names, nodes)

    def ids(self, nodes: Iterable[Node]) -> tuple[str, ...]:
        return tuple(text for node in nodes if (text := self.id_of(node)))

    def is_shown(self, binding: Binding) -> bool:
        return binding in self.region_of or not isinstance(binding.value, TupleGetItem)

    def name(self, binding: Binding) -> str:
        region = self.region_of.get(binding)
        value = binding.value
        return (
            region.name if region is not None else node_name_of(value) if isinstance(value, Call) else node_name(value)
        )

    def why(self, way: Sequence[Binding], names: tuple[str, ...], target: str) -> tuple[ReasonKind, str]:
        """Say why two regions stayed apart: what stands between them, or that nothing does."""
        between = [item for item in way[1:-1] if self.is_shown(item)]
        path = " -> ".join(names)
        if not between:
            return "not merged yet", "nothing stands between them: MergeCompositeFunctions merges them"
        regions = [self.region_of[item] for item in between if item in self.region_of]
        is_direct = any(self.leads(way[0], way[-1]))
        if is_direct:
            return "blocking path", f"{path}: a value leaves and comes back"
        reasons = tuple(dict.fromkeys(self.obstacle(item, target) for item in between))
        if len(between) > 1:
            return "blocking path", f"{path}: {'; '.join(reasons)}"
        return ("another target" if regions else "unsupported operator"), reasons[0]

    def obstacle(self, binding: Binding, target: str) -> str:
        """Say why a binding between two regions of a target is in neither."""
        region = self.region_of.get(binding)
        if region is not None:
            return f"{region.name} goes to {region.target}"
        return f"{target} does not support {self.name(binding)}"

    def leads(self, producer: Binding, user: Binding) -> Iterator[bool]:
        """Yield whether arguments of a region are values of another one."""
        for arg in self.region_of[user].args:
            yield arg is producer.var


def _up_to(end: Binding, before: Mapping[Binding, Binding], start: Binding) -> Iterator[Binding]:
    while start is not end:
        yield start
        start = before[start]
    yield end


def node_name_of(call: Call) -> str:
    """Return what a call calls: an operator without "relax.", or the prim func of a `call_tir`."""
    match call:
        case Call(op=Op(name="relax.call_tir" | "relax.call_tir_inplace"), args=(GlobalVar(name=name), *_)):
            return f"@{name}"
        case _:
            return operator_name(call.op) or node_name(call)


def _size(type_: Type | None) -> tuple[str, int | None]:
    return type_text(type_), size_bytes(type_)


def _words(handed: HandOver) -> Iterator[str]:
    """Yield the operators of a region, those of a composite together: `dnnl.mm: matmul nn.relu`."""
    for part in handed.parts:
        names = " ".join(map(node_name_of, part.operators))
        yield f"{part.composite}: {names}" if part.composite else names
