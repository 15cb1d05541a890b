"""Match two modules: each part of the second with what it stems from in the first."""

import re
from collections import defaultdict
from collections.abc import Collection, Hashable, Mapping
from typing import Final

from relax_core.analysis.matching.links import Links
from relax_core.analysis.matching.parts import VALUES, Outline, Part, family_of, plain_name
from relax_core.analysis.matching.statements import StatementMatcher
from relax_core.analysis.matching.values import ValueMatcher

_HALF: Final = re.compile(r"(.+)_(?:kernel|compute|device)(?:_\d+)?_?")
"""The name of what SplitHostDevice takes out of a function."""


def match_outlines(
    before: Mapping[str, Outline], after: Mapping[str, Outline], kept: Collection[str] = ()
) -> Links:  # fmt: skip
    """Link the functions of two modules and all parts of them.

    `after` may leave out functions that did not change: they are named in `kept`.
    """
    links = Links()
    _pair_functions(before, after, kept, links)
    fresh = {name: item for name, item in after.items() if item.function not in links.counterpart}
    copies = _copies(before, after, fresh, links)
    made = {name: item for name, item in fresh.items() if name not in copies}
    for outline in after.values():
        old = links.counterpart.get(outline.function)
        found = before.get(old.function) if old is not None and old.parent is None else None
        if found is None:
            continue
        if outline.is_prim and found.is_prim:
            StatementMatcher(found.parts[1:], outline.parts[1:], links).run()
        elif not found.is_prim and not outline.is_prim:
            ValueMatcher(found.parts, outline.parts, links, made).run()
        elif outline.is_prim:
            _match_fused(found, outline, before, links)
    for name, whole in copies.items():
        _match_copy(whole, fresh[name], made, links)
    for outline in made.values():
        _match_half(outline, before, links)
    _link_callees(after, links, _link_held(after, made, links))
    return links


def _pair_functions(
    before: Mapping[str, Outline], after: Mapping[str, Outline], kept: Collection[str], links: Links
) -> None:
    """Pair functions by name, then those that were given another one by what is in them."""
    for name, outline in after.items():
        if name in before:
            links.pair(before[name].function, outline.function, "sure", "same name")
    gone = [item for name, item in before.items() if name not in after and name not in kept]
    fresh = [item for name, item in after.items() if name not in before]
    if not (gone and fresh):
        return
    spelt = {plain_name(item.name): item for item in gone}
    for item in fresh:
        if plain_name(item.name) in spelt:
            links.pair(spelt[plain_name(item.name)].function, item.function, "sure", "same name but for its spelling")
    bodies: defaultdict[Hashable, list[Outline]] = defaultdict(list)
    for item in gone:
        bodies[_body(item)].append(item)
    for item in fresh:
        found = bodies.get(_body(item), ())
        for old in found:
            is_sure = len(found) == 1
            if links.pair(old.function, item.function, "sure" if is_sure else "likely", "another name, same body"):
                break


def _body(outline: Outline) -> Hashable:
    """Return what is the same for functions that differ in names only."""
    rows: list[Hashable] = []
    for part in outline.parts[1:]:
        operands = tuple(item.order if isinstance(item, Part) else item for item in part.operands)
        rows.append((part.kind, part.operator, part.callee, operands, part.parent.order if part.parent else -1))
    return outline.is_prim, tuple(rows)


def _copies(
    before: Mapping[str, Outline], after: Mapping[str, Outline], fresh: Mapping[str, Outline], links: Links
) -> dict[str, Outline]:
    """Return what new functions are copies of, such as one for each type that a function is called with.

    A copy has the name but for a number, the names of the parameters, and takes calls over: there are no more of them.
    """
    wholes = {(family_of(name), _parameter_names(item)): item for name, item in before.items() if not item.is_prim}
    found: dict[str, Outline] = {}
    for name, outline in fresh.items():
        family = family_of(name)
        whole = wholes.get((family, _parameter_names(outline))) if not outline.is_prim else None
        counts = [
            (_call_count(before[old.function], family), _call_count(item, family))
            for item in after.values()
            if (old := links.counterpart.get(item.function)) is not None and family_of(item.name) != family
        ]
        if whole is not None and any(old for old, _ in counts) and all(old == new for old, new in counts):
            found[name] = whole
    return found


