"""The region report: what is offloaded, what crosses regions, what is unsupported, what was not merged."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from relax_core.analysis.region_literals import literals_of
from relax_core.analysis.regions import DEFAULT, Region, find_regions, is_annotation, is_closed, open_postorder
from relax_core.check.infer import infer
from relax_core.ir.attrs import attr
from relax_core.ir.dialect import dialect_of
from relax_core.ir.expr import (
    Call,
    Constant,
    Expr,
    Function,
    GlobalVar,
    Op,
    TupleGetItem,
    TupleType,
    Type,
    Var,
)
from relax_core.ir.module import IRModule
from relax_core.ir.node import Node, postorder
from relax_core.ir.relay import Constructor
from relax_core.ops.relay.evaluate import literal_type
from relax_core.pattern.matching.facts import operator_name
from relax_core.pattern.partition.apart import Apart, apart, node_name
from relax_core.pattern.partition.tables import NO_TABLES, Tables
from relax_core.present.regions.flow_sizes import known_bytes, size_bytes
from relax_core.present.regions.region_models import Flow, OperatorCall, PairRow, RegionReport, RegionRow, Unsupported
from relax_core.present.regions.relax_regions import relax_region_report
from relax_core.present.regions.table_notes import table_notes
from relax_core.present.words import type_text

Name = Callable[[Node], str]
Line = Callable[[Node], int]


def no_id(_: Node) -> str:
    """Name no node: for reports that belong to no page."""
    return ""


def line_of_span(node: Node) -> int:
    """Return the line that a node was read from, 0 if a pass made it."""
    return node.span.line if node.span is not None else 0


def region_report(
    module: IRModule, tables: Tables | None = None, id_of: Name = no_id, line_of: Line = line_of_span
) -> RegionReport:
    """Report the regions of a module that is annotated or partitioned, Relay or Relax.

    Operators are calls of operators, those inside composites included; a composite that calls none is one itself.
    The unsupported ones are those in no region. `tables` give the reasons why, `line_of` the line of a node's text.
    """
    if dialect_of(module) != "relay":
        return relax_region_report(module, tables or NO_TABLES, id_of, line_of)
    reporter = _Reporter(module, tables or NO_TABLES, id_of, line_of, infer(module).types)
    for item in module.definitions:
        if isinstance(item.function, Function):
            if isinstance(target := attr(item.function.attrs, "Compiler"), str):
                reporter.external(item.var.name, item.function, target)
            elif not is_closed(item.function):
                reporter.function(item.var.name, item.function)
    pairs = tuple(_pair(item, id_of) for item in apart(module, reporter.tables))
    return RegionReport(
        tuple(reporter.regions),
        pairs,
        tuple(reporter.left_out()),
        reporter.operator_count,
        reporter.offloaded_count,
        table_notes(reporter.tables, module),
    )


@dataclass(slots=True)
class _Reporter:
    module: IRModule
    tables: Tables
    id_of: Name
    line_of: Line
    types: Mapping[Node, Type]
    regions: list[RegionRow] = field(default_factory=list[RegionRow])
    outside: dict[tuple[str, str], list[Node]] = field(default_factory=dict[tuple[str, str], list[Node]])
    operator_count: int = 0
    offloaded_count: int = 0

    def function(self, name: str, function: Function) -> None:
        """Add the regions of an annotated function, and its operators outside of them."""
        regions = find_regions(function)
        for region in regions.all:
            if region.target != DEFAULT:
                self.regions.append(self._region(name, region, regions.of))
        for node in open_postorder(function):
            operators = () if is_annotation(node) else operators_of(node)
            region = regions.of.get(node)
            self.operator_count += len(operators)
            if region is not None and region.target != DEFAULT:
                self.offloaded_count += len(operators)
            else:
                for operator, call in operators:
                    self.outside.setdefault((operator, self._reason(call)), []).append(node)

    def external(self, name: str, function: Function, target: str) -> None:
        """Add an external function, all of whose operators are offloaded."""
        nodes = tuple(node for node in open_postorder(function) if node is not function)
        operators = [item for node in nodes for item in operators_of(node)]
        self.operator_count += len(operators)
        self.offloaded_count += len(operators)
        inputs = tuple(
            Flow(param.name, f"%{param.name}", *self._size(self.types.get(param))) for param in function.params
        )
        result = self.types.get(function.body)
        fields = result.fields if isinstance(result, TupleType) else (result,)
        outputs = tuple(Flow(str(place), "", *self._size(item)) for place, item in enumerate(fields))
        constants = self._constants(node for node in nodes if isinstance(node, Constant))
        words = tuple(_words(node) for node in nodes if operators_of(node))
        flows = (inputs, outputs, constants, known_bytes(inputs), known_bytes(outputs))
        caller = next((item for item, body in self.module.relax_functions if _calls(body, name)), None)
        owner = name if caller is None else caller.name
        self.regions.append(
            RegionRow(
                name,
                owner,
                target,
                words,
                len(operators),
                *flows,
                external=name,
                nodes=self._ids(nodes),
                places=self._places(nodes),
            )
        )

    def left_out(self) -> Iterator[Unsupported]:
        """Yield what is in no region, the most frequent first."""
        for (operator, reason), nodes in sorted(self.outside.items(), key=lambda item: -len(item[1])):
            places = tuple(item for item in self._places(nodes) if item.operator == operator)
            yield Unsupported(operator, len(nodes), reason, self._ids(nodes), places)

    def _region(self, function: str, region: Region, region_of: Mapping[Node, Region]) -> RegionRow:
        inputs: dict[Expr, Flow] = {}
        constants: list[Node] = []
        for value, begin in zip(region.inputs, region.begins, strict=True):
            literals = literals_of(value)
            if literals:
                constants += literals
            elif value not in inputs and not isinstance(value, GlobalVar | Constructor):
                name = f"{region.target}_{region.number}_i{len(inputs)}"
                type_ = self.types.get(begin) or self.types.get(value)
                inputs[value] = Flow(name, _source(value, region_of), *self._size(type_))
        results = dict.fromkeys(item.args[0] for item in region.ends)
        outputs = tuple(
            Flow(str(place), _source(value, region_of), *self._size(self.types.get(value)))
            for place, value in enumerate(results)
        )
        operators = tuple(node for node in region.operators if operators_of(node))
        flows = (tuple(inputs.values()), outputs, self._constants(constants))
        return RegionRow(
            f"{region.target} {region.number}",
            function,
            region.target,
            tuple(map(_words, operators)),
            sum(len(operators_of(node)) for node in operators),
            *flows,
            known_bytes(flows[0]),
            known_bytes(flows[1]),
            "",
            region.is_open,
            self._ids(region.operators),
            self._places(operators),
        )

    def _places(self, nodes: Iterable[Node]) -> tuple[OperatorCall, ...]:
        """Return where the text calls the operators of `nodes`."""
        calls = ((node, call) for node in dict.fromkeys(nodes) for call in _operator_calls(node))
        return tuple(OperatorCall(_name(call), self.line_of(call), self.id_of(node)) for node, call in calls)

    def _reason(self, call: Call) -> str:
        if isinstance(call.op, Function):
            return "its target is not among those that were annotated"
        if any(self.tables.supports(target, call) for target in self.tables.targets):
            return "supported, and annotated for no target"
        naming = [target for target in self.tables.targets if self.tables.names(target, call)]
        if naming:
            return f"the predicate of {', '.join(naming)} refuses it"
        return "no target supports it"

    def _size(self, type_: Type | None) -> tuple[str, int | None]:
        return type_text(type_), size_bytes(type_)

    def _constants(self, values: Iterable[Node]) -> tuple[Flow, ...]:
        found = dict.fromkeys(values)
        types = [literal_type(item) for item in found if isinstance(item, Constant)]
        return tuple(Flow(f"c{place}", "literal", *self._size(type_)) for place, type_ in enumerate(types))

    def _ids(self, nodes: Iterable[Node]) -> tuple[str, ...]:
        return tuple(dict.fromkeys(text for node in nodes if (text := self.id_of(node))))


def operators_of(node: Node) -> tuple[tuple[str, Call], ...]:
    """Return the operators that a node calls by name, each with the call that decides about it."""
    return tuple((_name(call), node) for call in _operator_calls(node) if isinstance(node, Call))


def _operator_calls(node: Node) -> tuple[Call, ...]:
    """Return the operator calls in a node: itself or those of a composite, which counts as one if it has none."""
    match node:
        case Call(op=Op()):
            return (node,)
        case Call(op=Function(body=body) as function) if is_closed(function):
            inner = (item for item in postorder(body) if isinstance(item, Call) and isinstance(item.op, Op))
            return tuple(inner) or (node,)
        case _:
            return ()


def _name(call: Call) -> str:
    return operator_name(call.op) or _words(call)


def _words(node: Node) -> str:
    match node:
        case Call(op=Function(body=body)):
            name = node_name(node)
            inner = [item.op.name for item in postorder(body) if isinstance(item, Call) and isinstance(item.op, Op)]
            return f"{name}: {' '.join(inner)}" if inner else name
        case Expr():
            return node_name(node)
        case _:
            return type(node).__name__


def _source(value: Expr, region_of: Mapping[Node, Region]) -> str:
    while is_annotation(value):
        region = region_of.get(value)
        if region is not None and region.target != DEFAULT:
            return f"{region.target} {region.number}"
        value = value.args[0]
    match value:
        case Var(name=name):
            return f"%{name}"
        case TupleGetItem(tuple_value=inner, index=index) if isinstance(inner, Var):
            return f"%{inner.name}.{index}"
        case _:
            return node_name(value)


def _calls(function: Function, name: str) -> bool:
    if attr(function.attrs, "Compiler"):
        return False
    return any(isinstance(node, GlobalVar) and node.name == name for node in postorder(function))


def _pair(item: Apart, id_of: Name) -> PairRow:
    nodes = tuple(dict.fromkeys(text for node in item.because if (text := id_of(node))))
    path = item.path
    return PairRow(item.function, item.target, path[0], path[-1], item.kind, item.message, path, nodes)
