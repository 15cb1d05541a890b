"""What a report is written of: pieces that fit, notes that load nothing, pictures with their facts, steps of a run."""

import json
import re

import pytest

from relax_core.present.models import Diff, DiffRow, DiffSide, Fold, Graph, GraphNode
from relax_core.present.report.elements import said
from relax_core.present.report.notes import notes
from relax_core.present.report.pictures import Colours, picture
from relax_core.present.report.pieces import Piece, Rank, fitted
from relax_core.present.report.texts import difference
from tests.views.hostile import hostile_texts

ELSEWHERE = "http://elsewhere.invalid"
LOADS = re.compile(r"<(?:img|script|iframe|link|object|embed|video|audio|source|image|use)\b|\bsrc=|@import|url\(")


def test_all_pieces_stay_where_there_is_room() -> None:
    pieces = (Piece("<a>"), Piece("graph", "a graph", Rank.GRAPH))
    assert fitted(pieces, 8) == fitted(pieces, 8_000)
    assert fitted(pieces, 8).left_out == ()


def test_what_is_left_out_is_named_where_it_would_stand() -> None:
    graph = Piece("g" * 3000, "the graph of <main>", Rank.GRAPH)
    made = fitted((Piece("before "), graph, Piece("t" * 1000, "the text", Rank.TEXT), Piece(" behind")), 1500)
    assert made.left_out == ("the graph of <main>, 3 kB",)
    assert "the graph of &lt;main&gt;, 3 kB" in made.html
    assert made.html.startswith("before ")
    assert made.html.endswith(f"{'t' * 1000} behind")


def test_the_least_needed_goes_first_and_of_its_kind_the_largest() -> None:
    pieces = [Piece("w" * 1000, "whole", Rank.WHOLE), Piece("d" * 4000, "diff", Rank.DIFF)]
    pieces += [Piece("g" * 2000, "small graph", Rank.GRAPH), Piece("g" * 3000, "large graph", Rank.GRAPH)]
    lost = [fitted(pieces, limit).left_out for limit in (10_000, 9_500, 8_000, 5_000)]
    assert [[words.partition(",")[0] for words in names] for names in lost] == [
        [], ["whole"], ["whole", "large graph"], ["whole", "small graph", "large graph"],
    ]  # fmt: skip


def test_notes_are_markdown() -> None:
    written = notes("# Title\n\n*a* `b` ~~c~~\n\n| x | y |\n|---|---|\n| 1 | 2 |\n\n\tcode\n")
    assert "<h1>Title</h1>" in written
    assert "<em>a</em> <code>b</code> <s>c</s>" in written
    assert "<td>2</td>" in written
    assert "<pre><code>code" in written


@pytest.mark.parametrize("text", hostile_texts(ELSEWHERE), ids=range(len(hostile_texts(ELSEWHERE))))
def test_no_text_makes_notes_or_messages_load_anything(text: str) -> None:
    for written in (notes(text), said(text)):
        assert not LOADS.search(re.sub(r">[^<]*<", "><", f">{written}<")), written
        assert "javascript:" not in "".join(re.findall(r'href="([^"]*)"', written))


def test_a_picture_of_the_notes_stays_if_the_notes_hold_it() -> None:
    assert notes("![dot](data:image/png;base64,AAAA)") == '<p><img src="data:image/png;base64,AAAA" alt="dot"></p>\n'
    linked = notes(f"![dot]({ELSEWHERE}/dot.png)")
    assert linked == f'<p><a href="{ELSEWHERE}/dot.png">dot</a></p>\n'


def test_the_facts_of_a_picture_do_not_end_their_script() -> None:
    node = GraphNode("n1", "</script><script>alert(1)</script>", node="0/main/1")
    drawn = '<svg xmlns="http://www.w3.org/2000/svg"><g class="node" id="n1"><text> id="x</text></g></svg>'
    written = picture(Graph(drawn, (node,), title='"main"'), Colours({"0/main/1": "cat0"}, (("cat0", "cpu"),)))
    assert written.count("</script>") == 1
    assert '<g class="node" data-id="n1"><text> id="x</text>' in written
    assert 'aria-label="&quot;main&quot;"' in written
    facts = json.loads(written.partition('json">')[2].partition("</script>")[0])
    assert facts["graph"]["nodes"][0]["title"] == node.title
    assert (facts["graph"]["svg"], facts["colours"]) == ("", {"0/main/1": "cat0"})


def test_a_graph_of_nothing_says_so() -> None:
    assert picture(Graph("", empty_title="No <graph>", empty_text="None.")) == "<p><b>No &lt;graph&gt;.</b> None.</p>"


def test_unchanged_lines_far_from_a_change_are_counted() -> None:
    same = DiffSide(1, "unchanged", "def x")
    rows = (*(DiffRow(same, same),) * 9, DiffRow(None, DiffSide(10, "added", "<y> = 1", differing=((0, 3),))))
    written = difference(Diff("Before", "After", rows, (Fold(0, 8),)))
    assert '<div class="fold">8 unchanged lines</div>' in written
    assert written.count('<span class="synName">x</span>') == 2
    assert (
        '<div class="l added"><i>10</i><b>+</b><code><u>&lt;y&gt;</u> = <span class="synNumber">1</span></code></div>'
        in written
    )
