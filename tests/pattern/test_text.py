"""Patterns as text: what is read, what is refused and where, and that printing and reading are inverse."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relax_core.diagnostics import CompileError
from relax_core.pattern.language import nodes
from relax_core.pattern.language.nodes import (
    Pattern,
    is_op,
    is_tuple,
    is_tuple_get_item,
    is_var,
    parts,
    subpatterns,
    wildcard,
)
from relax_core.pattern.language.show import show_pattern
from relax_core.pattern.language.text import parse_pattern
from relax_core.pattern.partition.tables import read_tables

REFUSED = (
    ("PT001", "is_op('nn.relu'(wildcard())", 1),
    ("PT001", "", 1),
    ("PT001", "wildcard()\nwildcard(", 2),
    ("PT002", "open('x')", 1),
    ("PT002", "wildcard().__class__", 1),
    ("PT002", "wildcard().mro()", 1),
    ("PT002", "relu", 1),
    ("PT002", "import os", 1),
    ("PT002", "a = wildcard()\nb", 2),
    ("PT002", "wildcard() @ wildcard()", 1),
    ("PT002", "-wildcard()", 1),
    ("PT003", "is_op('a')(wildcard(), add_constraint=1)", 1),
    ("PT003", "is_dfv(3)", 1),
    ("PT003", "is_shape(['n'])", 1),
    ("PT003", "wildcard().has_ty('R.Tensr((4,))')", 1),
    ("PT003", "reject(3)", 1),
    ("PT003", "is_tuple([wildcard()], unordered=3).has_shape(2)", 1),
    ("PT003", "is_op()", 1),
    ("PT003", "is_op(1, 2, 3)", 1),
    ("PT003", "is_op('a')(x=wildcard())", 1),
    ("PT003", "wildcard().has_attr(3)", 1),
    ("PT003", "is_op(f'{1}')", 1),
    ("PT003", "is_op('add').redirect_to(wildcard())", 1),
    ("PT003", "is_tuple([1])", 1),
    ("PT003", "is_tuple('x')", 1),
    ("PT003", "is_tuple_get_item(1)", 1),
    ("PT003", "is_let(None, wildcard(), wildcard())", 1),
    ("PT003", "is_op(wildcard())", 1),
    ("PT003", "is_var(3)", 1),
    ("PT003", "AltPattern(1, 2)", 1),
    ("PT003", "has_dtype(3)", 1),
    ("PT003", "has_shape('x')", 1),
    ("PT003", "has_type([1.5])", 1),
    ("PT003", "has_attr({1: 2})", 1),
    ("PT003", "has_type('Tensr[(2), float32]')", 1),
    ("PT003", "w = wildcard()\nw.redirect_to('w')", 2),
    ("PT001", "is_op('abs')(" * 160 + "wildcard()" + ")" * 160, 1),
)


@pytest.mark.parametrize(("code", "text", "line"), REFUSED, ids=[item[1][:30] or "nothing" for item in REFUSED])
def test_a_text_that_is_no_pattern_is_refused_at_its_place(code: str, text: str, line: int) -> None:
    with pytest.raises(CompileError) as caught:
        parse_pattern(text)
    (found,) = caught.value.diagnostics
    assert found.code == code
    assert found.span is not None
    assert found.span.line == line


def test_a_name_stands_for_one_pattern() -> None:
    pattern = parse_pattern("p = wildcard()\nis_op('add')(p, p)")
    first, second = parts(pattern)[1:]
    assert first is second


def test_a_lambda_takes_the_pattern_that_it_is_called_on() -> None:
    pattern = parse_pattern("is_op('abs')(wildcard()).optional(lambda x: is_op('nn.relu')(x))")
    assert isinstance(pattern, nodes.AltPattern)
    wrapped, plain = pattern.options
    assert parts(wrapped)[1] is plain


TABLES = (
    ("[]", "no object"),
    ("{", "no JSON"),
    ('{"pattern": []}', "no key pattern"),
    ('{"patterns": {}}', "no list"),
    ('{"patterns": [["a"]]}', "pair of strings"),
    ('{"supported": {"a.b": ["add"]}}', "has a dot"),
    ('{"supported": {"a": "add"}}', "list of operators"),
    ('{"supported": []}', "list of operators"),
)


@pytest.mark.parametrize(("text", "words"), TABLES)
def test_a_file_that_is_no_table_is_refused(text: str, words: str) -> None:
    with pytest.raises(CompileError) as caught:
        read_tables(text)
    assert caught.value.diagnostics[0].code == "PT005"
    assert words in caught.value.diagnostics[0].message


def test_a_table_is_written_and_read() -> None:
    text = '{"patterns": [["a.b", "is_op(\'add\')(wildcard(), is_constant())"]], "supported": {"a": ["tanh", "add"]}}'
    tables = read_tables(text)
    assert tables.targets == ("a",)
    assert read_tables(tables.to_json()).to_json() == tables.to_json()


ATTRS = st.dictionaries(
    st.sampled_from(("axis", "layout")), st.one_of(st.integers(-3, 3), st.text(max_size=3), st.tuples(st.integers()))
)
LEAVES = st.one_of(
    st.builds(wildcard),
    st.builds(is_var, st.sampled_from(("", "x", "it's"))),
    st.builds(nodes.is_constant),
    st.builds(is_op, st.sampled_from(("add", "nn.relu"))),
    st.builds(nodes.is_global, st.sampled_from(("f", "main"))),
    st.builds(nodes.is_number, st.one_of(st.integers(-5, 5), st.booleans())),
)


def _called(callee: Pattern, args: tuple[Pattern, ...]) -> Pattern:
    return callee(*args)


def _grown(inner: st.SearchStrategy[Pattern]) -> st.SearchStrategy[Pattern]:
    several = st.lists(inner, max_size=3).map(tuple)
    shapes = st.lists(st.one_of(st.none(), st.integers(0, 9)), max_size=3).map(tuple)
    return st.one_of(
        st.builds(_called, inner, several),
        inner.map(lambda p: p.any_args()),
        inner.map(lambda p: is_op("add")(p, p)),
        st.builds(Pattern.__or__, inner, inner),
        st.builds(is_tuple, st.one_of(st.none(), several)),
        st.builds(is_tuple_get_item, inner, st.one_of(st.none(), st.integers(0, 3))),
        st.builds(nodes.is_if, inner, inner, inner),
        st.builds(nodes.is_let, inner, inner, inner),
        st.builds(nodes.is_function, st.one_of(st.none(), several), inner),
        st.builds(nodes.dominates, inner, inner, inner),
        st.builds(Pattern.has_attr, inner, ATTRS),
        inner.map(lambda p: p.has_dtype("float32")),
        st.builds(Pattern.has_shape, inner, shapes),
    )


SPELLINGS = (
    ("FunctionPattern([VarPattern('x')], WildcardPattern())", "is_function([is_var('x')], wildcard())"),
    ("CallPattern(is_op('add'), None)", "is_op('add').any_args()"),
    ("CallPattern(is_op('abs'), [ConstantPattern()])", "is_op('abs')(is_constant())"),
    ("AltPattern(is_op('add'), is_op('abs'))", "(is_op('add') | is_op('abs'))"),
    ("TupleGetItemPattern(TuplePattern(None), 1)", "is_tuple_get_item(is_tuple(None), 1)"),
    ("IfPattern(wildcard(), is_constant(), is_var())", "is_if(wildcard(), is_constant(), is_var())"),
    ("LetPattern(is_var(), is_constant(), wildcard())", "is_let(is_var(), is_constant(), wildcard())"),
    ("AttrPattern(is_op('abs'), {'a': 1})", "is_op('abs').has_attr({'a': 1})"),
    ("DataTypePattern(is_var(), 'int8')", "is_var().has_dtype('int8')"),
    ("ShapePattern(is_var(), [2, 3])", "is_var().has_shape((2, 3))"),
    ("has_dtype('int8')", "wildcard().has_dtype('int8')"),
    ("has_shape([2], is_var())", "is_var().has_shape((2,))"),
    ("has_type('int32')", "wildcard().has_type((), 'int32')"),
    ("has_type('(int32, bool)')", "wildcard().has_type('(int32, bool)')"),
    ("is_var().has_type(Tensor[(2, 3), int8])", "is_var().has_type((2, 3), 'int8')"),
    ("DominatorPattern(is_var(), wildcard(), is_constant())", "dominates(is_var(), wildcard(), is_constant())"),
    (
        "w = wildcard()\nw.redirect_to(is_op('abs')(w) | is_var())",
        "p0 = wildcard()\np1 = (is_op('abs')(p0) | is_var())\np0.redirect_to(p1)\np0",
    ),
)


@pytest.mark.parametrize(("text", "shown"), SPELLINGS, ids=[item[0][:40] for item in SPELLINGS])
def test_other_spellings_are_read(text: str, shown: str) -> None:
    assert show_pattern(parse_pattern(text)) == shown
    assert show_pattern(parse_pattern(shown)) == shown


def test_a_type_is_given_as_text_in_python_too() -> None:
    assert show_pattern(is_var().has_type("Tensor[(2, 3), int8]")) == "is_var().has_type((2, 3), 'int8')"
    with pytest.raises(ValueError, match="no type of Relay"):
        is_var().has_type("Tensr[(2), int8]")


@settings(deadline=None)
@given(st.recursive(LEAVES, _grown, max_leaves=8))
def test_a_pattern_reads_back_as_it_was(pattern: Pattern) -> None:
    text = show_pattern(pattern)
    again = parse_pattern(text)
    assert show_pattern(again) == text
    kinds = [type(item) for item in subpatterns(again) if not isinstance(item, nodes.ExprPattern)]
    assert kinds == [type(item) for item in subpatterns(pattern) if not isinstance(item, nodes.ExprPattern)]
