"""Match the statements of two prim funcs: blocks, loops, buffers and stores."""

import re
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from itertools import islice
from typing import Final, TypeAlias

from relax_core.analysis.matching.links import Confidence, Links
from relax_core.analysis.matching.parts import Part, ancestors, bare_name

_KeyOf: TypeAlias = Callable[[Part], Hashable]
_DERIVED_LOOP: Final = re.compile(r"(.+?)(?:_(?:\d+|outer|inner|o|i|fused|init|s)|\d+)")
_DEPTH: Final = 64
"""Up to how many loops and blocks around a statement are looked at."""
_GAP: Final = 64
"""Over how many statements before one is looked for that took no other place."""
_CONTAINERS: Final = ("loop", "if", "block", "while", "attribute")


class StatementMatcher:
    """Matches the parts of prim funcs, `before` and `after`, each step only what is still free."""

    def __init__(self, before: Sequence[Part], after: Sequence[Part], links: Links) -> None:
        self._before, self._after, self._links = before, after, links
        self._path_of: dict[Part, tuple[str, ...]] = {}

    def run(self) -> None:
        """Match by names and places first, then by what is computed, by what is in it, and by position."""
        for kinds, key, is_strict, why in self._steps():
            self._by_key(kinds, key, why, is_strict=is_strict)
        self._by_operands()
        self._by_content()
        self._by_loops()
        self._between_neighbours()
        self._by_operands()
        self._derived()

    def _steps(self) -> Iterable[tuple[tuple[str, ...], _KeyOf, bool, str]]:
        """Yield what is compared, from the strictest to the loosest."""
        memory = ("parameter", "buffer")
        yield memory, lambda part: (part.kind, part.name, part.operator == "view"), True, "same name"
        yield memory, lambda part: (part.name, part.operator == "view"), True, "same name"
        yield memory, lambda part: part.name, True, "same name"
        yield ("parameter",), lambda part: bare_name(part.name), False, "same name but for its end"
        yield ("block",), lambda part: (part.name, self._path(part)), True, "same name"
        yield ("block",), lambda part: part.name, True, "same name"
        yield ("loop",), lambda part: (part.operator, self._path(part)), True, "same loop variables"
        stored: _KeyOf = lambda part: (part.kind, self._target(part), part.operator)  # noqa: E731
        yield ("store",), lambda part: (stored(part), self._path(part)), True, "same buffer and operations"
        yield ("store",), stored, True, "same buffer and operations"
        yield ("let",), lambda part: (part.name, part.operator, self._path(part)), True, "same name and operations"
        others = ("call", "if", "while", "assert", "attribute", "let")
        yield others, lambda part: (part.kind, part.name, part.operator, self._path(part)), True, "same operations"
        yield others, lambda part: (part.kind, part.name, part.operator), True, "same operations"
        yield ("loop",), lambda part: self._path(part), True, "same loop variables"
        yield ("store",), lambda part: (self._target(part), self._path(part)), False, "same buffer and loops"
        yield ("store",), lambda part: (part.operator, self._path(part)), False, "same operations and loops"
        yield ("store",), self._target, False, "same buffer"

    def _target(self, part: Part) -> Hashable:
        """Return what a store writes to: the memory that the buffer is a view of."""
        return bare_name(part.root.memory.name if part.root is not None else part.name)

    def _path(self, part: Part) -> tuple[str, ...]:
        """Return the variables of the loops around a part, and its own if it is one."""
        found = self._path_of.get(part)
        if found is None:
            around = (item.name for item in islice(ancestors(part), _DEPTH) if item.kind == "loop")
            names = tuple(around)
            found = (part.name, *names) if part.kind == "loop" else names
            self._path_of[part] = found
        return found

    def _by_key(self, kinds: tuple[str, ...], key: _KeyOf, why: str, *, is_strict: bool) -> None:
        """Match what has the same key, in order; where the counts differ, copies and what was joined are linked."""
        groups: list[defaultdict[Hashable, list[Part]]] = []
        for parts, taken in ((self._before, self._links.taken), (self._after, self._links.counterpart)):
            found: defaultdict[Hashable, list[Part]] = defaultdict(list)
            for part in parts:
                if part.kind in kinds and part not in taken:
                    found[key(part)].append(part)
            groups.append(found)
        for value, after in groups[1].items():
            before = groups[0].get(value, [])
            confidence: Confidence = "sure" if is_strict and len(before) == 1 else "likely"
            if len(before) == len(after):
                for one, other in zip(before, after, strict=True):
                    self._links.pair(one, other, confidence, why)
            elif before and is_strict:
                self._unequal(before, after, why)

    def _unequal(self, before: Sequence[Part], after: Sequence[Part], why: str) -> None:
        """Link copies to the one that they are of, and one that does the work of several to all."""
        if len(before) == 1:
            self._links.pair(before[0], after[0], "likely", why)
            for other in after[1:]:
                self._links.link(before[0], other, "likely", f"a copy: {why}")
        elif len(after) == 1:
            self._links.pair(before[0], after[0], "likely", why)
            for one in before[1:]:
                self._links.link(one, after[0], "likely", f"joined: {why}")

    def _by_operands(self) -> None:
        """Match the buffers and variables that matched statements use at the same place."""
        paired = self._links.counterpart
        queue = [(paired[part], part) for part in self._after if part in paired]
        while queue:
            before, after = queue.pop()
            one_uses, other_uses = self._memory_of(before), self._memory_of(after)
            if before.operator != after.operator or len(one_uses) != len(other_uses):
                continue
            for one, other in zip(one_uses, other_uses, strict=True):
                if self._links.pair(one, other, "likely", f"used in its place by {after.kind} {after.name}".rstrip()):
                    queue.append((one, other))

    def _memory_of(self, part: Part) -> list[Part]:
        return [item for item in part.operands if isinstance(item, Part) and item.kind in ("parameter", "buffer")]

    def _by_content(self) -> None:
        """Match what encloses matched statements, innermost first."""
        for part in reversed(self._after):
            old = self._links.counterpart.get(part)
            if old is None or part.parent is None or old.parent is None:
                continue
            one, other = old.parent, part.parent
            while one.parent is not None and one.kind != other.kind:
                one = one.parent
            if other.kind in _CONTAINERS and one.kind == other.kind:
                self._links.pair(one, other, "likely", f"around the same {part.kind}")

    def _by_loops(self) -> None:
        """Match loops that were split or fused by the names of their variables."""
        loops = {part.name: part for part in self._before if part.kind == "loop"}
        for part in self._after:
            if part.kind != "loop" or part in self._links.of:
                continue
            split = _DERIVED_LOOP.fullmatch(part.name)
            if split is not None and split[1] in loops:
                self._links.link(loops[split[1]], part, "likely", f"loop {split[1]} was split")
            elif part.name.endswith("_fused"):
                for name in part.name.removesuffix("_fused").split("_"):
                    if name in loops:
                        self._links.link(loops[name], part, "likely", f"loop {name} was fused")

    def _between_neighbours(self) -> None:
        """Match what stands alone between the same neighbours."""
        position = {part: number for number, part in enumerate(self._before)}
        free: list[Part] = []
        last = -1
        for part in (*self._after, None):
            old = self._links.counterpart.get(part) if part is not None else None
            if part is not None and (old is None or old not in position):
                if part not in self._links.of:
                    free.append(part)
                continue
            until = position[old] if old is not None else len(self._before)
            if len(free) == 1 and last < until <= last + _GAP:
                gap = [item for item in self._before[last + 1 : until] if item not in self._links.taken]
                if len(gap) == 1 and gap[0].sort == free[0].sort:
                    self._links.pair(gap[0], free[0], "guess", "same place between its neighbours")
            free, last = [], until

    def _derived(self) -> None:
        """Link what is new to what it serves: a view to its memory, a statement to what it stands in."""
        for part in self._after:
            if part in self._links.of:
                continue
            if part.kind == "buffer" and part.root is not None:
                for link in self._links.origins_of(part.root.memory):
                    self._links.link(link.before, part, "sure", f"a view of {part.root.memory.name}")
