"""Device domains: the device of each value of a Relay module, by unification over values, data and functions.

A first-order value has one device. A tuple, a reference and a value of a data type share one device with everything
that they hold. A function has a domain of its own: those of its parameters and of its result; it is monomorphic. An
operator takes and returns values on one device; an argument on another device needs a copy, which is not an error.

See: tvm/src/relay/transforms/device_domains.cc and device_planner.cc, v0.19
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

from relax_core.analysis.device.devices import Device, is_primitive
from relax_core.analysis.device.proof import Proof
from relax_core.ir.expr import Call, Expr, Function, FuncType, GlobalVar, Op, Type, Var
from relax_core.ir.module import IRModule
from relax_core.ir.node import Node
from relax_core.ir.relay import Constructor, Let, result_of
from relax_core.ir.tir import PrimFunc


@dataclass(frozen=True, slots=True, eq=False)
class Arrow:
    """The domain of a function: those of its parameters and of its result."""

    params: tuple["Domain", ...]
    result: "Domain"


Domain: TypeAlias = int | Arrow
"""A slot of the proof for a first-order value, or an arrow for a function."""
Place: TypeAlias = tuple[Node, int]
"""A call and the position of an argument."""


class Use(NamedTuple):
    """How an operator uses an argument, which may be copied.

    `slot` is that of the argument, `wanted` the operator's.
    """

    slot: int
    wanted: int
    words: str


@dataclass(slots=True)
class Domains:
    """The constraints of a module while they are collected, and their solution."""

    module: IRModule
    types: Mapping[Node, Type]
    proof: Proof = field(default_factory=Proof)
    domain_of: dict[Node, Domain] = field(default_factory=dict[Node, Domain])
    uses: dict[Node, list[Use | None]] = field(default_factory=dict["Node", "list[Use | None]"])
    notes: dict[Node, list[Use | None]] = field(default_factory=dict["Node", "list[Use | None]"])
    """The uses of operators and annotations; annotations win where not all uses can be satisfied."""
    copies: dict[Place, Use] = field(default_factory=dict[Place, Use])
    parts: dict[str, tuple[Node, ...]] = field(default_factory=dict[str, "tuple[Node, ...]"])
    literals: list[Function] = field(default_factory=list[Function])
    lets: list[Let] = field(default_factory=list[Let])
    value_of: dict[Var, Expr] = field(default_factory=dict[Var, Expr])
    functions: dict[str, Function | PrimFunc] = field(default_factory=dict["str", "Function | PrimFunc"])
    global_of: dict[str, Domain] = field(default_factory=dict[str, Domain])

    def device(self, node: Node) -> Device | None:
        """Return the device of an expression, for a function that of its result; `None` if it has none."""
        found = self.slot_of(node)
        return None if found is None else self.proof.device(found)

    def devices(self, device_at: Sequence[Device | None]) -> dict[Node, Device | None]:
        """Return the devices of all expressions with a domain, as `device` does; lets have none.

        `device_at` are the devices of the slots.
        """
        return {
            node: device_at[domain if isinstance(domain, int) else result_slot(domain)]
            for node, domain in self.domain_of.items()
        }

    def slot_of(self, node: Node) -> int | None:
        """Return the slot that decides the device of an expression; for a let that of its result."""
        while isinstance(node, Let):
            node = node.body
        found = self.domain_of.get(node)
        return None if found is None else result_slot(found)

    def made(self, type_: Type | None, node: Node) -> Domain:
        """Make the open domain of a value of a type."""
        if isinstance(type_, FuncType) and type_.params is not None:
            return Arrow(tuple(self.made(item, node) for item in type_.params), self.made(type_.ret, node))
        return self.proof.slot(node)

    def own(self, node: Node) -> Domain:
        """Return the domain of a node, created from its type at first."""
        found = self.domain_of.get(node)
        if found is not None:
            return found
        if isinstance(node, Let):
            return self.own(result_of(node))
        found = self.domain_of[node] = self.made(self.types.get(node), node)
        return found

    def of(self, expr: Expr, holder: Node) -> Domain:
        """Return the domain of `expr` at its use by `holder`; operators and constructors get a domain per use."""
        match expr:
            case Call():
                return self.domain_of.get(expr) or self.own(expr)
            case Var() if expr not in self.value_of or isinstance(self.value_of[expr], Call):
                return self.domain_of.get(expr) or self.own(expr)
            case Op() | Constructor():
                return self.one_device(self.made(self.types.get(expr), holder), holder)
            case GlobalVar(name=name):
                if is_primitive_value(self, expr):
                    return self.one_device(self.made(self.types.get(expr), holder), holder)
                if name not in self.global_of:
                    self.global_of[name] = self.made(self.types.get(expr), expr)
                return self.global_of[name]
            case Function() | Var() if is_primitive_value(self, expr):
                return self.one_device(self.made(self.types.get(expr), holder), holder)
            case _:
                return self.own(expr)

    def one_device(self, domain: Domain, node: Node) -> Domain:
        """Constrain a function that stands for an operator to one device for arguments and result."""
        self.collapse(domain, node, "an operator takes and gives values on one device")
        return domain

    def collapse(self, domain: Domain, node: Node, words: str) -> int:
        """Unify all parts of a domain; return their slot."""
        if isinstance(domain, int):
            return domain
        slots = list(slots_of(domain))
        for slot in slots[1:]:
            self.proof.unite(slots[0], slot, node, words)
        return slots[0]

    def unify(self, a: Domain, b: Domain, node: Node, words: str) -> None:
        """Unify two domains; a function unified with a first-order value collapses to one device."""
        if isinstance(a, int) and isinstance(b, int):
            self.proof.unite(a, b, node, words)
            return
        stack = [(a, b, words)]
        while stack:
            left, right, why = stack.pop()
            match left, right:
                case int(), int():
                    self.proof.unite(left, right, node, why)
                case Arrow(), Arrow() if len(left.params) == len(right.params):
                    stack.append((left.result, right.result, f"{why}: their results"))
                    pairs = zip(left.params, right.params, strict=True)
                    stack.extend((p, q, f"{why}: their parameter {k}") for k, (p, q) in enumerate(pairs, 1))
                case _:
                    one = self.collapse(left, node, f"{why}; a function among data has one device")
                    other = self.collapse(right, node, f"{why}; a function among data has one device")
                    self.proof.unite(one, other, node, why)

    def same(self, node: Node, part: Expr, words: str) -> None:
        """Collapse the domains of `node` and `part` to one device each, and unite these."""
        slot = self.collapse(self.own(node), node, words)
        self.proof.unite(slot, self.collapse(self.of(part, node), node, words), node, words)

    def use_all(self, holder: Call, wanted: int, words: str) -> None:
        """Record that all arguments of `holder` are wanted on the device of `wanted`, copied if need be."""
        found: list[Use | None] = []
        for arg in holder.args:
            domain = self.of(arg, holder)
            slot = domain if isinstance(domain, int) else self.collapse(domain, holder, words)
            found.append(Use(slot, wanted, words))
        self.uses[holder] = found

    def use(self, holder: Call, index: int, wanted: int, words: str) -> None:
        """Record that argument `index` of `holder` is wanted on the device of `wanted`.

        Nothing is said of the arguments before it.
        """
        arg = holder.args[index]
        uses = self.uses.setdefault(holder, [])
        uses += (None,) * (index - len(uses))
        uses.append(Use(self.collapse(self.of(arg, holder), holder, words), wanted, words))

    def use_of(self, holder: Node, index: int) -> Use | None:
        """Return how `holder` uses an argument, `None` if it takes it on any device."""
        uses = self.uses.get(holder) or self.notes.get(holder, ())
        return uses[index] if index < len(uses) else None


def result_slot(domain: Domain) -> int:
    """Return the slot of the result that a domain yields after all its arrows."""
    while isinstance(domain, Arrow):
        domain = domain.result
    return domain


def slots_of(domain: Domain) -> Iterator[int]:
    """Yield the slots of a domain, that of the result first."""
    if isinstance(domain, int):
        yield domain
        return
    stack: list[Domain] = [domain]
    while stack:
        found = stack.pop()
        if isinstance(found, int):
            yield found
        else:
            stack.extend((*found.params, found.result))


def is_primitive_value(domains: Domains, expr: Expr) -> bool:
    """Tell whether `expr` is a function that stands for one operator, by name or as a literal."""
    while isinstance(expr, Var) and expr in domains.value_of:
        expr = domains.value_of[expr]
    match expr:
        case GlobalVar(name=name):
            found = domains.functions.get(name)
            return isinstance(found, PrimFunc) or (found is not None and is_primitive(found))
        case _:
            return is_primitive(expr)
