"""The two sides of a function, before and behind a pass, and what is known of the values in them."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Final, TypeAlias

from relax_core.analysis.matching.links import Links
from relax_core.analysis.matching.parts import VALUES, Operand, Outline, Part, ancestors

Key: TypeAlias = tuple[object, ...]
_OUTPUTS: Final = 8
"""To how many results a call in destination-passing style may write."""
_COMPARED: Final = 64
"""How many parts that compute the same are compared by their names."""


def resolved(operand: Operand) -> Operand:
    """Return the value that a variable stands for: what it is bound to, if that is a variable."""
    while isinstance(operand, Part) and operand.value is not None:
        operand = operand.value
    return operand


class Sides:
    """The parts `before` and `after`, which are the same function in two stages, and the links found so far.

    `made` are the functions that are new behind, by name.
    """

    def __init__(
        self, before: Sequence[Part], after: Sequence[Part], links: Links, made: Mapping[str, Outline]
    ) -> None:
        self.before, self.after = before, after
        self.links, self.made = links, made
        self.argument: dict[Part, Operand] = {}
        """What the parameters of the function stand for that is looked into."""
        self.inside: dict[Part, Part] = {}
        """The counterparts of what is in it, at this call."""
        self.place = {part: number for number, part in enumerate(after)}
        self.users: defaultdict[Part, list[Part]] = defaultdict(list)
        self.results_in: defaultdict[Part, list[Part]] = defaultdict(list)
        """What a function or the branches of a choice return, where that is a part."""
        self.has_results = {part.parent for part in before if part.kind == "result"}
        """The functions and choices before whose results are parts."""
        self.writer: dict[Operand, Part] = {}
        """The call that writes to memory that was made for its result."""
        self.written_by: dict[Part, Part] = {}
        """The call that writes what a call before returned."""
        self.named: dict[tuple[str, str], Part] = {}
        self.key_before: dict[Part, Key] = {}
        self._by_key: defaultdict[Key, list[Part]] = defaultdict(list)
        self._exact: dict[tuple[Key, str], Part] = {}
        self._taken_count: dict[Key, int] = {}
        """How many of the first ones with a key are taken."""
        for part in before:
            if part.kind in VALUES and part.operator != "=":
                self._add(part)
        for part in after:
            if part.kind == "result" and part.parent is not None:
                self.results_in[part.parent].append(part)
            for item in part.operands:
                if isinstance(item, Part):
                    self.users[item].append(part)
        for part in after:
            last = part.operands[-1] if part.operands else None
            if isinstance(last, Part) and last.family == "alloc_tensor" and not self.users[part]:
                self.writer.setdefault(last, part)

    def _add(self, part: Part) -> None:
        key = (part.family, *map(resolved, part.operands))
        self._by_key[key].append(part)
        self.key_before[part] = key
        self._exact.setdefault((key, part.name), part)
        if part.name not in ("", "_"):
            self.named[part.name, part.family] = part

    def known(self, operand: Operand) -> "Operand | None":
        """Return what an operand was before, `None` if that is not known."""
        is_inside = bool(self.argument)
        seen: set[tuple[Part, bool]] = set()
        while isinstance(operand, Part):
            if (operand, is_inside) in seen:
                # Names that stand for each other say nothing.
                return None
            seen.add((operand, is_inside))
            found = (self.inside.get(operand) if is_inside else None) or self.links.counterpart.get(operand)
            if is_inside and operand in self.argument:
                # An argument is a value of the caller, even where a function calls itself.
                operand, is_inside = self.argument[operand], False
            elif found is not None:
                return resolved(found)
            elif operand.value is not None:
                operand = operand.value
            elif operand.operator == "match_cast" and operand.operands:
                # A cast that was put in has the value that it checks.
                operand = operand.operands[0]
            else:
                return None
        return operand

    def key_of(self, part: Part, drop: int = 0) -> Key | None:
        """Return the key of what computes the same before, `None` if an operand is not known."""
        operands: list[Operand] = []
        for item in part.operands[: len(part.operands) - drop]:
            value = self.known(item)
            if value is None:
                return None
            operands.append(value)
        return (part.family, *operands)

    def free(self, key: Key | None, part: Part, own: Part | None = None) -> Sequence[Part]:
        """Return the first ones with a key that are not taken, but by `own`.

        Of functions that are numbered these are those that are called as before, and of calls that differ in
        attributes those with the attributes of `part`, if there are any.
        """
        bucket = self._by_key.get(key, ()) if key is not None else ()
        if key is None or not bucket:
            return ()
        taken, start = self.links.taken, self._taken_count.get(key, 0)
        while start < len(bucket) and bucket[start] in taken:
            start += 1
        self._taken_count[key] = start
        found = [item for item in bucket[start : start + _COMPARED] if item not in taken]
        named = self._exact.get((key, part.name))
        found += [named] if named is not None and named not in taken and named not in found else []
        found += [own] if own is not None and self.key_before.get(own) == key else []
        found = [item for item in found if item.callee == part.callee] or found
        return [item for item in found if item.attributes == part.attributes] or found

    def returning(self, part: Part) -> Sequence[Part]:
        """Return the calls that returned what `part` writes to its last operands."""
        for drop in range(1, min(_OUTPUTS, len(part.operands)) + 1):
            last = part.operands[len(part.operands) - drop]
            if not isinstance(last, Part) or last.kind == "parameter":
                break
            key = self.key_of(part, drop)
            if key is not None and (len(key) > 1 or part.callee) and key in self._by_key:
                found = self._by_key[key][:_COMPARED]
                found = [item for item in found if item.callee == part.callee] or found
                return [item for item in found if self.written_by.get(item, part) is part] or found
        return ()

    def is_consistent(self, before: Part, after: Part) -> bool:
        """Tell whether no operand of two parts is known to be another one."""
        for one, other in zip(before.operands, after.operands, strict=False):
            found, value = self.known(other), resolved(one)
            if isinstance(found, Part) and isinstance(value, Part) and found is not value:
                return False
        return True

    def is_gone(self, part: Operand) -> bool:
        """Tell whether an operand is a value before that nothing behind is known to be."""
        return isinstance(part, Part) and part.kind in VALUES and part not in self.links.taken

    def is_new(self, part: Operand) -> bool:
        """Tell whether an operand is a value behind of which nothing is known."""
        return isinstance(part, Part) and part.kind in VALUES and part not in self.links.of

    def local_outline(self, function: Part) -> Outline:
        """Return the parts of a function that is written in the one behind, itself first."""
        parts = parts_within(function, self.after, self.place[function])
        return Outline(function.name, parts, {}, frozenset(), is_prim=False)

    @cached_property
    def local_functions(self) -> Mapping[Key, Sequence[tuple[Part, ...]]]:
        """The parts of each function that is written in the one before, by what is the same for all that are alike."""
        found: defaultdict[Key, list[tuple[Part, ...]]] = defaultdict(list)
        for number, part in enumerate(self.before):
            if part.kind == "function" and part.parent is not None:
                parts = parts_within(part, self.before, number)
                found[shape_of(parts)].append(parts)
        return found


def parts_within(function: Part, parts: Sequence[Part], start: int) -> tuple[Part, ...]:
    """Return the parts of a function that stands at `start` among others, itself first."""
    end = start + 1
    while end < len(parts) and any(item is function for item in ancestors(parts[end])):
        end += 1
    return tuple(parts[start:end])


def shape_of(parts: Sequence[Part]) -> Key:
    """Return what parts are that have the same kinds, operators and names, wherever they stand."""
    return tuple((part.kind, part.family, part.name if part.kind == "parameter" else "") for part in parts)
