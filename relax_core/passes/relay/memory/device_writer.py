"""Write a device plan into a Relay module: devices of parameters and results, `on_device` and `device_copy`."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, TypeVar

from relax_core.analysis.device.devices import (
    PARAM_DEVICES,
    RESULT_DEVICE,
    Device,
    as_device_copy,
    as_on_device,
    attribute_of,
    device_of,
    is_primitive,
)
from relax_core.analysis.device.plan import DevicePlan
from relax_core.ir.attrs import Attrs, AttrValue, with_attr
from relax_core.ir.expr import Call, Expr, Function, GlobalVar, Op, Var
from relax_core.ir.node import Node, map_children
from relax_core.ir.relay import Constructor, Let, Match
from relax_core.passes.core import PassContext
from relax_core.passes.remarks import UnnumberedRemark

N = TypeVar("N", bound=Node)

_DEVICE_COPY, _ON_DEVICE = Op("device_copy"), Op("on_device")
_NOWHERE = (Op, Constructor, GlobalVar, Function)
"""What has no device of its own: functions of all kinds."""


class _Copying(NamedTuple):
    """What all copies from one device to another have in common: attributes, the rule in the log, a remark's words."""

    attrs: Attrs
    rule: str
    words: str


@dataclass(slots=True)
class DeviceWriter:
    """Rebuilds functions, inner expressions first. Every expression stands in the scope of its parent's device."""

    plan: DevicePlan
    ctx: PassContext
    spelling: Mapping[Device, AttrValue]
    device_of: Mapping[Node, Device | None] = field(init=False)
    device_at: Sequence[Device | None] = field(init=False)
    """The devices of expressions, and of the slots of the plan's proof."""
    copying: frozenset[Node] = field(init=False)
    """The calls that take an argument from another device than it is on."""
    new_of: dict[Node, Expr] = field(default_factory=dict[Node, Expr])
    copyings: dict[tuple[Device | None, Device | None], _Copying] = field(
        default_factory=dict["tuple[Device | None, Device | None]", _Copying]
    )
    annotations: dict[Device, Attrs] = field(default_factory=dict[Device, Attrs])
    scope_of: dict[Node, Device | None] = field(default_factory=dict["Node", "Device | None"])
    rebuilt: list[tuple[Node, Node]] = field(default_factory=list[tuple[Node, Node]])
    copies: list[tuple[Call, Expr, str]] = field(default_factory=list[tuple[Call, Expr, str]])
    """What the log and the remarks are told: nodes with other children, copies with what they copy and words."""

    def __post_init__(self) -> None:
        self.device_at = self.plan.proof.devices()
        self.device_of = self.plan.domains.devices(self.device_at)
        self.copying = frozenset(call for call, _ in self.plan.domains.copies)
        self.ctx.log.copied(self.rebuilt)
        self.ctx.remark_on_reading(self._explained)

    def _explained(self) -> Iterator[UnnumberedRemark]:
        for call, copied, words in self.copies:
            yield UnnumberedRemark(call, "applied", words, self.plan.decided_by(copied))

    def function(self, function: Function, parts: tuple[Node, ...]) -> Function:
        """Return the function with its devices written out; `parts` are its nodes, inner ones first."""
        for node in parts:
            if isinstance(node, Expr) and node.CHILDREN and not isinstance(node, Let):
                self._keep(node, self._rebuilt(node))
        result = self._expr(function)
        assert isinstance(result, Function), "a function stays a function"
        return result

    def _keep(self, node: Expr, new: Expr) -> None:
        if new is not node:
            self.new_of[node] = new
            self.rebuilt.append((node, new))

    def _lets(self, head: Let) -> None:
        """Rebuild a chain of lets, the last one first."""
        waiting: list[Let] = []
        at: Expr = head
        while isinstance(at, Let) and at not in self.scope_of:
            waiting.append(at)
            at = at.body
        for let in reversed(waiting):
            value, body = let.value, let.body
            scope = self.scope_of[let] = self.scope_of[body] if isinstance(body, Let) else self.device(body)
            is_here = scope is not None and self.device_of.get(value) is scope
            placed = self.new_of.get(value, value) if is_here else self._placed(value, scope, self.device(value))
            new = self.new_of.get(body, body)
            if placed is not value or new is not body:
                self._keep(let, Let(let.var, placed, new, let.attrs, span=let.span))

    def device(self, node: Node) -> Device | None:
        """Return where an expression is, for lets where their result is."""
        if isinstance(node, Let):
            if node not in self.scope_of:
                self._lets(node)
            return self.scope_of[node]
        return self.device_of.get(node)

    def _rebuilt(self, node: Expr) -> Expr:
        match node:
            case Call(op=op):
                return self._call(node, op.name if isinstance(op, Op) else "")
            case Function():
                return node if is_primitive(node) else self._function(node)
            case Match(value=value, clauses=clauses):
                scope = self.device(node)
                made = tuple(
                    self._replaced(item, body=self._placed(item.body, scope, self.device(item.body)))
                    for item in clauses
                )
                return self._replaced(node, value=self._placed(value, scope, self.device(value)), clauses=made)
            case _:
                scope = self.device(node)
                return map_children(
                    node,
                    lambda child: self._placed(child, scope, self.device(child)) if isinstance(child, Expr) else child,
                )

    def _call(self, call: Call, operator: str) -> Expr:
        scope = self.device_of.get(call)
        if operator == "on_device":
            return self._placed(call.args[0], scope, scope)
        if operator == "device_copy":
            return self._copy(call)
        if scope is None or call in self.copying:
            placed = tuple([self._argument(call, index, arg, scope) for index, arg in enumerate(call.args)])
        else:
            # Every argument is where it is wanted, and most are where the call is.
            at, new_of = self.device_of, self.new_of
            placed = tuple([
                new_of.get(arg, arg) if at.get(arg) is scope else self._argument(call, index, arg, scope)
                for index, arg in enumerate(call.args)
            ])  # fmt: skip
        callee = call.op if operator else self._expr(call.op)
        # Nodes compare by identity.
        if placed == call.args and callee is call.op:
            return call
        return Call(callee, placed, call.attrs, call.type_args, span=call.span)

    def _argument(self, call: Call, index: int, arg: Expr, scope: Device | None) -> Expr:
        """Return what became of an argument as it stands in a call on `scope`."""
        use = self.plan.domains.use_of(call, index)
        return self._placed(arg, scope, self.device(arg) if use is None else self.device_at[use.wanted])

    def _function(self, function: Function) -> Function:
        result = self.plan.device(function)
        attrs = function.attrs
        if function.params:
            devices = tuple(self._attribute(self.plan.device(param)) for param in function.params)
            attrs = with_attr(attrs, PARAM_DEVICES, devices)
        attrs = with_attr(attrs, RESULT_DEVICE, self._attribute(result))
        body = self._placed(function.body, result, result)
        return self._replaced(function, body=body, attrs=attrs)

    def _copy(self, call: Call) -> Expr:
        """Rebuild a copy that the program asks for; one between equal devices is left out."""
        body, target = call.args[0], self.plan.device(call)
        source = self.plan.wanted(call, 0, body)
        placed = self._placed(body, target, source)
        if source == target:
            self.ctx.remark(call, "applied", f"a copy from {source} to itself is left out")
            return placed
        said = as_device_copy(call)
        assert said is not None, "the caller has seen to it"
        is_said = (said.source, said.target) == (source, target)
        attrs = call.attrs if is_said else self._copying(source, target).attrs
        return self._replaced(call, args=(placed,), attrs=attrs)

    def _placed(self, child: Expr, scope: Device | None, wanted: Device | None) -> Expr:
        """Return what became of `child` as it stands in a scope: annotated if it is elsewhere, copied if need be."""
        new = self._expr(child)
        here = self.device(child)
        if here is None or (here is scope and here is wanted) or isinstance(child, _NOWHERE):
            return new
        if here is not scope and not isinstance(new, Var):
            new = self._annotated(new, here, child)
        if wanted is None or wanted is here:
            return new
        copy = self._copying(here, wanted)
        made = Call(_DEVICE_COPY, (new,), copy.attrs, span=child.span)
        self.ctx.derive(made, child, rule=copy.rule)
        self.copies.append((made, child, copy.words))
        return made if wanted is scope else self._annotated(made, wanted, child)

    def _annotated(self, new: Expr, device: Device, origin: Expr) -> Expr:
        found = as_on_device(new)
        if found is not None and found.device == device and found.constrains_result:
            return new
        attrs = self.annotations.get(device)
        if attrs is None:
            said: Attrs = (("virtual_device", self._attribute(device)), ("constrain_result", True))
            attrs = self.annotations[device] = said
        return self.ctx.derive(Call(_ON_DEVICE, (new,), attrs, span=origin.span), origin)

    def _copying(self, source: Device | None, target: Device | None) -> _Copying:
        """Return how a copy between two devices is written and told."""
        found = self.copyings.get((source, target))
        if found is None:
            attrs: Attrs = (
                ("src_virtual_device", self._attribute(source)),
                ("dst_virtual_device", self._attribute(target)),
            )
            ways = f"from {source} to {target}"
            found = self.copyings[source, target] = _Copying(attrs, f"copy {ways}", f"copied {ways}")
        return found

    def _attribute(self, device: Device | None) -> AttrValue:
        if device is None:
            return None
        return self.spelling.get(device) or attribute_of(device)

    def _expr(self, expr: Expr) -> Expr:
        if isinstance(expr, Let) and expr not in self.scope_of:
            self._lets(expr)
        return self.new_of.get(expr, expr)

    def _replaced(self, node: N, **fields: Any) -> N:
        return node if all(getattr(node, name) == value for name, value in fields.items()) else replace(node, **fields)


def spellings(nodes: Iterable[Node]) -> Mapping[Device, AttrValue]:
    """Return how a program writes the devices that it names."""
    found: dict[Device, AttrValue] = {}
    for node in nodes:
        if isinstance(node, (Call, Function)) and node.attrs:
            for _, value in node.attrs:
                _note(found, value)
    return found


def _note(found: dict[Device, AttrValue], value: AttrValue) -> None:
    items = value if isinstance(value, tuple) else ()
    if items and isinstance(items[0], tuple) and items[0][:1] == ("__class__",):
        device = device_of(value)
        if device is not None:
            found.setdefault(device, value)
        return
    for item in items:
        if isinstance(item, tuple):
            _note(found, item)
