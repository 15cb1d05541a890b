"""Device planning for Relay: solve the constraints, copy where domains meet, default the rest."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import chain

from relax_core.analysis.device.constraints import begin, collect
from relax_core.analysis.device.devices import Device
from relax_core.analysis.device.domains import Arrow, Domains, slots_of
from relax_core.analysis.device.proof import Proof, Reason
from relax_core.check.order import components
from relax_core.ir.expr import Expr, GlobalVar, Op
from relax_core.ir.module import BaseFunc, IRModule
from relax_core.ir.node import Node
from relax_core.ir.relay import Constructor, Let, result_of


@dataclass(frozen=True, slots=True, eq=False)
class DevicePlan:
    """The devices of a module. `domains` holds the proof; `covered` names the functions that were analysed."""

    module: IRModule
    default: Device
    domains: Domains
    covered: frozenset[str]

    @property
    def proof(self) -> Proof:
        """The steps of the analysis, its conflicts, and the reasons of every device."""
        return self.domains.proof

    def device(self, node: Node) -> Device | None:
        """Return the device of an expression; for a function that of its result."""
        return self.domains.device(node)

    def chain(self, node: Node) -> tuple[Reason, ...]:
        """Return the chain of constraints from an expression to the annotation or default that decides its device."""
        slot = self.domains.slot_of(node)
        return () if slot is None else self.proof.chain(slot)

    def decided_by(self, node: Node) -> tuple[Node, ...]:
        """Return the node whose annotation or default decides the device of an expression, if it has one."""
        slot = self.domains.slot_of(node)
        fixed = None if slot is None else self.proof.fixed(slot)
        return () if fixed is None else (fixed.reason.node,)

    def wanted(self, holder: Node, index: int, arg: Expr) -> Device | None:
        """Return the device on which `holder` wants its operand; the operand's own if it takes it anywhere."""
        use = self.domains.use_of(holder, index)
        return self.device(arg) if use is None else self.proof.device(use.wanted)


def plan_devices(module: IRModule, default: Device, functions: Iterable[str] | None = None) -> DevicePlan:
    """Solve the device domains of a module, or only of `functions`.

    Conflicts are recorded in the proof; a value in conflict keeps its first device. Complexity: n log n.
    """
    domains = begin(module)
    wanted = None if functions is None else frozenset(functions)
    # Callees first: in a function its parameters decide, and its result is copied where it is used.
    names_of: dict[BaseFunc, str] = {item.function: item.var.name for item in module.definitions}
    order = [
        var.name for group in components(module, lambda item: _called(domains, names_of.get(item))) for var in group
    ]
    planned = [name for name in order if name in domains.parts and (wanted is None or name in wanted)]
    for name in planned:
        collect(domains, name)
    _settle(domains)
    _default(domains, default)
    return DevicePlan(module, default, domains, frozenset(planned))


def _called(domains: Domains, name: str | None) -> tuple[GlobalVar, ...]:
    return tuple([node for node in domains.parts.get(name or "", ()) if isinstance(node, GlobalVar)])


def _settle(domains: Domains) -> None:
    """Unify operands with their operators' devices, annotations first; where that is impossible, record a copy."""
    proof = domains.proof
    words_of: dict[tuple[Device | None, Device | None, str], str] = {}
    for holder, uses in chain(domains.notes.items(), domains.uses.items()):
        for index, use in enumerate(uses):
            if use is None or proof.unite_if_possible(use.slot, use.wanted, holder, use.words):
                continue
            domains.copies[holder, index] = use
            way = proof.device(use.slot), proof.device(use.wanted), use.words
            words = words_of.get(way)
            if words is None:
                words = words_of[way] = f"a copy from {way[0]} to {way[1]}: {use.words}"
            proof.say(holder, words)


_UNDECIDED = "the default: no annotation"


def _default(domains: Domains, default: Device) -> None:
    """Default what no annotation reaches: results, then parameters, then let-bound values, then the rest."""
    proof = domains.proof
    for function in domains.literals:
        arrow = domains.domain_of[function]
        assert isinstance(arrow, Arrow), "a function has the domain of one"
        results = tuple(slots_of(arrow.result))
        for slot in results:
            if proof.fixed(slot) is None:
                proof.fix(slot, default, function, _UNDECIDED)
        for param, domain in zip(function.params, arrow.params, strict=True):
            for slot in slots_of(domain):
                if proof.fixed(slot) is None:
                    proof.unite(slot, results[0], param, "a parameter that is free is on the device of the result")
    if proof.is_decided:
        return
    tails: dict[Let, Expr] = {}
    for let in reversed(domains.lets):
        tail = tails[let] = tails[let.body] if isinstance(let.body, Let) and let.body in tails else result_of(let.body)
        known = domains.domain_of.get(let.var)
        target = None if isinstance(tail, (Op, Constructor)) else domains.slot_of(tail)
        if known is None or target is None:
            continue
        for slot in slots_of(known):
            if proof.fixed(slot) is None:
                proof.unite(slot, target, let, "a value that is free is on the device of what the lets give")
    for slot, node in enumerate(proof.node_of):
        if proof.fixed(slot) is None:
            proof.fix(slot, default, node, _UNDECIDED)
