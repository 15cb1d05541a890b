"""PlanDevices: decide where every value is, and write it out; a copy stands where two devices meet.

See: tvm/src/relay/transforms/device_planner.cc, v0.19; for `as_in="reported"` tvm/src/relay/analysis/
context_analysis.cc of August 2020.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import chain
from types import MappingProxyType
from typing import Literal

from relax_core.analysis.device.devices import RESULT_DEVICE, Device, as_on_device, device_named, is_primitive
from relax_core.analysis.device.plan import DevicePlan, plan_devices
from relax_core.analysis.device.proof import Conflict, Reason
from relax_core.analysis.device.visits import VISITS, Visited, Visits, callee_words, path_words, visit_functions
from relax_core.check.order import components
from relax_core.diagnostics import CompileError, Diagnostic, has_errors
from relax_core.frontend.collector import collector_held
from relax_core.ir.attrs import has_attr
from relax_core.ir.equality import structural_equal
from relax_core.ir.expr import Call, Constant, Expr, Function, GlobalVar, TupleGetItem, Var, is_op_call
from relax_core.ir.module import Definition, IRModule
from relax_core.ir.node import Node, map_children, postorder
from relax_core.ir.rewriting.builder import Names
from relax_core.ir.rewriting.rewrite import RewriteLog, rewrite
from relax_core.passes.core import Pass, PassContext
from relax_core.passes.relay.memory.device_writer import DeviceWriter, spellings
from relax_core.passes.remarks import RemarkKind
from relax_core.source import Span


class _Redirected:
    """Rule: a call in conflict -> the call of its own clones."""

    def __init__(self, call: Call, new_of: Mapping[str, GlobalVar]) -> None:
        self._call = call
        self._new_of = new_of

    def __call__(self, node: Node) -> Node | None:
        """Rule: a call in conflict -> the call of its own clones."""
        if node is not self._call:
            return None
        return replace(self._call, op=self._swap(self._call.op), args=tuple(map(self._swap, self._call.args)))

    def _swap(self, expr: Expr) -> Expr:
        return self._new_of.get(expr.name, expr) if isinstance(expr, GlobalVar) else expr


class _Renamed:
    """Rule: a clone's name -> the name of the one that is kept."""

    def __init__(self, new_of: Mapping[str, GlobalVar]) -> None:
        self._new_of = new_of

    def __call__(self, node: Node) -> Node | None:
        return self._new_of.get(node.name) if isinstance(node, GlobalVar) else None


MAX_CLONES = 1_000
MAX_CHAIN = 12
"""How many constraints of each side a diagnostic of a conflict shows."""


@dataclass(frozen=True, slots=True)
class PlanDevicesOptions:
    """`default` is the device of what no annotation reaches. With `clone` a function that is used on two devices is
    cloned for each.

    `as_in="reported"` visits functions as TVM did in 2020, from `main` and with a memo: `visits="memo_body"` counts how
    often a body was visited, "args_first" counts a function where it is an argument too, and neither visits a function
    more than `visit_limit` times.
    """

    default: str = "cpu"
    clone: bool = False
    as_in: Literal["fixed", "reported"] = "fixed"
    visits: Visits = "memo_body"
    visit_limit: int = 1

    def __post_init__(self) -> None:
        device_named(self.default)
        if self.as_in not in ("fixed", "reported"):
            raise ValueError(f'as_in is "fixed" or "reported", not {self.as_in!r}')
        if self.visits not in VISITS:
            raise ValueError(f"visits is one of {', '.join(VISITS)}, not {self.visits!r}")
        if self.visit_limit < 1:
            raise ValueError("visit_limit is at least 1")

    @property
    def device(self) -> Device:
        """The default device."""
        return device_named(self.default)


@dataclass(frozen=True, slots=True, eq=False)
class Planned:
    """A module with the devices of its values, before they are written out.

    `visited` is there as reported only; `origin_of` leads from a clone to what it was made from.
    """

    module: IRModule
    plan: DevicePlan
    visited: Visited | None = None
    origin_of: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))


