"""Present device planning: the report of a module, the devices in its graphs, the reasons for a value."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Literal

from relax_core.analysis.device.calls import callee_name
from relax_core.analysis.device.constraints import parts_of
from relax_core.analysis.device.devices import Device, as_device_copy, as_on_device, is_primitive
from relax_core.analysis.device.proof import Conflict, Reason
from relax_core.analysis.device.visits import Visit, path_words
from relax_core.diagnostics import CompileError, Diagnostic
from relax_core.ir.dialect import dialect_of
from relax_core.ir.expr import Call, Expr, Function, GlobalVar, Op, Var
from relax_core.ir.module import IRModule
from relax_core.ir.node import Node
from relax_core.ir.relay import Constructor, Let, PatternVar
from relax_core.ir.rewriting.rewrite import RewriteLog
from relax_core.passes.core import PassContext
from relax_core.passes.relay.memory.plan_devices import PlanDevicesOptions, Planned, planned_module
from relax_core.present.device_models import (
    MAX_REASONS,
    CopyRow,
    DeviceConflict,
    DeviceMark,
    DeviceReason,
    DeviceReport,
    DeviceRow,
    DeviceStep,
    FunctionDevices,
    VisitRow,
    WhyDevice,
)
from relax_core.present.regions.flow_sizes import size_bytes

Name = Callable[[Node], str]
MAX_STEPS = 5_000
Role = Literal["parameter", "let", "pattern", "result"]


def _no_name(_: Node) -> str:
    return ""


@dataclass(slots=True)
class DevicesShown:
    """A plan and what presenting it takes; `id_of` names nodes of the module before planning."""

    planned: Planned
    log: RewriteLog
    id_of: Name = _no_name
    _ids: dict[Node, str] = field(default_factory=dict[Node, str])

    @property
    def functions(self) -> Iterator[tuple[str, Function]]:
        """Yield the functions that have devices of their own."""
        for var, function in self.planned.module.relax_functions:
            if not is_primitive(function):
                yield var.name, function

    def report(self) -> DeviceReport:
        """Return the report."""
        plan = self.planned.plan
        functions = tuple(self._function(name, function) for name, function in self.functions)
        names = dict.fromkeys(row.device for item in functions for row in item.rows if row.device)
        visited = self.planned.visited
        return DeviceReport(
            str(plan.default),
            tuple(names),
            functions,
            tuple(self._copies()),
            tuple(self._conflict(item) for item in plan.proof.conflicts),
            () if visited is None else tuple(map(self._visit, visited.steps)),
        )

    def marks(self) -> tuple[DeviceMark, ...]:
        """Return the device of every node; a node whose clones are on two devices is on that of the first."""
        found: dict[str, str] = {}
        for name, function in self.functions:
            is_covered = name in self.planned.plan.covered
            for node in parts_of(function):
                if isinstance(node, Expr) and not isinstance(node, Op | Constructor | GlobalVar):
                    device = self.planned.plan.device(node) if is_covered else None
                    mark = self.node_id(node)
                    if mark and (device is not None or not is_covered):
                        found.setdefault(mark, "" if device is None else str(device))
        return tuple(DeviceMark(*item) for item in found.items())

    def debug_marks(self) -> Mapping[Node, str]:
        """Return the device marks, such as `<cpu(0)>`, of the values of the planned module."""
        found: dict[Node, str] = {}
        for name, function in self.functions:
            if name in self.planned.plan.covered:
                for node in parts_of(function):
                    device = self.planned.plan.device(node) if isinstance(node, Expr) else None
                    if device is not None and not isinstance(node, Let | Function):
                        found[node] = str(device)
        return found

    def steps(self) -> tuple[DeviceStep, ...]:
        """Return the first steps of the analysis."""
        steps = self.planned.plan.proof.steps[:MAX_STEPS]
        return tuple(
            DeviceStep(item.number, item.words, self.node_id(item.node), self.line(item.node)) for item in steps
        )

    def why(self, node: Node) -> WhyDevice:
        """Return the whole chain of a node of the planned module."""
        device = self.planned.plan.device(node)
        chain = tuple(map(self._reason, self.planned.plan.chain(node)))
        shown = "" if device is None else str(device)
        path = tuple(dict.fromkeys(item.node for item in chain if item.node))
        return WhyDevice(self.node_id(node), value_text(node), shown, chain, path)

    def find(self, id_: str) -> Node | None:
        """Return the node of the planned module that an id of the source names."""
        nodes = (node for _, function in self.functions for node in parts_of(function))
        return next((node for node in nodes if self.node_id(node) == id_), None)

    def node_id(self, node: Node) -> str:
        """Return the id of a node, or of what it stems from."""
        if node not in self._ids:
            names = (self.id_of(item) for item in self.log.ancestry(node))
            self._ids[node] = next((name for name in names if name), "")
        return self._ids[node]

    def line(self, node: Node) -> int:
        """Return the line of a node in the user's text."""
        span = self.log.locate(node)
        return 0 if span is None else span.line

    def _function(self, name: str, function: Function) -> FunctionDevices:
        visited = self.planned.visited
        is_visited = name in self.planned.plan.covered
        hit = None if visited is None or is_visited else visited.hidden_by.get(name)
        words = "" if is_visited else "never visited" if hit is None else f"never visited: {self._hit(hit)}"
        rows = tuple(self._row(*item, is_visited=is_visited) for item in _variables(function))
        number = -1 if hit is None else hit.number
        return FunctionDevices(name, rows, is_visited, words, number, self.line(function), self.node_id(function))

    def _hit(self, hit: Visit) -> str:
        callee = callee_name(hit.call.op) if isinstance(hit.call, Call) else ""
        return f"memo hit at the call of {callee} in {path_words(hit)}, line {self.line(hit.call)}"

    def _row(self, name: str, role: Role, node: Node, *, is_visited: bool) -> DeviceRow:
        plan = self.planned.plan
        slot = plan.domains.slot_of(node) if is_visited else None
        fixed = None if slot is None else plan.proof.fixed(slot)
        if slot is None or fixed is None:
            return DeviceRow(name, role, "", self.line(node), self.node_id(node))
        links, count = plan.proof.summary(slot, MAX_REASONS)
        why = tuple(map(self._reason, links))
        return DeviceRow(name, role, str(fixed.device), self.line(node), self.node_id(node), why, count)

    def _reason(self, reason: Reason) -> DeviceReason:
        span = self.log.locate(reason.node)
        line, column = (0, 0) if span is None else (span.line, span.column)
        return DeviceReason(reason.words, line, column, self.node_id(reason.node), reason.number)

    def _copies(self) -> Iterator[CopyRow]:
        """Yield the copies: between operators, implied by annotations, and written in the text."""
        plan = self.planned.plan
        for name, function in self.functions:
            if name not in plan.covered:
                continue
            for node in parts_of(function):
                for index, arg in enumerate(node.args if isinstance(node, Call) else ()):
                    ways = self._ways(node, index, arg)
                    size = size_bytes(plan.domains.types.get(arg)) if ways else None
                    use = plan.domains.copies.get((node, index))
                    for number, (source, target) in enumerate(ways):
                        words = _copy_words(node) if use is None or number else use.words
                        yield CopyRow(
                            name, value_text(arg), str(source), str(target), size, words,
                            self.line(node), self.node_id(arg), self.node_id(node),
                        )  # fmt: skip

    def _ways(self, node: Node, index: int, arg: Expr) -> tuple[tuple[Device, Device], ...]:
        """Return the segments of an operand's path: to where it is wanted, and on through a copy or annotation.

        An annotation's operand goes where its result is; a copy takes its operand to the source device first.
        """
        plan = self.planned.plan
        copies, annotates = as_device_copy(node) is not None, as_on_device(node) is not None
        wanted = None if annotates else plan.wanted(node, index, arg)
        stops = (plan.device(arg), wanted, plan.device(node) if copies or annotates else None)
        known = tuple(item for item in stops if item is not None)
        return tuple((here, there) for here, there in pairwise(known) if here != there)

    def _conflict(self, conflict: Conflict) -> DeviceConflict:
        left, right = (tuple(map(self._reason, chain)) for chain in (conflict.left_chain, conflict.right_chain))
        node = conflict.reason.node
        return DeviceConflict(
            conflict.reason.words, str(conflict.left), str(conflict.right), left, right, self.line(node),
            self.node_id(node),
        )  # fmt: skip

    def _visit(self, visit: Visit) -> VisitRow:
        return VisitRow(
            visit.number, visit.kind, visit.function, visit.words, len(visit.path), visit.path, visit.passed,
            self.line(visit.call), self.node_id(visit.call),
        )  # fmt: skip


