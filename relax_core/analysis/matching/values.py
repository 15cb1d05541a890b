"""Match the values of functions of Relax or Relay: bindings, parameters and results."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

from relax_core.analysis.matching.called import look_into
from relax_core.analysis.matching.derived import Derivation
from relax_core.analysis.matching.links import Links
from relax_core.analysis.matching.parts import VALUES, Operand, Outline, Part, ancestors, bare_name
from relax_core.analysis.matching.replaced import match_replaced
from relax_core.analysis.matching.sides import Sides

_PLACED: Final = ("parameter", "result", "if", "function", "match")
_TAKES: Final = ("field", "adt_field", "match_cast", "=")
"""What a variable of a pattern becomes."""
_ROOM: Final = 16
"""How many times the size of a function may be looked at in functions that are new, once for each call."""


def _made_by(made: Outline) -> Part | None:
    """Return the function that is all that a function makes and returns."""
    results = made.function.results
    kept = results[0][0] if len(results) == 1 and len(results[0]) == 1 else None
    return kept if isinstance(kept, Part) and kept.kind == "function" and kept.parent is made.function else None


def _is_pattern_variable(part: Part) -> bool:
    return part.kind == "parameter" and part.parent is not None and part.parent.kind == "match"


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
        self._sides = Sides(before, after, links, made)
        self._room = _ROOM * (len(after) + len(before)) + _ROOM

    def run(self) -> None:
        """Match by names, by structure, by users and by position, in this order."""
        self._by_names()
        self._by_names(bare_name)
        self._by_parameters()
        self._by_place()
        for _ in range(2):
            self._forward()
            self._by_users()
            self._by_place()
        self._in_order()
        self._by_users()
        match_replaced(self._sides)
        self._adopt_by_name()
        Derivation(self._sides).run()

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
        if _is_pattern_variable(before) and not (
            _is_pattern_variable(after) or after.operator.partition(" ")[0].rpartition(".")[2] in _TAKES
        ):
            return
        is_lifted = before.kind == "function" and after.kind != "function" and after.callee in self._made
        why = "same name" if before.name == after.name else "same name but for a number"
        if self._links.pair(before, after, "sure" if before.name == after.name else "likely", why) and is_lifted:
            self.adopt(before, self._made[after.callee])

    def adopt(self, before: Part, made: Outline) -> None:
        """Match a function that was local, or a part of another one, with the one that it became, or that makes it."""
        kept = _made_by(made)
        if kept is not None:
            self._adopt_kept(before, made, kept)
            return
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
        self._match_inner(before, made.parts[1:], made)

    def _adopt_kept(self, before: Part, made: Outline, kept: Part) -> None:
        """Match a local function with one that a new function of the module returns, which captures for it."""
        if self._links.counterpart.setdefault(kept, before) is before:
            self._links.link(before, kept, "sure", "the local function that it was")
            self._links.link(before, made.function, "sure", "makes the local function that it was")
            self._match_inner(before, made.parts[made.parts.index(kept) + 1 :], made)

    def _match_inner(self, before: Part, parts: Sequence[Part], made: Outline) -> None:
        inner = [part for part in self._before if any(item is before for item in ancestors(part))]
        ValueMatcher(inner, parts, self._links, self._made).run()
        captured = {part.name: part for part in self._before if part.name and part not in inner}
        for part in made.parameters:
            if part not in self._links.counterpart and part.name in captured:
                self._links.of.pop(part, None)
                self._links.link(captured[part.name], part, "sure", "captured, same name")

    def _forward(self) -> None:
        """Match what has the same operator and the same operands, in the order of evaluation."""
        for part in self._after:
            called = self._called(part)
            if called is not None:
                self._room -= len(called.parts)
                if self._room >= 0:
                    look_into(self._sides, part, called)
            elif part not in self._links.counterpart and part.kind in VALUES:
                self._match_value(part)

    def _called(self, part: Part) -> Outline | None:
        """Return the function that a call calls if it is new: one of the module, or one that is written there."""
        if part.operator == "call":
            made = self._made.get(part.callee)
            return made if made is not None and not made.is_prim and made.name != part.function else None
        first = part.operands[0] if part.operator == "closure" and part.operands else None
        if isinstance(first, Part) and first.kind == "function" and first not in self._links.counterpart:
            return self._sides.local_outline(first)
        return None

    def _match_value(self, part: Part) -> None:
        sides = self._sides
        if part.operator == "=":
            writer = next((sides.writer[item] for item in part.operands if item in sides.writer), None)
            for item in sides.returning(writer) if writer else ():
                if writer is not None and self._links.pair(item, part, "sure", "same operator and operands"):
                    sides.written_by.setdefault(item, writer)
                    break
            return
        key = sides.key_of(part)
        found = sides.free(key, part)
        if found:
            best = next((item for item in found if item.name == part.name != "_"), found[0])
            is_sure = len(found) == 1 or (part.name == best.name and part.name not in ("", "_"))
            self._links.pair(best, part, "sure" if is_sure else "likely", "same operator and operands")
            return
        named = sides.named.get((part.name, part.family))
        if named is not None and named not in self._links.taken and sides.is_consistent(named, part):
            self._links.pair(named, part, "sure", "same name and operator")

    def _by_users(self) -> None:
        """Match what matched parts use at the same place, and what matched functions and branches return."""
        paired = self._links.counterpart
        queue = [(paired[part], part) for part in self._after if part in paired]
        while queue:
            before, after = queue.pop()
            queue += self._by_results(before, after)
            if not (before.kind == after.kind == "result" or before.family == after.family):
                continue
            for number, (one, other) in enumerate(zip(before.operands, after.operands, strict=False), 1):
                made = self._made.get(other[1:]) if isinstance(other, str) else None
                if made is not None and isinstance(one, Part) and one.kind == "function":
                    self.adopt(one, made)
                if isinstance(one, Part) and isinstance(other, Part):
                    user = after.name or after.family
                    words = f"operand {number} of {user}" if user else "returned"
                    queue += [(one, other)] if self._pair_used(one, other, words) else []

    def _by_results(self, before: Part, after: Part) -> Iterator[tuple[Part, Part]]:
        """Match what two functions or two choices return; yield what was matched."""
        results = self._branches(before, after)
        if before.kind == after.kind and len(before.results) != len(results):
            return
        for olds, (news, part) in zip(before.results, results, strict=False):
            if part is not None and part not in self._links.counterpart:
                for item in (one for one in olds if isinstance(one, Part)):
                    self._links.link(item, part, "sure", "returned")
                if olds == news:
                    self._links.link(before, part, "sure", "returned, the same literal")
            for one, other in zip(olds, news, strict=False):
                if not (isinstance(one, Part) and isinstance(other, Part)):
                    continue
                is_alike = one.family == other.family or one.sort == other.sort == "if"
                made = self._made.get(other.callee) if one.kind == "function" else None
                if (is_alike or made is not None) and self._pair_used(one, other, "returned"):
                    yield one, other
                    if made is not None:
                        self.adopt(one, made)
        if before.kind == "match" and len(results) == len(before.results) + 1:
            for item in (*results[-1][0], results[-1][1]):
                if isinstance(item, Part) and item not in self._links.of:
                    self._links.link(before, item, "likely", "what is done if no pattern fits")

    def _branches(self, before: Part, after: Part) -> Sequence[tuple[tuple[Operand, ...], Part | None]]:
        """Return what the branches of `after` return, and the parts that say so, if there are any that are new.

        Tests one in the other may be the clauses of one match.
        """
        results = self._returned(after, before)
        while before.kind == "match" and after.kind == "if":
            last, part = results[-1]
            other = last[0] if len(last) == 1 else None
            if not isinstance(other, Part) or other.kind != "if" or other in self._links.counterpart:
                break
            self._links.link(before, other, "likely", "tests the next pattern")
            if part is not None:
                self._links.link(before, part, "likely", "the clauses that are left")
            results[-1:] = self._returned(other, before)
        return results

    def _returned(self, part: Part, before: Part) -> list[tuple[tuple[Operand, ...], Part | None]]:
        parts = self._sides.results_in[part] if before not in self._sides.has_results else []
        return [
            (item, parts[number] if len(parts) == len(part.results) else None)
            for number, item in enumerate(part.results)
        ]

    def _pair_used(self, one: Part, other: Part, words: str) -> bool:
        if one.sort != other.sort or not one.parent:
            return False
        return self._links.pair(one, other, "sure" if one.family == other.family else "likely", words)

    def _by_parameters(self) -> None:
        """Match functions that are written in this one by the names of their parameters."""
        for part in self._after:
            old = self._links.counterpart.get(part) if part.kind == "parameter" else None
            one, other = (old.parent if old is not None else None), part.parent
            if one is not None and other is not None and one.kind == other.kind == "function":
                self._links.pair(one, other, "sure", "same parameters") if one.parent and other.parent else None

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
                if part.kind in VALUES and part.operator != "=" and part not in taken:
                    around = part.parent if parts is self._before or part.parent is None else taken.get(part.parent)
                    found[around, part.family, part.callee].append(part)
            groups.append(found)
        for key, after in groups[1].items():
            before = groups[0].get(key, ())
            if len(before) == len(after) and all(map(self._sides.is_consistent, before, after)):
                for one, other in zip(before, after, strict=True):
                    self._links.pair(one, other, "likely", "same operator, in the same order")

    def _adopt_by_name(self) -> None:
        """Match local functions that are gone with new functions of the module whose names end in theirs."""
        for part in self._before:
            if part.kind == "function" and part.parent is not None and part not in self._links.taken:
                for made in self._made.values():
                    if part.name and made.name.endswith(part.name) and made.function not in self._links.counterpart:
                        self.adopt(part, made)
                        break
