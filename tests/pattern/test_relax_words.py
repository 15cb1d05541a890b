"""The words of Relax's pattern language: what they match, why not, and the same in apache-tvm."""

import pytest

import relax_core as rc
from relax_core.ir.expr import Expr, TensorType
from relax_core.ir.prim import binary
from relax_core.pattern.language.nodes import AndPattern, NotPattern, UnorderedTuplePattern, parts
from relax_core.pattern.language.show import show_pattern
from relax_core.pattern.matching.matcher import try_match
from relax_core.pattern.matching.results import Match, Miss
from relax_core.pattern.matching.search import facts_of
from tests.apache_tvm import relax
from tests.pattern.relax_programs import (
    main,
    ours,
    program,
    read_pattern,
    their_pattern,
    theirs,
    values,
    words_of_ours,
    words_of_theirs,
)

BODY = """a = R.add(x, y); b = R.exp(a); k = R.const(1.0, "float32"); t = (a, k); g = t[0]; e = R.split(g, 2, axis=0);
q = R.sum(x, axis=[0, 1], keepdims=True); z = R.reshape(x, (2, 8)); f = R.full((4, 4), k, dtype="float32");
c = R.concat((a, x, y), axis=1); m = R.multiply(y, v); d = R.call_dps_packed("my.g", (c, b), out_ty=R.Tensor((4, 4)));
s = R.subtract(x, y); tt = (b, a)"""
OUTPUTS = "b, e, q, z, f, d, m, s, tt"
ADD = "is_op('relax.add')(wildcard(), wildcard())"