def _variables(function: Function) -> Iterator[tuple[str, Role, Node]]:
    for param in function.params:
        yield f"%{param.name}", "parameter", param
    for node in parts_of(function):
        match node:
            case Let(var=var, value=value) if not is_primitive(value):
                yield f"%{var.name}", "let", var
            case PatternVar(var=var):
                yield f"%{var.name}", "pattern", var
            case Function() if node is not function and not is_primitive(node):
                for param in node.params:
                    yield f"%{param.name}", "parameter", param
            case _:
                pass
    yield "result", "result", function


def _copy_words(node: Node) -> str:
    return "the program copies it" if as_device_copy(node) is not None else "annotated here, and wanted elsewhere"


def value_text(node: Node) -> str:
    """Return a short text for a value: its name, or the operator that makes it."""
    match node:
        case Var(name=name):
            return f"%{name}"
        case Call(op=Op(name=name)):
            return f"{name}(…)"
        case Call(op=op):
            return f"{callee_name(op)}(…)"
        case _:
            return type(node).__name__.lower()


def shown_devices(module: IRModule, options: PlanDevicesOptions, id_of: Name = _no_name) -> DevicesShown:
    """Plan the devices of a Relay module for its presentation; conflicts are a part of what is shown.

    Raises:
        CompileError: PS010, the module is in another language.
    """
    if dialect_of(module) != "relay":
        hint = "RealizeVDevice decides and explains devices in Relax"
        raise CompileError((Diagnostic("PS010", "PlanDevices works on Relay; the module is none", hint=hint),))
    ctx = PassContext()
    return DevicesShown(planned_module(module, options, ctx), ctx.log, id_of)