def run(module: IRModule, options: PlanDevicesOptions, ctx: PassContext) -> IRModule:
    """Plan the devices of `module` and write them out.

    Raises:
        CompileError: DV001, two uses of a function or of data are on two devices.
    """
    with collector_held():
        return _run(module, options, ctx)


def _run(module: IRModule, options: PlanDevicesOptions, ctx: PassContext) -> IRModule:
    planned = planned_module(module, options, ctx)
    found = diagnostics_of(planned, options, ctx.whole_log())
    if has_errors(found):
        raise CompileError(found)
    ctx.warnings.extend(found)
    if planned.visited is not None:
        for name, hit in planned.visited.hidden_by.items():
            words = f"@{name} is never visited: {hit.words}"
            ctx.remark(planned.module[name], "missed", words, (hit.call,))
    return written(planned, ctx)


def planned_module(module: IRModule, options: PlanDevicesOptions, ctx: PassContext) -> Planned:
    """Decide where every value is; with `clone`, functions are cloned until nothing is in conflict."""
    plan = plan_devices(module, options.device)
    prepared = module
    if any(any(map(_is_projected, parts)) for parts in plan.domains.parts.values() if TupleGetItem in map(type, parts)):
        prepared = ctx.rewrite(module, _project_first)
        plan = plan_devices(prepared, options.device)
    if options.as_in == "reported":
        visited = visit_functions(prepared, options.visits, options.visit_limit)
        return Planned(prepared, plan_devices(prepared, options.device, visited.entered), visited)
    origin_of: dict[str, str] = {}
    for _ in range(MAX_CLONES if options.clone else 0):
        if not plan.proof.conflicts:
            break
        apart = clone_apart(plan, origin_of, ctx)
        if apart is plan.module:
            break
        plan = plan_devices(apart, options.device)
    return Planned(plan.module, plan, None, origin_of)


def written(planned: Planned, ctx: PassContext) -> IRModule:
    """Return the module with its devices written out, the very same if it says them already."""
    module, plan = planned.module, planned.plan
    writer = DeviceWriter(plan, ctx, spellings(chain.from_iterable(plan.domains.parts.values())))
    changed: list[Definition] = []
    for item in module.definitions:
        if isinstance(item.function, Function) and item.var.name in plan.covered:
            after = writer.function(item.function, plan.domains.parts[item.var.name])
            is_changed = after is not item.function and not _says_so(item.function, after)
            _explain(item.var.name, item.function, plan, ctx, "applied" if is_changed else "note")
            if is_changed:
                changed.append(replace(item, function=after))
                ctx.log.rebuilt(item, changed[-1])
    return merge_clones(module.with_definitions(*changed), planned.origin_of, ctx) if changed else module


def _says_so(before: Function, after: Function) -> bool:
    """Tell whether a function was planned before, with the same result."""
    return has_attr(before.attrs, RESULT_DEVICE) and structural_equal(after, before)


def _is_projected(node: Node) -> bool:
    return isinstance(node, TupleGetItem) and is_op_call(node.tuple_value, "on_device")


def _project_first(node: Node) -> Node | None:
    """Rule: on_device(tuple).k -> on_device(tuple.k), so that only the field is copied."""
    if not isinstance(node, TupleGetItem):
        return None
    note = as_on_device(node.tuple_value)
    if note is None or note.constrains_result or not isinstance(node.tuple_value, Call):
        return None
    return replace(node.tuple_value, args=(replace(node, tuple_value=note.body),))


def _explain(name: str, function: Function, plan: DevicePlan, ctx: PassContext, kind: RemarkKind) -> None:
    """Say where the parameters and the result of a function are, and what decided it."""
    for node, what in ((function, f"the result of @{name}"), *((p, f"%{p.name} of @{name}") for p in function.params)):
        slot = plan.domains.slot_of(node)
        fixed = None if slot is None else plan.proof.fixed(slot)
        if fixed is not None:
            words = f"{what} is on {fixed.device}: {fixed.reason.words}"
            ctx.remark(node, kind, words, (fixed.reason.node,))