# The binding, the pattern, and why ours does not match; "" if it does.
CASES = (
    ("a", "is_op('relax.add')(wildcard(), wildcard())", ""),
    ("a", "is_op('relax.add')(is_var('y'), is_var('x'))", ""),
    ("s", "is_op('relax.subtract')(is_var('y'), is_var('x'))", "is no variable y"),
    ("a", "is_op('relax.add')(wildcard())", "has 2 parts, not 1"),
    ("a", "is_op('relax.add')(wildcard(), varg_default_wildcard=True)", ""),
    ("a", "is_op('relax.add')(is_const(), varg_default_wildcard=True)", "is no constant"),
    ("a", "is_op('relax.add')(wildcard(), wildcard(), wildcard(), varg_default_wildcard=True)", "has 2 parts, not 3"),
    ("a", "x = wildcard()\nis_op('relax.add')(x, x)", "this part matched another expression before"),
    ("a", f"~{ADD}", "matches what it must not"),
    ("b", f"~{ADD}", ""),
    ("b", f"is_op('relax.exp')(~{ADD})", "matches what it must not"),
    ("b", f"is_op('relax.exp')({ADD})", ""),
    ("b", f"reject(is_op('relax.exp')({ADD}))", "matches what it must not"),
    ("a", f"{ADD} & wildcard().has_shape((4, 4))", ""),
    ("a", f"{ADD} & wildcard().has_shape((4, 5))", "has not the shape (4, 5)"),
    ("a", f"wildcard().has_dtype('float16') & {ADD}", "has dtype float32, not float16"),
    ("a", f"is_op('relax.exp')(wildcard()) | {ADD}", ""),
    # Why the rejected pattern does not fit is no reason, however far it came.
    (
        "c",
        "is_op('relax.concat')(is_tuple([~is_op('relax.add')(wildcard(), is_const()), is_var('q'), wildcard()]))",
        "is no variable q",
    ),
    ("k", "is_const()", ""),
    ("a", "is_const()", "is no constant"),
    ("k", "is_var('z') | is_const()", ""),
    ("t", "is_tuple([wildcard(), is_const()])", ""),
    ("t", f"is_tuple([is_const(), {ADD}])", "is no constant"),
    ("t", f"is_tuple([is_const(), {ADD}], unordered=True)", ""),
    ("t", "is_tuple([is_const()], unordered=True)", "has 2 parts, not 1"),
    ("t", "is_tuple([is_const(), is_const()], unordered=True)", "is no constant"),
    ("a", "is_tuple([wildcard(), wildcard()], unordered=True)", "is no tuple"),
    ("g", "is_tuple_get_item(wildcard())", ""),
    ("g", "is_tuple_get_item(wildcard(), 0)", ""),
    ("g", "is_tuple_get_item(wildcard(), 1)", "takes field 0, not 1"),
    ("g", "is_tuple_get_item(is_tuple([wildcard(), is_const()]), 0)", ""),
    ("e", "is_op('relax.split')(is_tuple_get_item(wildcard(), 0))", ""),
    ("q", "is_op('relax.sum')(wildcard()).has_attr({'axis': [0, 1], 'keepdims': True})", ""),
    ("q", "is_op('relax.sum')(wildcard()).has_attr({'axis': [1, 0]})", "has axis = (0, 1), not (1, 0)"),
    ("q", "is_op('relax.sum')(wildcard()).has_attr({'none': 1})", "has no attribute none"),
    ("c", "wildcard().has_attr({'axis': 1})", ""),
    ("z", "is_op('relax.reshape')(wildcard(), wildcard())", ""),
    ("z", "is_op('relax.reshape')(wildcard(), is_shape([2, 8]))", ""),
    ("z", "is_op('relax.reshape')(wildcard(), is_shape([2, 4]))", "is not the shape (2, 4)"),
    ("z", "is_op('relax.reshape')(wildcard(), is_shape([2]))", "is not the shape (2,)"),
    ("z", "is_op('relax.reshape')(wildcard(), varg_default_wildcard=True)", ""),
    ("f", "is_op('relax.full')(is_shape([4, 4]), is_const())", ""),
    ("d", "is_call_dps_packed('my.g')", ""),
    ("d", "is_call_dps_packed('my.h')", "is no packed function my.h"),
    ("d", f"is_call_dps_packed('my.g', [wildcard(), is_op('relax.exp')({ADD})])", ""),
    ("d", "is_call_dps_packed('', [wildcard()])", "has 2 parts, not 1"),
    ("d", "is_op('relax.call_dps_packed')(is_gv(), wildcard())", "is no function of the module"),
    ("a", "is_op('relax.add')(wildcard().has_dtype('float32'), wildcard())", ""),
    ("m", "is_op('relax.multiply')(wildcard().has_shape((1, 4)), wildcard())", ""),
    ("m", "is_op('relax.multiply')(wildcard().has_shape((2, 4)), wildcard())", "has not the shape (2, 4)"),
    ("b", "make_fused_bias_activation_pattern('relax.add', activation='relax.exp')", ""),
    ("b", "make_fused_bias_activation_pattern('relax.matmul', activation='relax.exp')", "is not matmul"),
)


def outcome(name: str, text: str) -> Match | Miss:
    module = ours(program(BODY.replace("\n", " "), OUTPUTS))
    pattern = rc.pattern(text)
    return try_match(pattern, values(module)[name], facts_of(module, pattern))


def in_apache_tvm(name: str, text: str) -> bool:
    function = theirs(program(BODY.replace("\n", " "), OUTPUTS))["main"]
    value_of = relax.analysis.get_var2val(function)
    found = next(value for var, value in value_of.items() if var.name == name)
    return bool(their_pattern(text).match(found, value_of))


@pytest.mark.parametrize(("name", "text", "reason"), CASES, ids=[f"{item[0]} {item[1][-60:]}" for item in CASES])
def test_a_word_matches_what_it_matches_in_apache_tvm(name: str, text: str, reason: str) -> None:
    found = outcome(name, text)
    assert (found.reason if isinstance(found, Miss) else "") == reason
    assert in_apache_tvm(name, text) == (reason == "")
    shown = show_pattern(rc.pattern(text))
    assert show_pattern(rc.pattern(shown)) == shown


