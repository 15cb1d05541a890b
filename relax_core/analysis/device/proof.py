"""Proof-producing union-find: which values share a device, which device that is, and why.

Every union adds one edge to a forest, between the very values that it was about. The path between two values in the
forest is the chain of constraints that makes them equal. See: Nieuwenhuis and Oliveras, Proof-Producing Congruence
Closure.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from relax_core.analysis.device.devices import Device
from relax_core.ir.node import Node

_ROOT = -1


class Reason(NamedTuple):
    """One step of the analysis, numbered from 0: a constraint and the node that it comes from."""

    number: int
    node: Node
    words: str


@dataclass(frozen=True, slots=True)
class Fixed:
    """The device of an equivalence class, the value at which it was decided, and why."""

    device: Device
    slot: int
    reason: Reason


@dataclass(frozen=True, slots=True)
class Conflict:
    """An unsatisfiable constraint: the chains `left` and `right` put its sides on two devices."""

    reason: Reason
    left: Device
    right: Device
    left_chain: tuple[Reason, ...]
    right_chain: tuple[Reason, ...]

    @property
    def reasons(self) -> tuple[Reason, ...]:
        """The constraint and the two chains."""
        return (self.reason, *self.left_chain, *self.right_chain)


@dataclass(slots=True)
class Proof:
    """Slots, the steps that united them, and conflicts. `node_of[slot]` is the expression that a slot is about.

    Slots and steps are integers that index lists, not objects, because every expression of a program has several.
    """

    node_of: list[Node] = field(default_factory=list[Node])
    conflicts: list[Conflict] = field(default_factory=list[Conflict])
    _nodes: list[Node] = field(default_factory=list[Node])
    _words: list[str] = field(default_factory=list[str])
    """The words of every step."""
    _parent: list[int] = field(default_factory=list[int])
    """The parent of each slot in its tree; for a root the size of its class, negated."""
    _next: list[int] = field(default_factory=list[int])
    _why: list[int] = field(default_factory=list[int])
    """The edge of each slot in the forest of reasons: the slot it leads to, `_ROOT` if none, and the step."""
    _devices: dict[Device, Device] = field(default_factory=dict[Device, Device])
    """The decided devices, interned, so that they compare by identity."""
    _fixed: dict[int, Fixed] = field(default_factory=dict[int, Fixed])
    _class_count: int = 0
    """How many classes of equal slots there are."""

    @property
    def steps(self) -> Sequence[Reason]:
        """The steps of the analysis, in order."""
        return tuple(map(Reason, range(len(self._nodes)), self._nodes, self._words))

    def slot(self, node: Node) -> int:
        """Make a slot: the unknown device of `node`, or of a part of it."""
        number = len(self._parent)
        self.node_of.append(node)
        self._parent.append(-1)
        self._next.append(_ROOT)
        self._why.append(_ROOT)
        self._class_count += 1
        return number

    def attached(self, slot: int, about: Node, node: Node, words: str) -> int:
        """Make a slot for `about` that is equal to `slot`, as `words` say of `node`."""
        root = self.find(slot)
        number = len(self._parent)
        self.node_of.append(about)
        self._parent.append(root)
        self._parent[root] -= 1
        self._next.append(slot)
        self._why.append(self.say(node, words))
        return number

    def say(self, node: Node, words: str) -> int:
        """Record a step; return its number."""
        self._nodes.append(node)
        self._words.append(words)
        return len(self._nodes) - 1

    def find(self, slot: int) -> int:
        """Return the representative of a slot's class, halving the path to it."""
        parent = self._parent
        above = parent[slot]
        while above >= 0:
            higher = parent[above]
            if higher < 0:
                return above
            parent[slot] = higher
            slot, above = higher, parent[higher]
        return slot

    def fixed(self, slot: int) -> Fixed | None:
        """Return what decides the device of a slot, `None` while it is open."""
        return self._fixed.get(self.find(slot))

    def device(self, slot: int) -> Device | None:
        """Return the device of a slot, `None` if it is open."""
        found = self._fixed.get(self.find(slot))
        return None if found is None else found.device

    def devices(self) -> list[Device | None]:
        """Return the devices of all slots."""
        found = {root: fixed.device for root, fixed in self._fixed.items()}
        return [found.get(self.find(above) if above >= 0 else slot) for slot, above in enumerate(self._parent)]

    @property
    def is_decided(self) -> bool:
        """Tell whether every slot has a device."""
        return len(self._fixed) == self._class_count

    def unite(self, a: int, b: int, node: Node, words: str) -> bool:
        """Unite two slots. Record a conflict, and return false, if they are on different devices."""
        if self.unite_if_possible(a, b, node, words):
            return True
        left, right = self.fixed(a), self.fixed(b)
        assert left is not None, "what is open can be united with anything"
        assert right is not None, "what is open can be united with anything"
        reason = self._step(self.say(node, words))
        chains = (*self.path(a, left.slot), left.reason), (*self.path(b, right.slot), right.reason)
        self.conflicts.append(Conflict(reason, left.device, right.device, *chains))
        return False

    def unite_if_possible(self, a: int, b: int, node: Node, words: str) -> bool:
        """Unite two slots unless they are on different devices; return whether they are equal."""
        first, second = self.find(a), self.find(b)
        if first == second:
            return True
        left, right = self._fixed.get(first), self._fixed.get(second)
        if left is not None and right is not None and left.device is not right.device:
            return False
        decided = right if left is None else left
        parent = self._parent
        if parent[first] > parent[second]:
            a, b, first, second = b, a, second, first
        if self._next[b] != _ROOT:
            self._turn(b)
        self._next[b], self._why[b] = a, self.say(node, words)
        parent[first] += parent[second]
        parent[second] = first
        self._class_count -= 1
        if decided is not None:
            self._fixed.pop(second, None)
            self._fixed[first] = decided
        return True

    def fix(self, slot: int, device: Device, node: Node, words: str) -> bool:
        """Fix the device of a slot. Record a conflict, and return false, if it is on another one."""
        root = self.find(slot)
        known = self._fixed.get(root)
        device = self._devices.setdefault(device, device)
        if known is not None and known.device is device:
            return True
        reason = self._step(self.say(node, words))
        if known is None:
            self._fixed[root] = Fixed(device, slot, reason)
            return True
        chain = (*self.path(slot, known.slot), known.reason)
        self.conflicts.append(Conflict(reason, known.device, device, chain, (reason,)))
        return False

    def _step(self, number: int) -> Reason:
        return Reason(number, self._nodes[number], self._words[number])

    def chain(self, slot: int) -> tuple[Reason, ...]:
        """Return the chain of constraints from a slot to what decides its device; empty if it is open."""
        found = self.fixed(slot)
        return () if found is None else (*self.path(slot, found.slot), found.reason)

    def summary(self, slot: int, limit: int) -> tuple[tuple[Reason, ...], int]:
        """Return the first and last links of a slot's chain, `limit` at most, and its length."""
        chain = self.chain(slot)
        return (chain if len(chain) <= limit else (*chain[: limit - 1], chain[-1])), len(chain)

    def path(self, a: int, b: int) -> tuple[Reason, ...]:
        """Return the reasons on the path between two slots that are equal. Complexity: the depth of their tree."""
        order: dict[int, int] = {}
        up_from_a: list[int] = []
        at = a
        while at != _ROOT:
            order[at] = len(up_from_a)
            up_from_a.append(self._why[at])
            at = self._next[at]
        up_from_b: list[int] = []
        at = b
        while at not in order:
            assert at != _ROOT, "both slots are in one tree"
            up_from_b.append(self._why[at])
            at = self._next[at]
        return tuple(map(self._step, (*up_from_a[: order[at]], *reversed(up_from_b))))

    def _turn(self, slot: int) -> None:
        """Make `slot` the root of its tree in the forest of reasons."""
        at, above, reason = slot, _ROOT, _ROOT
        while at != _ROOT:
            following, why = self._next[at], self._why[at]
            self._next[at], self._why[at] = above, reason
            at, above, reason = following, at, why