def diagnostics_of(planned: Planned, options: PlanDevicesOptions, log: RewriteLog) -> tuple[Diagnostic, ...]:
    """Return an error for every constraint that cannot hold, and a warning for every function that was not visited."""
    hidden = () if planned.visited is None else _hidden(planned, planned.visited, options, log)
    return (*(_conflict(item, log) for item in planned.plan.proof.conflicts), *hidden)


def _conflict(conflict: Conflict, log: RewriteLog) -> Diagnostic:
    message = f"{conflict.reason.words}, but one is on {conflict.left} and the other on {conflict.right}"
    sides = ((conflict.left, conflict.left_chain), (conflict.right, conflict.right_chain))
    related = tuple(entry for device, links in sides for entry in _related(device, links, log))
    hint = "copy the value with device_copy or on_device, or use PlanDevices(clone=True) for a function on two devices"
    return Diagnostic("DV001", message, log.locate(conflict.reason.node), hint, related=related)


def _related(device: Device, links: tuple[Reason, ...], log: RewriteLog) -> tuple[tuple[str, Span], ...]:
    shown = links if len(links) <= MAX_CHAIN else (*links[: MAX_CHAIN - 1], links[-1])
    places = ((reason.words, log.locate(reason.node)) for reason in shown)
    return tuple((f"{device}: {words}", span) for words, span in places if span is not None)


def _hidden(planned: Planned, visited: Visited, options: PlanDevicesOptions, log: RewriteLog) -> tuple[Diagnostic, ...]:
    """Return a warning for every function that the analysis never visited, with the memo hit that hid it."""
    found: list[Diagnostic] = []
    for var, function in planned.module.relax_functions:
        if var.name in visited.entered or is_primitive(function):
            continue
        hit = visited.hidden_by.get(var.name)
        if hit is None:
            message = f"@{var.name} has no devices: never visited, nothing that is visited calls it"
            found.append(Diagnostic("DV002", message, log.locate(function), severity="warning"))
            continue
        place = log.locate(hit.call)
        at = "" if place is None else f" (line {place.line})"
        where = f"the call of {callee_words(hit)} in {path_words(hit)}{at}"
        seen = f"@{hit.function} was visited at step {hit.first}"
        message = f"@{var.name} has no devices: never visited: memo hit at {where}: {seen}"
        hint = f'visit_limit={options.visit_limit} is too small here; as_in="fixed" visits every function'
        related = () if place is None else ((f"step {hit.number}: {hit.words}", place),)
        found.append(Diagnostic("DV002", message, log.locate(function), hint, "warning", related))
    return tuple(found)


PASS = Pass(
    "PlanDevices",
    "Decides on which device every value is, and writes it out: devices of parameters and results, on_device, copies.",
    run,
    PlanDevicesOptions,
    see="tvm/src/relay/transforms/device_planner.cc",
    dialect="relay",
    reads_data=False,
)


def clone_apart(plan: DevicePlan, origin_of: dict[str, str], ctx: PassContext) -> IRModule:
    """Give a call that is in conflict, or on the way to one, its own clones of the functions that it names.

    The module itself is returned if no clone can help. Functions that call each other are cloned together.
    `origin_of` leads from the clones to what they were made from.
    """
    module = plan.module
    groups = {item.name: group for group in components(module) for item in group}
    for call in dict.fromkeys(reason.node for item in plan.proof.conflicts for reason in item.reasons):
        used = _used(call, module)
        if not isinstance(call, Call) or not used or _is_own(module, used, groups, origin_of):
            continue
        names = Names(module.names)
        added: list[Definition] = []
        new_of: dict[str, GlobalVar] = {}
        for name in used:
            if name not in new_of:
                made, vars_ = _cloned(module, groups[name], names, ctx)
                added += made
                new_of.update(vars_)
                origin_of.update({var.name: origin_of.get(old, old) for old, var in vars_.items()})
        ctx.remark(call, "applied", f"cloned for this call: {', '.join(f'@{name}' for name in used)}")
        return ctx.rewrite(module, _Redirected(call, new_of)).with_definitions(*added)
    return module


