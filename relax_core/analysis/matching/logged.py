"""Links of two stages of a pipeline that recorded what it made of what."""

from collections import defaultdict
from collections.abc import Iterable, Mapping

from relax_core.analysis.matching.links import Links
from relax_core.analysis.matching.parts import Outline, Part
from relax_core.ir.node import Node
from relax_core.ir.rewriting.rewrite import RewriteLog

_RECORDED = "recorded by the pass"


def logged_links(before: Mapping[str, Outline], after: Mapping[str, Outline], log: RewriteLog) -> Links:
    """Link the parts of a module to those that they stem from, by what the pass recorded.

    What is the same node, or has the same name and operator in the same function, takes precedence over what a part
    stems from besides. A part that the log does not lead from is linked to nothing.
    """
    links = Links()
    part_of = {node: part for outline in before.values() for node, part in outline.part_of.items()}
    nodes_of: defaultdict[Part, list[Node]] = defaultdict(list)
    for outline in after.values():
        if outline.name in before:
            links.pair(before[outline.name].function, outline.function, "sure", "same name")
        for node, part in outline.part_of.items():
            nodes_of[part].append(node)
    parts = [part for outline in after.values() for part in outline.parts]
    for part in parts:
        _pair(part, (part_of[node] for node in nodes_of[part] if node in part_of), links)
    for part in parts:
        if part not in links.counterpart:
            found = [part_of[node] for node in log.ancestry_of(nodes_of[part]) if node in part_of]
            found.sort(
                key=lambda old: (old.function, old.name, old.operator) != (part.function, part.name, part.operator)
            )
            _pair(part, found, links)
            if found and part not in links.counterpart and part.parent is None:
                links.link(found[0], part, "sure", _RECORDED)
    return links


def _pair(part: Part, found: Iterable[Part], links: Links) -> None:
    for old in found:
        if old.sort == part.sort and links.pair(old, part, "sure", _RECORDED):
            return
