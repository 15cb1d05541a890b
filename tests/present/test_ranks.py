"""Nodes that stand beside each other never contradict the edges, which Graphviz answers with an abort."""

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from relax_core.engine.protocol import CompareGraph, Failure, PipelineOf
from relax_core.engine.session import Session
from relax_core.present.drawings.dot import consistent
from relax_core.present.drawings.drawing import DrawEdge
from tests.engine.programs import program

Edges = list[tuple[int, int]]
_PAIR = st.integers(0, 6).flatmap(lambda least: st.tuples(st.just(least), st.integers(least + 1, 7)))
_PAIRS = st.lists(_PAIR, max_size=12)


def ranks_of(pairs: Edges) -> list[int]:
    """Return for each node the least node of its rank."""
    ranks = list(range(8))
    for _ in ranks:
        for a, b in pairs:
            ranks[a] = ranks[b] = min(ranks[a], ranks[b])
    return ranks


def is_layered(edges: Edges, ranks: list[int]) -> bool:
    """Tell whether ranks can be ordered such that every edge points down: no cycle among them."""
    below = {(ranks[a], ranks[b]) for a, b in edges}
    for middle in range(8):
        below |= {(a, d) for a, b in below for c, d in below if b == c == middle}
    return not any(a == b for a, b in below)


@given(_PAIRS, _PAIRS)
def test_what_is_kept_can_be_layered_and_what_is_not_cannot(edges: Edges, pairs: Edges) -> None:
    drawn = [DrawEdge(str(a), str(b)) for a, b in edges]
    kept = [(int(a), int(b)) for a, b in consistent([(str(a), str(b)) for a, b in pairs], drawn)]
    assert is_layered(edges, ranks_of(kept))
    for pair in pairs:
        assert pair in kept or not is_layered(edges, ranks_of([*kept, pair]))


def test_edges_that_do_not_rank_take_no_part() -> None:
    edges = [DrawEdge("a", "b", "order"), DrawEdge("a", "b", "reference", to_cluster="fn:b"), DrawEdge("a", "a")]
    assert consistent([("a", "b")], edges) == (("a", "b"),)
    assert consistent([("a", "b")], [DrawEdge("a", "b", "branch")]) == ()


def test_every_change_of_a_program_with_many_effects_is_drawn() -> None:
    """Without the rule, Graphviz ends the process at VMShapeLower: a labelled edge on a rank that edges bend."""
    session, that = Session(), program(Path(__file__).with_name("many_effects.txt").read_text(encoding="utf-8"))
    pipeline = session.request(PipelineOf(that))
    assert not isinstance(pipeline, Failure)
    stages = pipeline.stages
    assert [stage.name for stage in stages if stage.is_changed].count("VMShapeLower") == 1
    for stage in stages:
        if stage.is_changed:
            graph = session.request(CompareGraph(that, stage.index))
            assert not isinstance(graph, Failure)
            # The last pass makes the prim func of the shapes public: there is no Relax function to draw.
            assert bool(graph.svg) == (stage.name != "AttachGlobalSymbol"), graph.empty_text