def _used(node: Node, module: IRModule) -> tuple[str, ...]:
    """Return the functions of the module that a call names, as callee or as argument."""
    parts = (node.op, *node.args) if isinstance(node, Call) else ()
    names = dict.fromkeys(item.name for item in parts if isinstance(item, GlobalVar))
    return tuple(name for name in names if name in module and isinstance(module[name], Function))


def _is_own(
    module: IRModule,
    used: tuple[str, ...],
    groups: Mapping[str, tuple[GlobalVar, ...]],
    origin_of: Mapping[str, str],
) -> bool:
    """Tell whether the functions that a call names are clones that nothing else names: another clone would not help."""
    if not all(name in origin_of for name in used):
        return False
    inside = {var.name for name in used for var in groups[name]}
    outside = (function for var, function in module.relax_functions if var.name not in inside)
    uses = sum(1 for function in outside for node in postorder(function) if set(_used(node, module)) & set(used))
    return uses <= 1


def _cloned(
    module: IRModule, group: tuple[GlobalVar, ...], names: Names, ctx: PassContext
) -> tuple[list[Definition], dict[str, GlobalVar]]:
    new_of = {var.name: GlobalVar(names.fresh(var.name), span=var.span) for var in group}
    made: list[Definition] = []
    for var in group:
        function = module[var.name]
        assert isinstance(function, Function), "prim funcs have no devices"
        made.append(Definition(new_of[var.name], _copied(function, new_of, ctx)))
    return made, new_of


def _copied(function: Function, new_of: Mapping[str, GlobalVar], ctx: PassContext) -> Function:
    """Return `function` made of other nodes, its functions by their new names."""
    copy: dict[Node, Node] = {}
    for node in postorder(function):
        match node:
            case GlobalVar(name=name):
                copy[node] = new_of.get(name, node)
            case Var() | Constant():
                copy[node] = replace(node)
            case _:
                new = map_children(node, lambda child: copy[child])
                copy[node] = replace(new) if new is node and node.CHILDREN else new
        ctx.log.rebuilt(node, copy[node])
    result = copy[function]
    assert isinstance(result, Function), "a copy of a function is one"
    return result


def merge_clones(module: IRModule, origin_of: Mapping[str, str], ctx: PassContext) -> IRModule:
    """Keep one of the clones that are equal, devices included; a clone is equal to one if all that they call is."""
    functions = {var.name: function for var, function in module.relax_functions}
    members: dict[str, list[str]] = {}
    for name in functions:
        origin = origin_of.get(name, name)
        if origin in origin_of.values():
            members.setdefault(origin, []).append(name)
    chosen = {name: group[0] for group in members.values() for name in group}
    while True:
        refined = _refined(functions, members, chosen)
        if refined == chosen:
            break
        chosen = refined
    vars_ = {var.name: var for var, _ in module.relax_functions}
    dropped = {name for name, kept in chosen.items() if name != kept}
    if not dropped:
        return module
    renamed = ctx.rewrite(module, _Renamed({name: vars_[chosen[name]] for name in dropped}))
    kept = tuple(
        new for new, old in zip(renamed.definitions, module.definitions, strict=True) if old.var.name not in dropped
    )
    return replace(renamed, definitions=kept)


def _refined(
    functions: Mapping[str, Function], members: Mapping[str, list[str]], chosen: Mapping[str, str]
) -> dict[str, str]:
    """Split groups of clones whose members differ when equal functions have one name."""
    refined: dict[str, str] = {}
    rename = _Renamed({name: GlobalVar(kept) for name, kept in chosen.items()})
    for group in members.values():
        kept: list[tuple[str, Function]] = []
        for name in group:
            function = _renamed(functions[name], rename)
            same = next(
                (other for other, known in kept if chosen[other] == chosen[name] and structural_equal(known, function)),
                None,
            )
            refined[name] = name if same is None else same
            if same is None:
                kept.append((name, function))
    return refined


def _renamed(function: Function, rename: _Renamed) -> Function:
    return rewrite(function, rename, log=RewriteLog())
