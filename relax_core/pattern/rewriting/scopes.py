"""What a rewrite over bindings has to know of a function: where values are visible, and what runs between them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from relax_core.ir.expr import (
    Binding,
    BindingBlock,
    Call,
    DataflowBlock,
    DataflowVar,
    Expr,
    ExternFunc,
    Function,
    GlobalVar,
    Op,
    Var,
    VarBinding,
)
from relax_core.ir.node import Node, children, preorder
from relax_core.ir.rewriting.substitute import type_nodes, types_in
from relax_core.ops import find

_MEMORY = ("relax.memory.", "relax.vm.", "relax.builtin.")
_IN_PLACE = ("relax.call_tir_inplace", "relax.call_inplace_packed")


@dataclass(frozen=True, slots=True, eq=False)
class Surroundings:
    """The bindings of a function, nested ones included, and the block of each variable that they bind.

    `writes_memory` tells that storage is handled explicitly: then a value may be another one by the time it is read.
    `has_effects` tells that some call may do more than give a value.
    """

    bindings: tuple[tuple[VarBinding, BindingBlock], ...]
    block_of: Mapping[Var, BindingBlock]
    writes_memory: bool
    has_effects: bool

    def is_visible(self, value: Expr, block: BindingBlock) -> bool:
        """Tell whether `value` may be used in `block`: a variable of a dataflow block may only there."""
        return not any(
            isinstance(item, DataflowVar) and self.block_of.get(item) is not block for item in preorder(value)
        )

    def is_undisturbed(self, inner: Var, block: BindingBlock) -> bool:
        """Tell whether nothing with an effect can run between the binding of `inner` and those of `block`."""
        return not self.has_effects or (self.block_of.get(inner) is block and isinstance(block, DataflowBlock))


def surroundings(function: Function) -> Surroundings:
    """Look at a function once."""
    bindings: list[tuple[VarBinding, BindingBlock]] = []
    block_of: dict[Var, BindingBlock] = {}
    writes_memory = has_effects = False
    for node in preorder(function):
        if isinstance(node, BindingBlock):
            block_of.update((item.var, node) for item in node.bindings)
            bindings += [(item, node) for item in node.bindings if isinstance(item, VarBinding)]
        elif isinstance(node, Call):
            writes_memory = writes_memory or _writes_memory(node.op)
            has_effects = has_effects or _has_effect(node.op)
    return Surroundings(tuple(bindings), block_of, writes_memory, has_effects)


def _writes_memory(op: Expr) -> bool:
    return isinstance(op, Op) and (op.name.startswith(_MEMORY) or op.name in _IN_PLACE)


def _has_effect(op: Expr) -> bool:
    match op:
        case Op(name=name):
            spec = find(name)
            return spec is None or not spec.is_pure
        case GlobalVar() | ExternFunc() | Var():
            return True
        case _:
            return False


def has_effect(value: Expr) -> bool:
    """Tell whether computing a value may do more than give it."""
    return any(isinstance(node, Call) and _has_effect(node.op) for node in preorder(value))


def without_unused(function: Function, candidates: frozenset[Var]) -> frozenset[Var]:
    """Return those of `candidates` that nothing uses, once the others of them are gone, too.

    Complexity: linear in the function.
    """
    users: dict[Var, list[Var | None]] = {}
    binder_of: dict[Node, Var] = {}
    for node in preorder(function):
        if isinstance(node, Binding) and node.var in candidates:
            binder_of.update(dict.fromkeys(preorder(node.value), node.var))
    for node in preorder(function):
        for used in _used_by(node):
            if used in candidates:
                users.setdefault(used, []).append(binder_of.get(node))
    uses: dict[Var, list[Var]] = {}
    for used, by in users.items():
        for user in by:
            if user is not None:
                uses.setdefault(user, []).append(used)
    left = {var: set(by) for var, by in users.items()}
    waiting = [item for item in candidates if not left.get(item)]
    dropped = set(waiting)
    while waiting:
        var = waiting.pop()
        for used in uses.get(var, ()):
            left[used].discard(var)
            if not left[used] and used not in dropped:
                dropped.add(used)
                waiting.append(used)
    return frozenset(dropped)


def _used_by(node: Node) -> Iterator[Var]:
    parts = (node.value,) if isinstance(node, Binding) else children(node)
    yield from (item for item in parts if isinstance(item, Var))
    for type_ in types_in(node):
        for part in type_nodes(type_):
            yield from (item for item in preorder(part) if isinstance(item, Var))
