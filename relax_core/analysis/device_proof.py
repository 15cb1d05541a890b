"""Union-find with a forest of reasons: which values share a device, which device that is, and why.

Every union adds one edge to the forest, between the very values that it was about; the path between two values in it
is the chain of constraints that makes them equal. See: Nieuwenhuis and Oliveras, Proof-Producing Congruence Closure.
"""

from dataclasses import dataclass, field
from typing import NamedTuple

from relax_core.analysis.devices import Device
from relax_core.ir.node import Node


class Reason(NamedTuple):
    """One step of the analysis, numbered from 0: what it said about which node."""

    number: int
    node: Node
    words: str


@dataclass(frozen=True, slots=True)
class Fixed:
    """The device of a class of values, the value by which it was decided, and why."""

    device: Device
    slot: int
    reason: Reason


@dataclass(frozen=True, slots=True)
class Conflict:
    """A constraint that cannot hold: its two sides are on two devices, by the chains `left` and `right`."""

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
    """The slots, the steps that joined them, and the conflicts. `node_of[slot]` is the expression a slot is about."""

    node_of: list[Node] = field(default_factory=list[Node])
    steps: list[Reason] = field(default_factory=list[Reason])
    conflicts: list[Conflict] = field(default_factory=list[Conflict])
    _parent: list[int] = field(default_factory=list[int])
    _size: list[int] = field(default_factory=list[int])
    _edge: list[tuple[int, Reason] | None] = field(default_factory=list["tuple[int, Reason] | None"])
    _devices: dict[Device, Device] = field(default_factory=dict[Device, Device])
    """The devices that are decided, one object each, so that most comparisons are of one with itself."""
    _fixed: dict[int, Fixed] = field(default_factory=dict[int, Fixed])

    def slot(self, node: Node) -> int:
        """Make a slot: the unknown device of `node`, or of a part of it."""
        number = len(self._parent)
        self.node_of.append(node)
        self._parent.append(number)
        self._size.append(1)
        self._edge.append(None)
        return number

    def say(self, node: Node, words: str) -> Reason:
        """Record a step."""
        reason = Reason(len(self.steps), node, words)
        self.steps.append(reason)
        return reason

    def find(self, slot: int) -> int:
        """Return the slot that stands for all that are equal to `slot`."""
        parent = self._parent
        while parent[slot] != slot:
            parent[slot] = parent[parent[slot]]
            slot = parent[slot]
        return slot

    def fixed(self, slot: int) -> Fixed | None:
        """Return what decides the device of a slot, `None` if nothing does so far."""
        root = self._parent[slot]
        return self._fixed.get(root if self._parent[root] == root else self.find(slot))

    def device(self, slot: int) -> Device | None:
        """Return the device of a slot, `None` if it is open."""
        found = self.fixed(slot)
        return None if found is None else found.device

    def devices(self) -> list[Device | None]:
        """Return the devices of all slots."""
        found = {root: fixed.device for root, fixed in self._fixed.items()}
        return [found.get(self.find(slot)) for slot in range(len(self._parent))]

    def unite(self, a: int, b: int, node: Node, words: str) -> bool:
        """Make two slots equal; if they are on two devices, note the conflict and tell that they are not."""
        first, second = self.find(a), self.find(b)
        left, right = self._fixed.get(first), self._fixed.get(second)
        if left is None or right is None or left.device == right.device:
            self._join(a, b, node, words)
            return True
        reason = self.say(node, words)
        chains = (*self.path(a, left.slot), left.reason), (*self.path(b, right.slot), right.reason)
        self.conflicts.append(Conflict(reason, left.device, right.device, *chains))
        return False

    def unite_if_possible(self, a: int, b: int, node: Node, words: str) -> bool:
        """Make two slots equal; if they are on two devices, leave them and tell that they are not."""
        left, right = self.fixed(a), self.fixed(b)
        if left is None or right is None or left.device is right.device or left.device == right.device:
            self._join(a, b, node, words)
            return True
        return False

    def _join(self, a: int, b: int, node: Node, words: str) -> None:
        first, second = self.find(a), self.find(b)
        if first == second:
            return
        reason = self.say(node, words)
        decided = self._fixed.get(first) or self._fixed.get(second)
        if self._size[first] < self._size[second]:
            a, b, first, second = b, a, second, first
        self._turn(b)
        self._edge[b] = (a, reason)
        self._parent[second] = first
        self._size[first] += self._size[second]
        if decided is not None:
            self._fixed.pop(second, None)
            self._fixed[first] = decided

    def fix(self, slot: int, device: Device, node: Node, words: str) -> bool:
        """Put a slot on a device; if it is on another, note the conflict and tell that it is not."""
        known = self.fixed(slot)
        if known is not None and known.device == device:
            return True
        reason = self.say(node, words)
        if known is None:
            self._fixed[self.find(slot)] = Fixed(self._devices.setdefault(device, device), slot, reason)
            return True
        chain = (*self.path(slot, known.slot), known.reason)
        self.conflicts.append(Conflict(reason, known.device, device, chain, (reason,)))
        return False

    def chain(self, slot: int) -> tuple[Reason, ...]:
        """Return the constraints that lead from a slot to what decides its device, that last; empty if it is open."""
        found = self.fixed(slot)
        return () if found is None else (*self.path(slot, found.slot), found.reason)

    def summary(self, slot: int, limit: int) -> tuple[tuple[Reason, ...], int]:
        """Return at most `limit` links of a slot's chain, the first ones and the last, and how many it has."""
        chain = self.chain(slot)
        return (chain if len(chain) <= limit else (*chain[: limit - 1], chain[-1])), len(chain)

    def path(self, a: int, b: int) -> tuple[Reason, ...]:
        """Return the reasons on the path between two slots that are equal. Complexity: the depth of their tree."""
        order: dict[int, int] = {}
        up_from_a: list[Reason] = []
        at: int | None = a
        while at is not None:
            order[at] = len(up_from_a)
            edge = self._edge[at]
            at = None if edge is None else edge[0]
            if edge is not None:
                up_from_a.append(edge[1])
        up_from_b: list[Reason] = []
        at = b
        while at not in order:
            edge = self._edge[at]
            assert edge is not None, "both slots are in one tree"
            up_from_b.append(edge[1])
            at = edge[0]
        return (*up_from_a[: order[at]], *reversed(up_from_b))

    def _turn(self, slot: int) -> None:
        """Make `slot` the root of its tree in the forest of reasons."""
        above: tuple[int, Reason] | None = None
        at: int | None = slot
        while at is not None:
            edge, self._edge[at] = self._edge[at], above
            above = None if edge is None else (at, edge[1])
            at = None if edge is None else edge[0]
