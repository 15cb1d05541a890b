"""Match the values of functions of Relax or Relay: bindings, parameters and results."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from typing import Final, TypeAlias

from relax_core.analysis.matching.links import Links
from relax_core.analysis.matching.parts import Operand, Outline, Part, ancestors, bare_name

_Key: TypeAlias = tuple[object, ...]
_VALUES: Final = ("binding", "call", "field", "tuple", "if", "match")
_PLACED: Final = ("parameter", "result", "if", "function", "match")
_OUTPUTS: Final = 8
"""To how many results a call in destination-passing style may write."""
_ROOM: Final = 16
"""How many times the size of a function may be looked at in functions that are new, once for each call."""
_COMPARED: Final = 64
"""How many parts that compute the same are compared by their names."""
_CHECKS: Final = 16
"""How many checks may stand in front of the name of the value that they check."""


def resolved(operand: Operand) -> Operand:
    """Return the value that a variable stands for: what it is bound to, if that is a variable."""
    return operand.value if isinstance(operand, Part) and operand.value is not None else operand


class ValueMatcher:
    """Matches the parts `before` and `after`, which are the same function in two stages.

    Each step looks only at what is still free. `made` are the functions that are new behind, by name: what one does is
    what was done where it is called.
    """

    def __init__(
        self, before: Sequence[Part], after: Sequence[Part], links: Links, made: Mapping[str, Outline]
    ) -> None:
        self._before, self._after = before, after
        self._links, self._made = links, made
        self._argument: dict[Part, Operand] = {}
        """What the parameters of the function stand for that is looked into."""
        self._inside: dict[Part, Part] = {}
        """The counterparts of what is in it, at this call."""
        self._by_key: defaultdict[_Key, list[Part]] = defaultdict(list)
        self._key_before: dict[Part, _Key] = {}
        self._exact: dict[tuple[_Key, str], Part] = {}
        self._taken_count: dict[_Key, int] = {}
        """How many of the first ones with a key are taken."""
        self._unmatched: frozenset[str] = frozenset()
        self._room = _ROOM * (len(after) + len(before)) + _ROOM
        self._named: dict[tuple[str, str], Part] = {}
        self._users: defaultdict[Part, list[Part]] = defaultdict(list)
        self._writer: dict[Operand, Part] = {}
        self._written_by: dict[Part, Part] = {}
        """The call that writes what a call before returned."""
        for part in before:
            if part.kind in _VALUES and part.operator != "=":
                key = (part.family, *map(resolved, part.operands))
                self._by_key[key].append(part)
                self._key_before[part] = key
                self._exact.setdefault((key, part.name), part)
                if part.name not in ("", "_"):
                    self._named[part.name, part.family] = part
        for part in after:
            for item in part.operands:
                if isinstance(item, Part):
                    self._users[item].append(part)
        for part in after:
            last = part.operands[-1] if part.operands else None
            if isinstance(last, Part) and last.family == "alloc_tensor" and not self._users[part]:
                self._writer.setdefault(last, part)

    def run(self) -> None:
        """Match by names, by structure, by users and by position, in this order."""
        self._by_names()
        self._by_names(bare_name)
        self._by_place()
        for _ in range(2):
            self._forward()
            self._by_users()
            self._by_place()
        self._in_order()
        self._by_users()
        self._derived()

    def _by_names(self, bare: Callable[[str], str] = str) -> None:
        """Match what has the same name, or the same one but for what `bare` takes away, as often as before."""
        names: list[defaultdict[tuple[str, str], list[Part]]] = []
        for parts, taken in ((self._before, self._links.taken), (self._after, self._links.counterpart)):
            found: defaultdict[tuple[str, str], list[Part]] = defaultdict(list)
            for part in parts:
                if part.is_named and part.parent is not None and part not in taken:
                    found[part.sort, bare(part.name)].append(part)
            names.append(found)
        for key, after in names[1].items():
            before = names[0].get(key, ())
            if len(before) == len(after):
                for one, other in zip(before, after, strict=True):
                    self._pair_named(one, other)

    def _pair_named(self, before: Part, after: Part) -> None:
        is_lifted = before.kind == "function" and after.kind != "function" and after.callee in self._made
        why = "same name" if before.name == after.name else "same name but for a number"
        if self._links.pair(before, after, "sure" if before.name == after.name else "likely", why) and is_lifted:
            self.adopt(before, self._made[after.callee])

    def adopt(self, before: Part, made: Outline) -> None:
        """Match a function that was local, or a part of another one, with the one that it became."""
        if not self._links.pair(before, made.function, "sure", "the local function that it was"):
            if self._links.counterpart.get(made.function) is None:
                self._links.counterpart[made.function] = before
                self._links.link(before, made.function, "sure", "the local function that it was")
            else:
                return
        for part in made.parts[1:]:
            if part.kind in ("parameter", "result"):
                # It was taken for a function that does what is done at its calls.
                self._links.of.pop(part, None)
        inner = [part for part in self._before if any(item is before for item in ancestors(part))]
        ValueMatcher(inner, made.parts[1:], self._links, self._made).run()
        captured = {part.name: part for part in self._before if part.name and part not in inner}
        for part in made.parameters:
            if part not in self._links.counterpart and part.name in captured:
                self._links.of.pop(part, None)
                self._links.link(captured[part.name], part, "sure", "captured, same name")

    def _known(self, operand: Operand) -> "Operand | None":
        """Return what an operand was before, `None` if that is not known."""
        is_inside = bool(self._argument)
        while isinstance(operand, Part):
            found = (self._inside.get(operand) if is_inside else None) or self._links.counterpart.get(operand)
            if is_inside and operand in self._argument:
                # An argument is a value of the caller, even where a function calls itself.
                operand, is_inside = self._argument[operand], False
            elif found is not None:
                return resolved(found)
            elif operand.operator != "=" or not operand.operands:
                return None
            else:
                operand = operand.operands[0]
        return operand

    def _key_of(self, part: Part, drop: int = 0) -> _Key | None:
        """Return the key of what computes the same before, `None` if an operand is not known."""
        operands: list[Operand] = []
        for item in part.operands[: len(part.operands) - drop]:
            value = self._known(item)
            if value is None:
                return None
            operands.append(value)
        return (part.family, *operands)

    def _forward(self) -> None:
        """Match what has the same operator and the same operands, in the order of evaluation."""
        for part in self._after:
            made = self._made.get(part.callee)
            if made is not None and not made.is_prim and part.operator == "call" and made.name != part.function:
                self._look_into(part, made)
            elif part not in self._links.counterpart and part.kind in _VALUES:
                self._match_value(part)

    def _match_value(self, part: Part) -> None:
        if part.operator == "=":
            writer = next((self._writer[item] for item in part.operands if item in self._writer), None)
            for item in self._returning(writer) if writer else ():
                if writer is not None and self._links.pair(item, part, "sure", "same operator and operands"):
                    self._written_by.setdefault(item, writer)
                    break
            return
        key = self._key_of(part)
        found = self._free(key, part)
        if found:
            best = next((item for item in found if item.name == part.name != "_"), found[0])
            is_sure = len(found) == 1 or (part.name == best.name and part.name not in ("", "_"))
            self._links.pair(best, part, "sure" if is_sure else "likely", "same operator and operands")
            return
        named = self._named.get((part.name, part.family))
        if named is not None and named not in self._links.taken and self._is_consistent(named, part):
            self._links.pair(named, part, "sure", "same name and operator")

    def _free(self, key: _Key | None, part: Part, own: Part | None = None) -> Sequence[Part]:
        """Return the first ones with a key that are not taken, but by `own`.

        Of functions that are numbered these are those that are called as before, if there are any.
        """
        bucket = self._by_key.get(key, ()) if key is not None else ()
        if key is None or not bucket:
            return ()
        taken, start = self._links.taken, self._taken_count.get(key, 0)
        while start < len(bucket) and bucket[start] in taken:
            start += 1
        self._taken_count[key] = start
        found = [item for item in bucket[start : start + _COMPARED] if item not in taken]
        named = self._exact.get((key, part.name))
        found += [named] if named is not None and named not in taken and named not in found else []
        found += [own] if own is not None and self._key_before.get(own) == key else []
        return [item for item in found if item.callee == part.callee] or found

    def _returning(self, part: Part) -> Sequence[Part]:
        """Return the calls that returned what `part` writes to its last operands."""
        for drop in range(1, min(_OUTPUTS, len(part.operands)) + 1):
            last = part.operands[len(part.operands) - drop]
            if not isinstance(last, Part) or last.kind == "parameter":
                break
            key = self._key_of(part, drop)
            if key is not None and (len(key) > 1 or part.callee) and key in self._by_key:
                found = self._by_key[key][:_COMPARED]
                found = [item for item in found if item.callee == part.callee] or found
                return [item for item in found if self._written_by.get(item, part) is part] or found
        return ()

    def _look_into(self, call: Part, made: Outline) -> None:
        """Match what is in a function that is new with what was done where it is called."""
        self._room -= len(made.parts)
        if self._room < 0:
            return
        self._argument = dict(zip(made.parameters, call.operands, strict=False))
        self._inside = {}
        why = f"inside @{made.name}"
        own = self._links.counterpart.get(call)
        for part in made.parts[1:]:
            if part.kind not in _VALUES:
                continue
            key = self._key_of(part)
            found = self._free(key, part, own)
            if found:
                best = next((item for item in found if item.name == part.name), found[0])
                self._inside[part] = best
                self._links.taken.setdefault(best, part)
                self._links.counterpart.setdefault(part, best)
                self._links.link(
                    best, part, "sure" if len(found) == 1 else "likely", f"same operator and operands, {why}"
                )
                self._links.link(best, call, "sure" if len(found) == 1 else "likely", why)
        for part in made.parameters:
            value = self._known(part)
            if isinstance(value, Part) and made.function not in self._links.counterpart:
                self._links.link(value, part, "sure", f"argument of @{made.name}")
        result = next((item for items in made.function.results for item in items), None)
        value = self._known(result) if result is not None else None
        if isinstance(value, Part):
            self._links.counterpart.setdefault(call, value)
            for part in made.parts if made.function not in self._links.counterpart else ():
                if part.kind == "result":
                    self._links.link(value, part, "sure", "returned")
        self._argument, self._inside = {}, {}

    def _is_consistent(self, before: Part, after: Part) -> bool:
        """Tell whether no operand of two parts is known to be another one."""
        for one, other in zip(before.operands, after.operands, strict=False):
            found, value = self._known(other), resolved(one)
            if isinstance(found, Part) and isinstance(value, Part) and found is not value:
                return False
        return True

    def _by_users(self) -> None:
        """Match what matched parts use at the same place."""
        paired = self._links.counterpart
        queue = [(paired[part], part) for part in self._after if part in paired]
        while queue:
            before, after = queue.pop()
            if not (before.kind == after.kind == "result" or before.family == after.family):
                continue
            for number, (one, other) in enumerate(zip(before.operands, after.operands, strict=False), 1):
                made = self._made.get(other[1:]) if isinstance(other, str) else None
                if made is not None and isinstance(one, Part) and one.kind == "function":
                    self.adopt(one, made)
                if isinstance(one, Part) and isinstance(other, Part) and one.sort == other.sort and one.parent:
                    user = after.name or after.family
                    words = f"operand {number} of {user}" if user else "returned"
                    if self._links.pair(one, other, "sure" if one.family == other.family else "likely", words):
                        queue.append((one, other))

    def _by_place(self) -> None:
        """Match parameters, results and what has no name by its place in what is matched."""
        children: list[defaultdict[tuple[Part, str], list[Part]]] = []
        for parts in (self._before, self._after):
            found: defaultdict[tuple[Part, str], list[Part]] = defaultdict(list)
            for part in parts:
                if part.parent is not None and part.kind in _PLACED:
                    found[part.parent, part.kind].append(part)
            children.append(found)
        for (parent, kind), after in children[1].items():
            old = self._links.counterpart.get(parent)
            before = children[0].get((old, kind), ()) if old else ()
            words = "returned" if kind == "result" else f"same place among the {kind}s"
            if len(before) == len(after):
                for one, other in zip(before, after, strict=True):
                    self._links.pair(one, other, "sure", words)

    def _in_order(self) -> None:
        """Match what computes the same in the same order, if it is as often there as before."""
        groups: list[defaultdict[tuple[object, ...], list[Part]]] = []
        for parts, taken in ((self._before, self._links.taken), (self._after, self._links.counterpart)):
            found: defaultdict[tuple[object, ...], list[Part]] = defaultdict(list)
            for part in parts:
                if part.kind in _VALUES and part.operator != "=" and part not in taken:
                    around = part.parent if parts is self._before or part.parent is None else taken.get(part.parent)
                    found[around, part.family, part.callee].append(part)
            groups.append(found)
        for key, after in groups[1].items():
            before = groups[0].get(key, ())
            if len(before) == len(after) and all(map(self._is_consistent, before, after)):
                for one, other in zip(before, after, strict=True):
                    self._links.pair(one, other, "likely", "same operator, in the same order")

    def _derived(self) -> None:
        """Link what has no counterpart to what it was made for."""
        for part in self._before:
            if part.kind == "function" and part.parent is not None and part not in self._links.taken:
                for made in self._made.values():
                    if part.name and made.name.endswith(part.name) and made.function not in self._links.counterpart:
                        self.adopt(part, made)
                        break
        for part in self._before:
            # Another name of a value is gone: what holds the value serves for it.
            if part.operator == "=" and part not in self._links.taken:
                value = resolved(part)
                found = self._links.taken.get(value) if isinstance(value, Part) else None
                if found is not None:
                    self._links.link(part, found, "sure", "another name of it")
        free = (part for part in self._before if part.kind in _VALUES and part not in self._links.taken)
        self._unmatched = frozenset(part.family for part in free)
        previous: Part | None = None
        for number, part in enumerate(self._after):
            if part not in self._links.of and part.kind in _VALUES and not self._users[part]:
                self._check(part, number) if part.family.startswith("match_") else None
                self._acts_on(part, previous) if part not in self._links.of else None
            previous = part
        for part in reversed(self._after):
            if part not in self._links.of and part.kind in _VALUES:
                self._made_for(part)

    def _check(self, part: Part, number: int) -> None:
        """Link a check of a value to the cast that it was, whose name follows it."""
        following = next(
            (item for item in islice(self._after, number + 1, number + 1 + _CHECKS) if self._is_value(item)), None
        )
        if following is not None and following.operator == "=":
            for link in self._links.origins_of(following):
                self._links.link(link.before, part, "likely", f"checks {following.name}")

    def _is_value(self, part: Part) -> bool:
        return bool(self._users[part]) or part.operator == "="

    def _acts_on(self, part: Part, previous: Part | None) -> None:
        """Link what returns nothing that is used to what it acts on, or to what it continues."""
        for item in self._returning(part):
            self._written_by.setdefault(item, part)
            self._links.link(item, part, "sure", "same function and operands")
            return
        first = next((item for item in part.operands if isinstance(item, Part)), None)
        if first is None or part.name not in ("", "_"):
            # A value that has a name and no use was added for its own sake.
            return
        if part.family == "kill":
            users = [item for item in self._users[first] if item.order < part.order and item.family != "kill"]
            for link in self._links.origins_of(users[-1] if users else first):
                self._links.link(link.before, part, "likely", f"behind the last use of {first.name}")
            return
        is_heap = _is_heap(first)
        for link in self._links.origins_of(previous if is_heap and previous else first):
            words = f"sizes of {link.before.name}" if is_heap else f"acts on {first.name}"
            self._links.link(link.before, part, "likely", words)

    def _made_for(self, part: Part) -> None:
        if _is_heap(part):
            origin = self._links.counterpart.get(part.parent) if part.parent else None
            if origin:
                self._links.link(origin, part, "likely", "made for the function")
            return
        if part.family in self._unmatched:
            # It may be one of those that were not found.
            return
        for user in self._users[part]:
            for link in self._links.origins_of(user):
                self._links.link(link.before, part, "likely", f"made for {_words_of(user)}")
            if part in self._links.of:
                break


def _words_of(part: Part) -> str:
    return part.family or "the result" if part.name in ("", "_") else part.name


def _is_heap(part: Part) -> bool:
    return part.name == "shape_heap" or part.family == "alloc_shape_heap"
