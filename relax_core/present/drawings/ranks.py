"""Choose rank constraints that do not contradict the edges of a drawing."""

from collections import defaultdict
from collections.abc import Iterable

from relax_core.present.drawings.drawing import DrawEdge

Pair = tuple[str, str]


def consistent(pairs: Iterable[Pair], edges: Iterable[DrawEdge]) -> tuple[Pair, ...]:
    """Return the pairs that can all hold in a drawing in which every edge points down, in order.

    Nodes of one rank are merged; a pair that would close a cycle among the merged nodes is dropped. Graphviz aborts on
    some drawings with a labelled edge within a rank whose nodes are ordered by other edges.

    Complexity: linear in the edges for each pair.
    """
    ranks = _Ranks(edges)
    return tuple(pair for pair in pairs if ranks.join(*pair))


class _Ranks:
    """The edges between merged nodes."""

    def __init__(self, edges: Iterable[DrawEdge]) -> None:
        self._rank_of: dict[str, str] = {}
        self._below: defaultdict[str, set[str]] = defaultdict(set)
        for edge in edges:
            # As in the DOT text, where other edges have constraint=false.
            if edge.kind != "order" and not edge.to_cluster and edge.source != edge.target:
                self._below[edge.source].add(edge.target)

    def join(self, a: str, b: str) -> bool:
        """Merge two nodes unless one reaches the other."""
        one, other = self._find(a), self._find(b)
        if one == other:
            return True
        if self._leads(one, other) or self._leads(other, one):
            return False
        self._rank_of[other] = one
        self._below[one] |= self._below.pop(other, set())
        return True

    def _find(self, key: str) -> str:
        while key in self._rank_of:
            key = self._rank_of[key]
        return key

    def _leads(self, start: str, end: str) -> bool:
        seen, rest = {start}, [start]
        while rest:
            for key in self._below.get(rest.pop(), ()):
                rank = self._find(key)
                if rank == end:
                    return True
                if rank not in seen:
                    seen.add(rank)
                    rest.append(rank)
        return False
