"""The forks of a run as a tree: each goes on from the run or from another fork, with one change more.

The address holds it as `DIGEST;NAME~PARENT~CHANGE;...`: the program that it belongs to, then for each fork its name,
the number of what it goes on from, -1 for the run itself, and its change as `views.pages.run.program` writes it.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final
from urllib.parse import quote, unquote

from relax_core.engine.programs.program import ChangeAt
from views.pages.run.program import changes_kept, changes_made, digest, given_program, read_change, written_change
from views.pages.run.state import RunState
from views.state.rules import LONGEST_LIST
from views.state.session import state

RUN: Final = -1
"""The number of the run itself, which nothing was changed in."""

Forks = tuple["Fork", ...]


@dataclass(frozen=True, slots=True)
class Fork:
    """A run that goes on from another one, with a change; one that it goes on from comes before it."""

    name: str
    parent: int
    change: ChangeAt


def forks() -> Forks:
    """Return the forks of the address; the one that is shown is one of them."""
    known, *parts = state(RunState).forks.split(";")
    found: list[Fork] = []
    for part in parts if parts and known == digest(given_program()) else ():
        name, _, rest = part.partition("~")
        parent, _, text = rest.partition("~")
        change = read_change(text)
        if change is None or not parent.removeprefix("-").isdecimal() or not RUN <= int(parent) < len(found):
            break
        found.append(Fork(unquote(name), int(parent), change))
    return with_changes(tuple(found), changes_kept())


def with_changes(tree: Forks, changes: tuple[ChangeAt, ...]) -> Forks:
    """Return the tree with the run that has these changes, and with those on the way to it."""
    parent = RUN
    for change in changes:
        known = (number for number, fork in enumerate(tree) if (fork.parent, fork.change) == (parent, change))
        number = next(known, len(tree))
        if number == len(tree):
            tree = (*tree, Fork(_free_name(tree), parent, change))
        parent = number
    return tree


def _free_name(tree: Forks) -> str:
    names = {fork.name for fork in tree}
    return next(name for number in range(1, len(tree) + 2) if (name := f"Fork {number}") not in names)


def changes_of(tree: Forks, number: int) -> tuple[ChangeAt, ...]:
    """Return all changes of a fork, the first one first; none of the run itself."""
    found: list[ChangeAt] = []
    while number != RUN:
        found.append(tree[number].change)
        number = tree[number].parent
    return tuple(reversed(found))


def shown_fork(tree: Forks) -> int:
    """Return the number of the fork that is shown, or `RUN`."""
    changes = changes_made()
    return next((number for number in range(len(tree)) if changes_of(tree, number) == changes), RUN)


def without(tree: Forks, number: int) -> Forks:
    """Return the tree without a fork and all that go on from it."""
    number_of = {RUN: RUN}
    kept: list[Fork] = []
    for old, fork in enumerate(tree):
        if old != number and fork.parent in number_of:
            number_of[old] = len(kept)
            kept.append(replace(fork, parent=number_of[fork.parent]))
    return tuple(kept)


def renamed(tree: Forks, number: int, name: str) -> Forks:
    """Return the tree with another name for a fork; an empty one leaves it as it is."""
    wanted = name.strip()[:60] or tree[number].name
    return tuple(replace(fork, name=wanted) if place == number else fork for place, fork in enumerate(tree))


def in_order(tree: Forks, parent: int = RUN, depth: int = 0) -> Iterator[tuple[int, int]]:
    """Yield the number and the depth of each fork, one behind what it goes on from."""
    for number, fork in enumerate(tree):
        if fork.parent == parent:
            yield number, depth
            yield from in_order(tree, number, depth + 1)


def written_forks(tree: Forks) -> str:
    """Write the tree for the address; what does not go there is not kept."""
    parts = [digest(given_program())]
    for fork in tree:
        parts.append(f"{quote(fork.name, safe=' ')}~{fork.parent}~{written_change(fork.change)}")
        if sum(map(len, parts)) + len(parts) > LONGEST_LIST:
            return ";".join(parts[:-1])
    return ";".join(parts) if tree else ""