# What apache-tvm does not find: a variable is to be one that nothing is bound to, a dtype is no text, and of an
# unordered tuple the first field that fits a pattern stays with it.
FURTHER = (
    ("b", "is_op('relax.exp')(is_var('a'))", ""),
    ("b", "is_op('relax.exp')(is_dfv('a'))", ""),
    ("b", "is_op('relax.exp')(is_dfv('b'))", "is no variable of a dataflow block b"),
    ("f", "is_op('relax.full')(wildcard(), wildcard()).has_attr({'dtype': 'float32'})", ""),
    ("tt", "is_tuple([wildcard(), is_op('relax.exp')(wildcard())], unordered=True)", ""),
)


@pytest.mark.parametrize(("name", "text", "reason"), FURTHER)
def test_what_apache_tvm_does_not_find_is_found(name: str, text: str, reason: str) -> None:
    found = outcome(name, text)
    assert (found.reason if isinstance(found, Miss) else "") == reason
    assert not in_apache_tvm(name, text)


@pytest.mark.parametrize(
    ("text", "is_match"),
    [
        ("R.Tensor((4, 4), 'float32')", True),
        ("R.Tensor(ndim=2)", True),
        ("R.Object", True),
        ("R.Tensor(ndim=3)", False),
        ("R.Tensor((4, 4), 'float16')", False),
        ("R.Tensor(('n', 4), 'float32')", False),
    ],
)
def test_a_type_matches_the_types_whose_values_are_all_of_it(text: str, is_match: bool) -> None:
    found = outcome("a", f"wildcard().has_ty({text})")
    assert isinstance(found, Match) == is_match
    if isinstance(found, Miss):
        assert "is not known to be of type R.Tensor" in found.reason
    assert isinstance(outcome("a", f"wildcard().has_struct_info({text!r})"), Match) == is_match
    shown = show_pattern(rc.pattern(f"wildcard().has_ty({text})"))
    assert show_pattern(rc.pattern(shown)) == shown


def test_a_symbolic_size_is_one_that_is_proven_equal() -> None:
    text = """
from tvm.script import ir as I, relax as R, tir as T
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n", "m"), "float32")):
        n, m = T.int64(), T.int64()
        y = R.reshape(x, (n * m,))
        return y
"""
    module = rc.parse(text)
    value = values(module)["y"]
    (x,) = main(module).params
    assert isinstance(x.annotation, TensorType)
    assert x.annotation.dims is not None
    n, m = x.annotation.dims
    fits = rc.is_op("relax.reshape")(rc.wildcard().has_shape((n, None)), rc.is_shape([binary("*", m, n)]))
    swapped = rc.is_op("relax.reshape")(rc.wildcard().has_shape((m, n)), rc.wildcard())
    assert rc.explain(fits, value, module) is None
    miss = rc.explain(swapped, value, module)
    assert miss is not None
    assert miss.reason == "has not the shape (m, n)"


def test_a_call_of_a_packed_function_is_a_call_of_its_name() -> None:
    text = """
from tvm.script import ir as I, relax as R
@I.ir_module
class Module:
    @R.function(pure=False)
    def main(x: R.Tensor((4,), "float32")):
        y = R.call_packed("my.f", x, x, ty_args=R.Tensor((4,), "float32"))
        return y
"""
    module = rc.parse(text)
    value = values(module)["y"]

    def reason(pattern: rc.Pattern) -> str:
        miss = rc.explain(pattern, value, module)
        return "" if miss is None else miss.reason

    x = rc.wildcard()
    assert reason(rc.is_call_packed("my.f")) == ""
    assert reason(rc.is_call_packed("my.f", [x, x])) == ""
    assert reason(rc.is_extern()(x, x)) == ""
    assert reason(rc.is_call_packed("my.f", [x])) == "has 2 parts, not 1"
    assert reason(rc.is_call_packed("my.g")) == "is no packed function my.g"


