"""Long programs: what is shown of them stays small, and the same as for short ones."""

from collections import Counter

from relax_core.engine.protocol import PipelineOf, Program, StageOf
from relax_core.engine.session import Session
from relax_core.present.diffs.diff import diff_texts, line_counts
from relax_core.present.drawings.graph import function_graph
from relax_core.present.models import DiffSide, Graph
from tests.counting import lines_of
from tests.engine.asking import ask
from tests.present.programs import facts_of, parsed


def chain(count: int) -> str:
    lines = [f"            v{number} = R.add(v{number - 1}, x)" for number in range(1, count)]
    head = """@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 3), "float32")):
        with R.dataflow():
            v0 = R.add(x, x)
"""
    return head + "\n".join(lines) + f"\n            R.output(v{count - 1})\n        return v{count - 1}\n"


def graph_of(count: int) -> Graph:
    return function_graph("main", facts_of(parsed(chain(count)).modules[0]))


def test_a_long_block_folds_into_few_nodes() -> None:
    graph = graph_of(6_000)
    assert graph.is_folded
    assert len(graph.nodes) < 90
    assert graph.node_count > 6_000


def test_a_weight_that_a_large_graph_uses_everywhere_stands_beside_each_user() -> None:
    graph = graph_of(2_000)
    drawn = function_graph("main", facts_of(parsed(chain(2_000)).modules[0]), opened=(graph.nodes[1].group,))
    assert max(Counter(edge.source for edge in drawn.edges).values()) <= 8
    copies = [node for node in drawn.nodes if node.title == "x"]
    assert len(copies) > 100
    assert len({node.node for node in copies}) == 1
    assert drawn.node_count == graph.node_count


def test_a_weight_has_one_node_until_a_graph_is_too_large_to_follow_its_edges() -> None:
    """Graphviz takes minutes for a few hundred nodes with dozens of edges from one of them across all regions."""
    small, large = graph_of(60), graph_of(300)
    assert [node.title for node in small.nodes].count("x") == 1
    assert not large.is_folded
    assert max(Counter(edge.source for edge in large.edges).values()) <= 8
    assert large.node_count == 302


def test_lines_that_repeat_are_compared_in_linear_time() -> None:
    def cost(count: int) -> int:
        before = "".join(f"alloc = new()\nv{number} = add(x)\n" for number in range(count))
        after = "".join(f"alloc = new()\ncall(alloc)\nv{number} = alloc\n" for number in range(count))
        assert line_counts(before, after) == (3 * count - 1, 2 * count - 1)
        return lines_of(lambda: line_counts(before, after))

    # Quadratic time would make this 64.
    assert cost(4_000) / cost(500) < 16


def test_a_long_text_is_compared_as_a_short_one() -> None:
    before = [f"v{number} = add(x)" for number in range(1_200)]
    after = [line.replace("add", "call") if number % 100 == 50 else line for number, line in enumerate(before)]
    after.insert(700, "moved = 1")
    diff = diff_texts("a", "\n".join(before) + "\n", "b", "\n".join(after) + "\n")
    marks = Counter(row.after.mark for row in diff.rows if row.after is not None)
    assert marks == {"unchanged": 1_188, "changed": 12, "added": 1}
    assert all(row.after is not None for row in diff.rows)
    shown = [row.after.text for row in diff.rows if row.after is not None]
    assert shown == after


LOWERING = "LegalizeOps, ToNonDataflow, RemovePurityChecking, CallTIRRewrite"


def lowered(count: int) -> tuple[Session, StageOf]:
    """Run passes of which the last one makes three bindings of each one, and ask what it did."""
    session = Session()
    that = Program(name="chain.py", text=chain(count), pipeline=LOWERING)
    ask(session, PipelineOf(that))
    return session, StageOf(that, 4)


def words_of(side: DiffSide | None) -> list[str]:
    return side.text.split() if side is not None else []


def test_a_line_stands_beside_what_became_of_it_however_many_lines_a_pass_made_of_it() -> None:
    rows = ask(*lowered(100)).diff.rows
    pairs = [(words_of(row.before), words_of(row.after)) for row in rows]
    changed = [(before, after) for before, after in pairs if before and after and before != after]
    assert [before[0] for before, _ in changed] == [f"v{number}" for number in range(100)]
    assert all(after[:2] == [before[0], "="] and after[2].startswith("alloc") for before, after in changed)
    assert sum(row.before is None for row in rows) == 200


def test_the_texts_of_a_stage_are_compared_in_linear_time() -> None:
    def cost(count: int) -> int:
        session, message = lowered(count)
        return lines_of(lambda: ask(session, message))

    cost(10)
    # Pairing by likeness alone would make this 16.
    assert cost(800) / cost(200) < 5