def _parameter_names(outline: Outline) -> tuple[str, ...]:
    return tuple(part.name for part in outline.parameters)


def _call_count(outline: Outline, family: str) -> int:
    return sum(bool(part.callee) and family_of(part.callee) == family for part in outline.parts)


def _match_copy(whole: Outline, copy: Outline, made: Mapping[str, Outline], links: Links) -> None:
    """Link a copy of a function to it, part by part."""
    own = Links()
    own.pair(whole.function, copy.function, "sure", f"a copy of @{whole.name}")
    ValueMatcher(whole.parts, copy.parts, own, made).run()
    for part in copy.parts:
        for link in own.origins_of(part):
            links.link(link.before, part, link.confidence, link.why)


def _match_half(outline: Outline, before: Mapping[str, Outline], links: Links) -> None:
    """Link what was taken out of a prim func to run on a device to the statements that it was."""
    named = _HALF.fullmatch(outline.name)
    whole = before.get(named[1]) if named is not None and outline.is_prim else None
    if whole is None or not whole.is_prim:
        return
    links.link(whole.function, outline.function, "sure", f"the part of @{whole.name} that runs on the device")
    own = Links()
    StatementMatcher(whole.parts[1:], outline.parts[1:], own).run()
    for part, found in own.of.items():
        for link in found.values():
            links.link(link.before, part, link.confidence, link.why)


def _match_fused(old: Outline, new: Outline, before: Mapping[str, Outline], links: Links) -> None:
    """Link the statements of a prim func to the calls of the function that it was, whose prim funcs it joins."""
    found: dict[Part, Part] = {}
    for call in old.parts:
        called = before.get(call.callee)
        if called is None or not called.is_prim:
            continue
        own = Links()
        memory = {part.name for part in called.parts if part.kind == "buffer"}
        free = [part for part in new.parts[1:] if part not in found and _is_statement(part, memory)]
        StatementMatcher(called.parts[1:], free, own).run()
        found |= {part: call for part in free if part in own.of}
    for part in reversed(new.parts[1:]):
        # What is around a statement was around it before.
        if part in found and part.parent is not None and part.parent.kind == "loop":
            found[part.parent] = found[part]
    for part, call in found.items():
        links.link(call, part, "likely", f"statement of @{call.callee}")
    for part in new.parts[1:]:
        if part not in found:
            links.link(old.function, part, "likely", f"part of @{new.name}")


def _is_statement(part: Part, memory: Collection[str]) -> bool:
    """Tell whether a part of a fused function may come from a prim func with the buffers `memory` of its own."""
    return part.name in memory if part.kind == "buffer" else part.kind not in ("parameter", "loop")


def _link_held(after: Mapping[str, Outline], made: Mapping[str, Outline], links: Links) -> frozenset[str]:
    """Link new functions to what the data stem from that stand for them, and are named by them; return their names."""
    found: set[str] = set()
    held = {name for name, item in made.items() if not item.is_prim and item.function not in links.of}
    for part in (part for item in after.values() if held and not item.is_prim for part in item.parts):
        # Operators have names with dots: `relax.nn.log_softmax` holds no function `softmax`.
        is_data = part.kind in VALUES and not part.callee and "." not in part.operator
        words = part.operator.split("_") if is_data and part not in links.counterpart else ()
        for name in ("_".join(words[start:]) for start in range(1, len(words))):
            if name in held:
                found.add(name)
                links.made[name] = made[name].function
                for link in links.origins_of(part):
                    links.link(link.before, made[name].function, "likely", f"the function that {part.operator} holds")
    return frozenset(found)


def _link_callees(after: Mapping[str, Outline], links: Links, known: Collection[str]) -> None:
    """Link functions without a counterpart to what the calls of them stem from."""
    for outline in after.values():
        for part in outline.parts if not outline.is_prim else ():
            made = after.get(part.callee) if part.callee else None
            if made is None or made.name in known or made.function in links.counterpart:
                continue
            if made.name not in links.made and made.function in links.of:
                continue
            links.made[made.name] = made.function
            for link in links.origins_of(part):
                links.link(link.before, made.function, link.confidence, f"called by {part.name or part.family}")
