"""Link what has no counterpart to what it was made for."""

import re
from collections.abc import Iterator
from itertools import islice
from typing import Final

from relax_core.analysis.matching.parts import VALUES, Operand, Part, ancestors
from relax_core.analysis.matching.sides import Sides, resolved

_CHECKS: Final = 16
"""How many checks may stand in front of the name of the value that they check."""
_CONTEXT: Final = re.compile(
    r"ErrorContext\((?:fn=(?P<function>.*?), loc=(?:param\[(?P<param>\d+)\]|return)|match_cast), "
)
"""What a check of the virtual machine says of what it checks."""
_BEGINS: Final = "compiler_begin"
"""An annotation of what uses it, not of the value that it is put around."""
_ROUNDS: Final = 2
"""What a branch computes is for the choice, which stands before it."""


class Derivation:
    """Links the parts behind that no part before became: memory, sizes, checks, and what serves a matched part."""

    def __init__(self, sides: Sides) -> None:
        self._sides, self._links, self._users = sides, sides.links, sides.users
        free = (part for part in sides.before if part.kind in VALUES and part not in self._links.taken)
        self._unmatched = frozenset(part.family for part in free)

    def run(self) -> None:
        self._other_names()
        self._casts()
        self._results()
        previous: Part | None = None
        for number, part in enumerate(self._sides.after):
            if part not in self._links.of and part.kind in VALUES and not self._users[part]:
                self._check(part, number)
                self._acts_on(part, number, previous) if part not in self._links.of else None
            previous = part
        for _ in range(_ROUNDS):
            for part in reversed(self._sides.after):
                if part not in self._links.of:
                    self._made_for(part)

    def _other_names(self) -> None:
        """Link other names of a value to what holds the value, where one of the two is gone."""
        for part in self._sides.before:
            if part.kind == "binding" and _is_around(part) and part not in self._links.taken:
                value = _within(part)
                found = self._links.taken.get(value) if isinstance(value, Part) else None
                if found is not None:
                    self._links.link(part, found, "sure", "another name of it")
        for part in self._sides.after:
            # The name may have stood for the value in an annotation, which is gone.
            old = self._links.counterpart.get(part)
            value = _within(old) if old is not None and old.operator != "=" else None
            if isinstance(value, Part) and value not in self._links.taken and value.family == part.family:
                self._links.link(value, part, "sure", "the value that had an annotation around it")

    def _casts(self) -> None:
        """Link casts and annotations that were put in to the values that they are put around."""
        for part in self._sides.after:
            if part in self._links.of or not part.operands:
                continue
            first = part.operands[0]
            is_around = part.value is first and part.operator != "=" and part.family != _BEGINS
            if isinstance(first, Part) and (is_around or part.operator == "match_cast"):
                self._link_all(part, first, "checks" if part.operator == "match_cast" else "annotates")

    def _results(self) -> None:
        """Link what a function or a branch returns to what it returned, where that is no part of its own."""
        for part in self._sides.after:
            if part.kind == "result" and part not in self._links.of:
                for item in part.operands:
                    for link in self._links.origins_of(item) if isinstance(item, Part) else ():
                        self._links.link(link.before, part, link.confidence, "returned")

    def _check(self, part: Part, number: int) -> None:
        """Link a check to what it says that it checks, else to the cast that it was, whose name follows it."""
        context = next(
            (found for item in part.operands if isinstance(item, str) and (found := _CONTEXT.match(item))), None
        )
        if context is None:
            if part.family.startswith("match_"):
                self._link_all(part, self._cast_behind(part, number), "checks")
        elif context["param"] is not None:
            top = self._top(part)
            params = [item for item in self._sides.after if item.kind == "parameter" and item.parent is top]
            place = int(context["param"])
            self._link_all(part, params[place] if place < len(params) else None, "checks")
        elif context["function"] is not None:
            top = self._top(part)
            result = next((item for item in self._sides.after if item.kind == "result" and item.parent is top), None)
            self._link_all(part, result, "checks")
        else:
            self._link_all(part, self._cast_behind(part, number), "checks")

    def _top(self, part: Part) -> Part | None:
        return next((item for item in ancestors(part) if item.parent is None), None)

    def _cast_behind(self, part: Part, number: int) -> Part | None:
        """Return the cast, or the other name of a value, that follows a check of it."""
        checked = next((self._whole(item) for item in part.operands), None)
        for item in islice(self._sides.after, number + 1, number + 1 + _CHECKS):
            if item.operator in ("=", "match_cast"):
                if item.operator == "match_cast" and self._whole(item.operands[0]) is checked:
                    return item
                return item if item.operator == "=" and resolved(item) is checked else None
        return None

    def _whole(self, operand: Operand) -> Operand:
        """Return the value that a field is taken of."""
        operand = resolved(operand)
        while isinstance(operand, Part) and operand.operator.startswith("field ") and self._sides.is_new(operand):
            operand = resolved(operand.operands[0])
        return operand

    def _link_all(self, part: Part, served: Part | None, words: str) -> None:
        """Link a part to all that another part stems from."""
        for link in self._links.origins_of(served) if served is not None else ():
            self._links.link(link.before, part, "likely", f"{words} {_words_of(served or part)}")

    def _acts_on(self, part: Part, number: int, previous: Part | None) -> None:
        """Link what returns nothing that is used to what it acts on, or to what it continues."""
        for item in self._sides.returning(part):
            self._sides.written_by.setdefault(item, part)
            self._links.link(item, part, "sure", "same function and operands")
            return
        for item in self._written(part):
            self._link_all(part, item, "writes")
        first = next((item for item in part.operands if isinstance(item, Part)), None)
        if part in self._links.of or first is None or part.name not in ("", "_"):
            # A value that has a name and no use was added for its own sake.
            return
        if part.family == "kill":
            users = [item for item in self._users[first] if item.order < part.order and item.family != "kill"]
            for link in self._links.origins_of(users[-1] if users else first):
                self._links.link(link.before, part, "likely", f"behind the last use of {first.name}")
        elif is_heap(first):
            self._sizes(part, number, previous)
        elif first.kind != "function":
            self._link_all(part, first, "acts on")

    def _sizes(self, part: Part, number: int, previous: Part | None) -> None:
        """Link what computes sizes to the check that gave them names, else to what uses them next."""
        following = next(iter(self._sides.after[number + 1 : number + 2]), None)
        served = previous if previous is not None and previous in self._links.of else following
        for link in self._links.origins_of(served) if served is not None else ():
            self._links.link(link.before, part, "likely", f"sizes of {link.before.name}")

    def _written(self, part: Part) -> Iterator[Part]:
        """Yield the values whose memory a call writes to, which its last operand is or holds."""
        last = resolved(part.operands[-1]) if part.operands else None
        fields = last.operands if isinstance(last, Part) and last.operator == "tuple" else (last,)
        for item in map(resolved, (field for field in fields if field is not None)):
            if isinstance(item, Part) and item.family == "alloc_tensor":
                yield from (user for user in self._users[item] if user.order > part.order and user in self._links.of)

    def _made_for(self, part: Part) -> None:
        """Link a part to what uses it, or else to what it stands in."""
        if is_heap(part):
            self._link_heap(part)
            return
        if part.kind in VALUES or part.kind == "function":
            if self._may_be_another(part):
                return
            for user in self._users[part]:
                if not self._takes_a_place(part, user):
                    self._serve(part, user)
                if part in self._links.of:
                    return
        around = part.parent
        if around is None or around.parent is None or around in self._links.counterpart:
            return
        if part.kind == "result" or (part.kind in VALUES and around.kind == "function"):
            self._link_all(part, around, "part of")

    def _link_heap(self, part: Part) -> None:
        origin = self._links.counterpart.get(part.parent) if part.parent else None
        if origin:
            self._links.link(origin, part, "likely", "made for the function")

    def _may_be_another(self, part: Part) -> bool:
        """Tell whether a part may be one before that was not found, so that nothing is said of it."""
        is_new_field = part.operator.startswith("field ") and self._sides.key_of(part) is not None
        return part.family in self._unmatched and not is_new_field

    def _serve(self, part: Part, user: Part) -> None:
        for link in self._links.origins_of(user):
            served, around = link.before, link.before.parent
            if served.kind == "parameter" and around is not None and around.kind == "match":
                # What leads to a variable of a pattern is a part of the match.
                served = around
            self._links.link(served, part, "likely", f"made for {_words_of(user)}")

    def _takes_a_place(self, part: Part, user: Part) -> bool:
        """Tell whether a user that is matched had something else where it uses a part: that is not made for it."""
        old = self._links.counterpart.get(user)
        if old is None or old.family != user.family:
            return False
        places = [number for number, item in enumerate(user.operands) if item is part]
        return any(
            number < len(old.operands) and self._sides.is_gone(resolved(old.operands[number])) for number in places
        )


def _is_around(part: Part) -> bool:
    """Tell whether a part is another name for a value, or an annotation of it."""
    return part.value is not None and part.value in part.operands[:1]


def _within(operand: Operand) -> Operand:
    """Return the value that has names and annotations around it."""
    while isinstance(operand, Part) and operand.value is not None and _is_around(operand):
        operand = operand.value
    return operand


def _words_of(user: Part) -> str:
    return user.family or "the result" if user.name in ("", "_") else user.name


def is_heap(part: Part) -> bool:
    """Tell whether a part is the shape heap of a function."""
    return part.name == "shape_heap" or part.family == "alloc_shape_heap"
