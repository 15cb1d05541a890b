"""The modules that a layer was made of, as far as the names of its weights tell.

Weights whose names begin alike, such as `attn_q` and `attn_out`, are those of one module. What comes of a binding that
uses one of them, and leads to such a binding, is in it. Where other weights are used in between, the names tell of no
module: `norm_in` and `norm_out` are two norms.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Final, TypeAlias

from relax_core.analysis.layers.repeats import Repeat

Modules: TypeAlias = tuple[tuple[str, ...], ...]
"""For each binding the modules that it is in."""
_PIECES: Final = re.compile(r"[^_.]+")
_FEWEST_WEIGHTS, _FEWEST_BINDINGS = 2, 2


def modules_of(
    copies: Sequence[str], repeat: Repeat, uses: Sequence[Sequence[int]], outer: Sequence[Sequence[str]]
) -> tuple[Modules, ...]:
    """Return for each copy of a layer, and each binding of it, the modules that it is in, the outermost first.

    Args:
        copies: what each is called, such as `layers_3`. Weights with other names are not its own.
        repeat: where they are.
        uses: for each binding of the function the places of the bindings that it uses.
        outer: for each binding the names of what it uses from outside the bindings.
    """
    known: dict[tuple[tuple[str, ...], ...], Modules] = {}
    found: list[Modules] = []
    for number, copy in enumerate(copies):
        first = repeat.start + number * repeat.length
        places = range(first, first + repeat.length)
        names = tuple(_own_names(copy, outer[place]) for place in places)
        if names not in known:
            # What a copy uses of the one before it is no part of it.
            within = [[used - first for used in uses[place] if used >= first] for place in places]
            # All else that a binding uses comes from other copies, or is no weight of this one.
            counted = zip(places, names, within, strict=True)
            foreign = [len(uses[place]) - len(own) - len(used) for place, own, used in counted]
            known[names] = _modules(_passed_on(names, within, foreign), within)
        found.append(known[names])
    return tuple(found)


def _passed_on(
    weights: Sequence[tuple[str, ...]], uses: Sequence[Sequence[int]], foreign: Sequence[int]
) -> list[tuple[str, ...]]:
    """Let what computes with weights alone, such as a transposition, stand for them where it is used."""
    passed: list[tuple[str, ...]] = []
    is_weight: list[bool] = []
    for own, used, others in zip(weights, uses, foreign, strict=True):
        passed.append((*own, *(name for place in used if is_weight[place] for name in passed[place])))
        is_weight.append(not others and bool(passed[-1]) and all(is_weight[place] for place in used))
    return passed


def _modules(weights: Sequence[Sequence[str]], uses: Sequence[Sequence[int]]) -> Modules:
    """Find the modules of a layer, given the weights and the bindings that each binding uses."""
    paths: list[tuple[str, ...]] = [()] * len(weights)
    sizes: dict[tuple[str, ...], int] = {(): len(weights)}
    for name in _shared_beginnings({name for names in weights for name in names}):
        members = _between({place for place, names in enumerate(weights) if _has(names, name)}, uses)
        around = {paths[place] for place in members}
        # A module that is within another one is so with all that is in it.
        if len(around) > 1 or not all(_has_only(weights[place], name) for place in members):
            continue
        outside = around.pop()
        if _FEWEST_BINDINGS <= len(members) < sizes[outside]:
            sizes[(*outside, name)] = len(members)
            for place in members:
                paths[place] = (*outside, name)
    return tuple(_relative(path) for path in paths)


def _own_names(copy: str, names: Sequence[str]) -> tuple[str, ...]:
    """Return the names of the weights of a copy without what they are all called by."""
    return tuple(
        name[len(copy) + 1 :] for name in names if name.startswith(copy) and name[len(copy) :][:1] in ("_", ".")
    )


def _shared_beginnings(names: set[str]) -> Iterator[str]:
    """Yield what several names begin with, up to a piece that differs; the shorter ones first."""
    below: dict[str, set[str]] = defaultdict(set)
    for name in names:
        for piece in _PIECES.finditer(name):
            below[name[: piece.end()]].add(name)
    longest: dict[frozenset[str], str] = {}
    for start in sorted(below, key=lambda start: (len(start), start)):
        longest[frozenset(below[start])] = start
    for alike, start in longest.items():
        if _FEWEST_WEIGHTS <= len(alike) < len(names):
            yield start


def _begins(name: str, start: str) -> bool:
    return name.startswith(start) and name[len(start) :][:1] in ("_", ".", "")


def _has(names: Sequence[str], start: str) -> bool:
    return any(_begins(name, start) for name in names)


def _has_only(names: Sequence[str], start: str) -> bool:
    return all(_begins(name, start) for name in names)


def _between(seeds: set[int], uses: Sequence[Sequence[int]]) -> set[int]:
    """Return the places that come from a seed and lead to one, seeds included."""
    come = set(seeds)
    for place, used_here in enumerate(uses):
        if any(used in come for used in used_here):
            come.add(place)
    lead = set(seeds)
    for place in reversed(range(len(uses))):
        if place in lead:
            lead.update(used for used in uses[place] if used in come)
    return come & lead


def _relative(path: tuple[str, ...]) -> tuple[str, ...]:
    """Return the names of modules without those around them."""
    return tuple(name[len(outer) + 1 :] if outer else name for outer, name in zip(("", *path), path, strict=False))