def test_what_a_rejected_pattern_binds_is_not_kept() -> None:
    inner = rc.wildcard()
    around = rc.is_op("relax.exp")(rc.reject(rc.is_op("relax.exp")(inner)))
    module = ours(program(BODY.replace("\n", " "), OUTPUTS))
    found = try_match(around, values(module)["b"], facts_of(module, around))
    assert isinstance(found, Match)
    assert inner not in found.node_of
    assert around in found.node_of


def test_an_unordered_tuple_is_matched_by_going_back() -> None:
    inner = rc.wildcard()
    # The wildcard takes the first field, which the sum then needs: it has to give it back.
    pair = rc.is_tuple([inner, rc.is_op("relax.add")(rc.wildcard(), rc.wildcard())], unordered=True)
    module = ours(program(BODY.replace("\n", " "), OUTPUTS))
    for name, taken in (("t", "k"), ("tt", "b")):
        found = try_match(pair, values(module)[name], facts_of(module, pair))
        assert isinstance(found, Match)
        held: Expr = found[inner]
        assert getattr(held, "name", "") == taken


def test_a_copy_of_a_pattern_shares_no_part() -> None:
    x = rc.wildcard()
    patterns = (
        rc.is_op("relax.add")(x, x),
        rc.is_tuple([x, rc.is_const()], unordered=True),
        ~rc.is_op("relax.exp")(x) & x.has_shape((4, None)),
    )
    for pattern in patterns:
        copy = pattern.dup()
        assert show_pattern(copy) == show_pattern(pattern)
        assert not {*_all(copy)} & {*_all(pattern)}
    loop = rc.wildcard()
    chain = rc.is_op("relax.exp")(loop.redirect_to(rc.is_op("relax.exp")(loop) | x))
    assert show_pattern(chain.dup()) == show_pattern(chain)


def _all(pattern: rc.Pattern) -> list[rc.Pattern]:
    return [pattern, *(item for part in parts(pattern) for item in _all(part))]


def test_a_function_is_matched_by_its_parameters_and_its_body() -> None:
    text = program("a = R.add(x, y); b = R.exp(a)", "b")
    module, function = ours(text), theirs(text)["main"]
    words, their_words = words_of_ours(), words_of_theirs()
    w, others = "wildcard()", "wildcard(), wildcard(), wildcard()"
    cases = (
        (f"[{w}, {others}], {w}", True),
        (f"[is_var('x'), {others}], {w}", True),
        (f"[is_var('y'), {others}], {w}", False),
        (f"[{w}], {w}", False),
        (f"[{w}] * 4, is_op('relax.exp')({w})", False),
    )
    for arguments, is_match in cases:
        pattern, _ = read_pattern(f"is_function({arguments})", words | {"is_function": rc.is_function})
        assert (rc.explain(pattern, main(module), module) is None) == is_match, arguments
        other, _ = read_pattern(f"FunctionPattern({arguments})", their_words)
        assert bool(other.match(function)) == is_match, arguments


def test_a_field_of_a_tuple_is_written_in_brackets() -> None:
    pair = rc.is_tuple([rc.wildcard(), rc.is_const()])
    assert show_pattern(pair[0]) == show_pattern(pair[-2]) == show_pattern(rc.is_tuple_get_item(pair, 0))
    with pytest.raises(IndexError):
        pair[2]  # pyright: ignore[reportUnusedExpression]


def test_the_signs_make_the_patterns_that_they_stand_for() -> None:
    a, b = rc.wildcard(), rc.is_const()
    assert isinstance(a & b, AndPattern)
    assert isinstance(~a, NotPattern)
    assert isinstance(rc.is_tuple([a], unordered=True), UnorderedTuplePattern)
    assert show_pattern((~a).has_dtype("int8")) == "(~wildcard()).has_dtype('int8')"
