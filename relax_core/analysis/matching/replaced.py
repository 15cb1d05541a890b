"""Link what was put in the place of something else: other operators for the same result, or an equal value."""

from collections.abc import Callable, Iterator
from typing import Final

from relax_core.analysis.matching.parts import Operand, Part
from relax_core.analysis.matching.sides import Sides, resolved

_REGION: Final = 64
"""Up to how many operators may take the place of one."""
_PLAIN: Final = ("field", "tuple", "=")
"""Operators that compute nothing of their own."""


def match_replaced(sides: Sides) -> None:
    """Link what matched parts use at the places where before they used what is gone."""
    value_of = _values(sides)
    for old, new, words in _places(sides):
        if sides.is_gone(old) and sides.is_new(new):
            _link_region(sides, old, new, words)
        else:
            kept = sides.known(new)
            if isinstance(kept, Part) and kept is not old and value_of.get(kept, kept) is value_of.get(old, old):
                sides.links.link(old, sides.links.taken.get(kept, new), "sure", f"the same value, used by {words}")


def _places(sides: Sides) -> Iterator[tuple[Part, Part, str]]:
    """Yield what is at the same place of two parts that are matched, each pair of values once."""
    seen: set[tuple[Part, Part]] = set()
    for part in sides.after:
        old = sides.links.counterpart.get(part)
        if old is None:
            continue
        pairs: list[tuple[Operand, Operand]] = []
        if old.family == part.family and len(old.operands) == len(part.operands):
            pairs += zip(old.operands, part.operands, strict=True)
        if len(old.results) == len(part.results):
            for olds, news in zip(old.results, part.results, strict=True):
                pairs += zip(olds, news, strict=False)
        for one, other in pairs:
            one, other = resolved(one), resolved(other)
            if isinstance(one, Part) and isinstance(other, Part) and (one, other) not in seen:
                seen.add((one, other))
                yield one, other, part.name.strip("_") or part.family or "the result"


def _link_region(sides: Sides, old: Part, new: Part, words: str) -> None:
    """Link the operators that compute `new` to the one that computed `old` from the same values, or the reverse."""
    olds, given = _region(old, sides.is_gone)
    news, taken = _region(new, sides.is_new)
    if max(len(olds), len(news)) > _REGION:
        return
    if min(sum(item.operator.partition(" ")[0] not in _PLAIN for item in part) for part in (olds, news)) > 1:
        # Which of several became which of several is not known.
        return
    known = [sides.known(item) for item in taken]
    if any(value is None or (isinstance(value, Part) and value not in given) for value in known):
        return
    for part in news:
        for item in olds:
            sides.links.link(item, part, "likely", f"computes what {words} uses, from the same values")


def _region(root: Part, is_member: Callable[[Operand], bool]) -> tuple[list[Part], set[Operand]]:
    """Return the members that `root` is computed by, itself first, and the values that they take from elsewhere."""
    members, around = {root: None}, set[Operand]()
    queue = [root]
    for part in queue:
        for operand in map(resolved, part.operands):
            if isinstance(operand, Part) and is_member(operand):
                if operand not in members and len(members) <= _REGION:
                    members[operand] = None
                    queue.append(operand)
            elif isinstance(operand, Part):
                around.add(operand)
    return list(members), around


def _values(sides: Sides) -> dict[Operand, Operand]:
    """Return for values before the first one that is the same: an equal call, or the field that a tuple was made of."""
    value_of: dict[Operand, Operand] = {}
    first: dict[tuple[object, ...], Part] = {}
    for part, key in sides.key_before.items():
        operands = [value_of.get(item, item) for item in map(resolved, part.operands)]
        source = operands[0] if operands else None
        word, _, index = part.operator.partition(" ")
        if word == "field" and isinstance(source, Part) and source.operator == "tuple" and source.operands:
            fields = source.operands
            place = int(index)
            if place < len(fields):
                found = resolved(fields[place])
                value_of[part] = value_of.get(found, found)
                continue
        equal = first.setdefault((key[0], part.callee, part.attributes, *operands), part)
        value_of[part] = equal
    return value_of
