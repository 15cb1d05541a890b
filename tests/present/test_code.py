"""Texts with tokens, ranges and problems, and ids of nodes."""

import pytest
from hypothesis import given, strategies

from relax_core.ir.node import preorder
from relax_core.present.code import source_code, tokenize
from relax_core.present.escape import dot_string, markup, visible
from relax_core.present.nodes.node_id import NodeId, index_nodes
from relax_core.present.problems import problems_of
from relax_core.source import Source
from tests.golden_text import Golden
from tests.present.programs import SEEDS, sample
from tests.present.rendering import render_code


@pytest.mark.parametrize("path", SEEDS)
def test_the_text_of_a_seed_is_as_expected(path: str, golden: Golden) -> None:
    program = sample(path)
    code = source_code(program.source, index_nodes(program.modules[0], 0), problems_of(program.diagnostics))
    golden.check(f"present/code/{path.removesuffix('.py')}.txt", render_code(code))


@given(strategies.text(alphabet=strategies.characters(codec="utf-16", categories=("L", "N", "P", "S", "Z", "C"))))
def test_tokens_spell_the_text(text: str) -> None:
    lines = tokenize(text)
    assert "\n".join("".join(token.text for token in line) for line in lines) == text


def test_a_range_names_the_node_that_it_covers() -> None:
    program = sample("seeds/print_closure2.py")
    index = index_nodes(program.modules[0], 0)
    code = source_code(program.source, index, ())
    assert code.ranges
    for item in code.ranges:
        id_ = NodeId.parse(item.node)
        assert id_ is not None
        assert str(id_) == item.node
        assert index.node_at(id_) is not None


def test_ids_are_the_same_in_another_process() -> None:
    first, second = (sample("seeds/my_ir_module.py").modules[0] for _ in range(2))
    one, two = index_nodes(first, 0), index_nodes(second, 0)
    ids = ([one.id_of(node) for node in preorder(item.function)] for item in first)
    assert list(ids) == [[two.id_of(node) for node in preorder(item.function)] for item in second]


@pytest.mark.parametrize(
    "text", ["", "2", "2/main", "2/main/", "/main/1", "x/main/1", "2/main/-1", "2//1", "9" * 30 + "/f/1"]
)
def test_what_is_no_id_is_refused(text: str) -> None:
    assert NodeId.parse(text) is None


def test_a_function_name_may_hold_a_slash() -> None:
    id_ = NodeId(3, "a/b", 4)
    assert NodeId.parse(str(id_)) == id_


def test_what_reorders_or_breaks_text_is_made_visible() -> None:
    assert visible("a\u202eb\n\0") == "a\\u202eb\\n\\x00"
    assert markup("<b a='\"'>&") == "&lt;b a=&#x27;&quot;&#x27;&gt;&amp;"
    assert dot_string('\\"\n') == '"\\\\\\"\\\\n"'


def test_a_huge_text_is_shown_without_colours() -> None:
    text = "x = 1\n" * 100_000
    assert {token.syntax for line in tokenize(text) for token in line} == {""}


def test_a_text_without_a_module_is_shown() -> None:
    code = source_code(Source("m.py", "x = 1"), None, ())
    assert code.text == "x = 1"
    assert code.ranges == ()
