"""The structural comparison of two modules as rows."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from relax_core.analysis.matching.logged import logged_links
from relax_core.analysis.matching.modules import match_outlines
from relax_core.analysis.matching.outlines import outline_of
from relax_core.analysis.matching.parts import Part
from relax_core.analysis.matching.structure import ChangeKind, StructureChange, StructureSide, structure_changes
from relax_core.check.infer import infer
from relax_core.ir.equality import first_difference
from relax_core.ir.expr import MatchCast, VarBinding
from relax_core.ir.module import IRModule
from relax_core.ir.node import Node
from relax_core.ir.relay import Let
from relax_core.ir.rewriting.rewrite import RewriteLog
from relax_core.present.models import Structure, StructureRow
from relax_core.present.words import type_text

_KINDS: Final[tuple[ChangeKind, ...]] = ("changed", "added", "removed", "moved", "renamed")
_ROWS: Final = 2000


@dataclass(frozen=True, slots=True, eq=False)
class StructureText:
    """One of two modules: where its nodes stand in its text, and their ids, empty for none."""

    module: IRModule
    line_of: Callable[[Node], int] = lambda node: node.span.line if node.span is not None else 0
    id_of: Callable[[Node], str] = lambda _: ""


def structure(before: StructureText, after: StructureText, log: RewriteLog | None = None) -> Structure:
    """Compare two modules part by part: by what `log` recorded, or else by what matches."""
    old, new = _side(before.module), _side(after.module)
    pair = old.outlines, new.outlines
    changes = structure_changes(old, new, match_outlines(*pair) if log is None else logged_links(*pair, log))
    rows = [_row(item, before, after) for item in changes[:_ROWS]]
    count = Counter(item.kind for item in changes)
    is_same = all(item.kind == "renamed" and item.part.parent is not None for item in changes)
    difference = first_difference(before.module, after.module) if is_same else None
    if difference is not None:
        # What is in no function: attributes of the module, its devices, types of data.
        words = (f"{difference.path}: {difference.message}",)
        rows.append(StructureRow("changed", "module", "", after.module.name, words))
        count["changed"] += 1
        is_same = False
    counts = tuple((kind, count[kind]) for kind in _KINDS if count[kind])
    return Structure(tuple(rows), counts, _conclusion(counts, is_same=is_same), is_same)


def _side(module: IRModule) -> StructureSide:
    types = infer(module).types

    def text(node: Node) -> str:
        return type_text(types.get(node.var if isinstance(node, VarBinding | MatchCast | Let) else node))

    return StructureSide({item.var.name: outline_of(item) for item in module}, text)


def _conclusion(counts: tuple[tuple[str, int], ...], *, is_same: bool) -> str:
    if not counts:
        return "no structural change"
    if is_same:
        return "no structural change: only names differ"
    return ", ".join(f"{count:,} {kind}" for kind, count in counts)


def _row(change: StructureChange, before: StructureText, after: StructureText) -> StructureRow:
    part, old, new = change.part, change.before, change.after
    return StructureRow(
        change.kind,
        part.kind,
        part.function,
        _name(old, new),
        change.details,
        before.line_of(old.node) if old is not None else 0,
        after.line_of(new.node) if new is not None else 0,
        after.id_of(new.node) if new is not None else "",
        before.id_of(old.node) if old is not None else "",
        change.confidence,
    )


def _name(old: Part | None, new: Part | None) -> str:
    names = [_words(part) for part in (old, new) if part is not None]
    return " → ".join(dict.fromkeys(names))


def _words(part: Part) -> str:
    name = f"@{part.name}" if part.parent is None else part.name
    return name or part.callee or part.operator
