"""Patterns of every kind against expressions: what matches, and what does not and why."""

import pytest

import relax_core as rc
from relax_core.ir.expr import Expr
from relax_core.pattern.language.nodes import is_op, subpatterns, wildcard
from relax_core.pattern.matching.matcher import Match, match
from relax_core.pattern.matching.search import facts_of
from tests.pattern.programs import body, main, module

CONV = 'is_op("nn.conv2d")(wildcard(), wildcard())'
CONV_TEXT = "nn.conv2d(%data, %w, padding=[1, 1, 1, 1], channels=4, kernel_size=[3, 3])"

FITS = (
    ("anything", "wildcard()", "%x"),
    ("anything, a call", "wildcard()", "add(%x, %y)"),
    ("a variable", "is_var()", "%x"),
    ("a variable by its name", 'is_var("x")', "%x"),
    ("a constant", "is_constant()", "1f"),
    ("a number", "is_number(1)", "1"),
    ("a float", "is_number(2.5)", "2.5f"),
    ("a number with a dtype", 'is_number(1, "int64")', "1i64"),
    ("an operator as a function", 'is_op("add")', "add"),
    ("a call", 'is_op("add")(wildcard(), wildcard())', "add(%x, %y)"),
    ("a call of anything", "wildcard()(wildcard())", "nn.relu(%x)"),
    ("a call with any arguments", 'is_op("add").any_args()', "add(%x, %y)"),
    ("a call with None for its arguments", 'is_op("add")(None)', "add(%x, %y)"),
    ("sugar for add", "wildcard() + is_constant()", "add(%x, 1f)"),
    ("sugar for subtract", "wildcard() - wildcard()", "subtract(%x, %y)"),
    ("sugar for multiply", "wildcard() * wildcard()", "multiply(%x, %y)"),
    ("sugar for divide", "wildcard() / wildcard()", "divide(%x, %y)"),
    ("add in the other order", 'is_op("add")(is_op("nn.relu")(wildcard()), is_var("x"))', "add(%x, nn.relu(%y))"),
    ("multiply in the other order", 'is_op("multiply")(is_op("exp")(wildcard()), is_var())', "multiply(%x, exp(%y))"),
    ("a quotient of a product", '(is_var("x") * is_var("y")) / is_constant()', "divide(multiply(%x, %y), 2f)"),
    (
        "a product with a quotient for it",
        '(is_var("x") * is_var("y")) / is_number(2.0)',
        "multiply(%x, divide(%y, 2f))",
    ),
    ("the other factor divided", '(is_var("x") * is_var("y")) / is_number(2.0)', "multiply(%y, divide(%x, 2f))"),
    ("a quotient for a product", 'is_var("x") * (is_var("y") / is_number(2.0))', "divide(multiply(%x, %y), 2f)"),
    ("a choice", 'is_op("nn.relu")(wildcard()) | is_op("tanh")(wildcard())', "tanh(%x)"),
    ("an optional that is there", f'{CONV}.optional(lambda x: is_op("nn.relu")(x))', f"nn.relu({CONV_TEXT})"),
    ("an optional that is not", f'{CONV}.optional(lambda x: is_op("nn.relu")(x))', CONV_TEXT),
    (
        "two optionals",
        f'{CONV}.optional(lambda x: is_op("tanh")(x)).optional(lambda x: is_op("nn.relu")(x))',
        f"nn.relu(tanh({CONV_TEXT}))",
    ),
    ("an attribute of a call", f'{CONV}.has_attr({{"channels": 4}})', CONV_TEXT),
    ("a default of an attribute", f'{CONV}.has_attr({{"data_layout": "NCHW"}})', CONV_TEXT),
    ("a list of an attribute", f'{CONV}.has_attr({{"kernel_size": [3, 3]}})', CONV_TEXT),
    ("the beginning of a list", f'{CONV}.has_attr({{"padding": [1, 1]}})', CONV_TEXT),
    ("two attributes", f'{CONV}.has_attr({{"channels": 4, "kernel_size": [3]}})', CONV_TEXT),
    ("an annotation of a call", 'wildcard()(wildcard()).has_attr({"key": "lib"})', '%f(%x, key="lib")'),
    ("the kind of an operator", 'is_op("add").has_attr({"TOpPattern": 1})(wildcard(), wildcard())', "add(%x, %y)"),
    ("any elementwise operator", 'wildcard().has_attr({"TOpPattern": 0})(wildcard())', "nn.relu(%x)"),
    ("the kind of a convolution", 'wildcard().has_attr({"TOpPattern": 4}).any_args()', CONV_TEXT),
    (
        "an attribute of a function",
        'is_function(None, wildcard()).has_attr({"Composite": "a.b"})',
        'fn (%p: Tensor[(4), float32], Composite="a.b") { %p }',
    ),
    (
        "a function",
        'is_function([is_var("p")], is_op("nn.relu")(wildcard()))',
        "fn (%p: Tensor[(4), float32]) { nn.relu(%p) }",
    ),
    (
        "a call of a function",
        'is_function([wildcard()], is_op("nn.relu")(wildcard()))(is_var("x"))',
        "fn (%p: Tensor[(4, 4), float32]) { nn.relu(%p) }(%x)",
    ),
    (
        "a conditional",
        'is_if(is_var("c"), is_op("nn.relu")(wildcard()), wildcard())',
        "if (%c) { nn.relu(%x) } else { %y }",
    ),
    (
        "a let",
        'is_let(is_var("a"), is_op("nn.relu")(wildcard()), is_op("tanh")(is_var("a")))',
        "let %a = nn.relu(%x); tanh(%a)",
    ),
    ("a tuple", 'is_tuple([is_var("x"), wildcard()])', "(%x, %y)"),
    ("any tuple", "is_tuple(None)", "(%x, %y, %b)"),
    ("an empty tuple", "is_tuple([])", "()"),
    ("a field", "is_tuple_get_item(is_var(), 1)", "%t.1"),
    ("any field", "is_tuple_get_item(is_var())", "%t.1"),
    ("any field by -1", "is_tuple_get_item(is_var(), -1)", "%t.0"),
    ("a type", 'is_var().has_type([4, 4], "float32")', "%x"),
    ("a dtype", 'wildcard().has_dtype("float32")', "nn.relu(%x)"),
    ("a shape", "wildcard().has_shape([1, 4, 8, 8])", CONV_TEXT),
    ("a shape with an open size", "is_var().has_shape((4, None))", "%x"),
    ("one object twice", 'p = is_var()\nis_op("add")(p, p)', "add(%x, %x)"),
    (
        "one call twice",
        'p = is_op("nn.relu")(wildcard())\nis_op("multiply")(p, is_op("exp")(p))',
        "%0 = nn.relu(%x); multiply(%0, exp(%0))",
    ),
    ("two objects for one", 'is_op("add")(is_var(), is_var())', "add(%x, %x)"),
)

MISSES = (
    ("another operator", 'is_op("add")(wildcard(), wildcard())', "subtract(%x, %y)", "is not add"),
    ("another name", 'is_var("z")', "%x", "is no variable z"),
    ("no variable", "is_var()", "nn.relu(%x)", "is no variable"),
    ("no constant", 'is_op("add")(is_var(), is_constant())', "add(%x, %y)", "is no constant"),
    ("another number", "is_number(1)", "2", "is not the number 1"),
    ("another dtype of a number", "is_number(1)", "1i64", "is not the number 1"),
    ("an argument that differs", 'is_op("nn.relu")(is_op("tanh")(wildcard()))', "nn.relu(exp(%x))", "is not tanh"),
    (
        "subtract is not commutative",
        'is_op("subtract")(is_op("nn.relu")(wildcard()), is_var())',
        "subtract(%x, nn.relu(%y))",
        "is no call",
    ),
    ("too few arguments", 'is_op("nn.relu")(wildcard(), wildcard())', "nn.relu(%x)", "has 1 parts, not 2"),
    ("no call", "wildcard()(wildcard())", "%x", "is no call"),
    ("neither choice", 'is_op("nn.relu")(wildcard()) | is_op("tanh")(wildcard())', "exp(%x)", "is not nn.relu"),
    (
        "a missing attribute",
        'is_op("nn.relu")(wildcard()).has_attr({"axis": 1})',
        "nn.relu(%x)",
        "has no attribute axis",
    ),
    ("another value of an attribute", f'{CONV}.has_attr({{"channels": 8}})', CONV_TEXT, "has channels = 4, not 8"),
    ("another list", f'{CONV}.has_attr({{"kernel_size": [3, 1]}})', CONV_TEXT, "has kernel_size = (3, 3), not (3, 1)"),
    ("a longer list", f'{CONV}.has_attr({{"kernel_size": [3, 3, 3]}})', CONV_TEXT, "not (3, 3, 3)"),
    ("another annotation", 'wildcard()(wildcard()).has_attr({"key": "lib"})', '%f(%x, key="own")', "has key = 'own'"),
    (
        "another kind of operator",
        'wildcard().has_attr({"TOpPattern": 0})(wildcard(), wildcard())',
        "add(%x, %y)",
        "has TOpPattern = 1, not 0",
    ),
    (
        "another condition",
        "is_if(is_constant(), wildcard(), wildcard())",
        "if (%c) { %x } else { %y }",
        "is no constant",
    ),
    ("no conditional", "is_if(wildcard(), wildcard(), wildcard())", "%x", "is no conditional"),
    (
        "another value of a let",
        'is_let(is_var(), is_op("tanh")(wildcard()), wildcard())',
        "let %a = nn.relu(%x); %a",
        "is not tanh",
    ),
    ("no let", "is_let(is_var(), wildcard(), wildcard())", "%x", "is no let"),
    ("a shorter tuple", "is_tuple([wildcard(), wildcard()])", "(%x, %y, %b)", "has 3 parts, not 2"),
    ("no tuple", "is_tuple(None)", "%x", "is no tuple"),
    ("another field", "is_tuple_get_item(is_var(), 0)", "%t.1", "takes field 1, not 0"),
    ("no projection", "is_tuple_get_item(wildcard())", "%x", "is no projection of a tuple"),
    ("no function", "is_function(None, wildcard())", "%x", "is no function"),
    (
        "more parameters",
        "is_function([wildcard(), wildcard()], wildcard())",
        "fn (%p: int32) { %p }",
        "has 1 parts, not 2",
    ),
    ("another type", 'is_var().has_type([4, 5], "float32")', "%x", "has another type"),
    ("another type of the same shape", 'is_var().has_type([4, 4], "float16")', "%x", "has another type"),
    ("another dtype", 'wildcard().has_dtype("int8")', "%x", "has dtype float32, not int8"),
    ("another shape", "is_var().has_shape([4, 5])", "%x", "has not the shape (4, 5)"),
    ("another rank", "is_var().has_shape([4])", "%x", "has not the shape (4,)"),
    ("a tuple has no dtype", 'wildcard().has_dtype("int8")', "(%x, %y)", "has dtype None"),
    ("one object for two", 'p = is_var()\nis_op("add")(p, p)', "add(%x, %y)", "another expression before"),
    (
        "one call for two equal ones",
        'p = is_op("nn.relu")(wildcard())\nis_op("multiply")(p, is_op("exp")(p))',
        "multiply(nn.relu(%x), exp(nn.relu(%x)))",
        "another expression before",
    ),
    ("a product of other factors", '(is_var("x") * is_var("y")) / is_number(2.0)', "multiply(%x, divide(%x, 2f))", ""),
)


@pytest.mark.parametrize(("pattern", "text"), [case[1:] for case in FITS], ids=[case[0] for case in FITS])
def test_a_pattern_fits(pattern: str, text: str) -> None:
    mod = module(text)
    fit = rc.pattern(pattern)
    found = match(fit, main(mod).body, facts_of(mod, fit))
    assert found is not None, rc.explain(fit, main(mod).body, mod)
    assert found.root is main(mod).body
    assert found[fit] is found.root
    assert rc.explain(fit, main(mod).body, mod) is None


@pytest.mark.parametrize(("pattern", "text", "reason"), [case[1:] for case in MISSES], ids=[case[0] for case in MISSES])
def test_a_pattern_does_not_fit_and_the_reason_is_given(pattern: str, text: str, reason: str) -> None:
    mod = module(text)
    miss = rc.explain(rc.pattern(pattern), main(mod).body, mod)
    assert miss is not None
    assert reason in miss.reason
    assert miss.trail[-1] is miss.part


def test_a_miss_names_the_part_that_came_furthest() -> None:
    inner = wildcard()
    tanh = is_op("tanh")(inner)
    whole = is_op("nn.relu")(is_op("exp")(tanh)) | is_op("abs")(wildcard())
    expr = body("nn.relu(exp(sqrt(%x)))")
    miss = rc.explain(whole, expr)
    assert miss is not None
    assert miss.part is tanh.op
    assert isinstance(miss.node, Expr)
    assert rc.pattern('is_op("sqrt")') is not None
    assert miss.reason == "is not tanh"
    assert miss.trail[0] is whole


def test_a_match_gives_the_expression_of_each_part() -> None:
    left, right = wildcard(), wildcard()
    whole = is_op("add")(is_op("nn.relu")(left), right)
    expr = body("add(%x, nn.relu(%y))")
    found = match(whole, expr)
    assert isinstance(found, Match)
    args = expr.args  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType, reportUnknownVariableType]
    assert found[right] is args[0]
    assert found[left] is args[1].args[0]  # pyright: ignore[reportUnknownMemberType]
    assert set(found.node_of) == set(subpatterns(whole))


def test_what_a_failed_choice_noted_is_forgotten() -> None:
    shared = wildcard()
    whole = is_op("add")(is_op("nn.relu")(shared), is_op("tanh")(shared)) | is_op("add")(shared, wildcard())
    assert match(whole, body("add(nn.relu(%x), tanh(%y))")) is not None


def test_find_gives_every_match_inner_ones_first() -> None:
    mod = module("nn.relu(nn.relu(nn.relu(%x)))")
    found = rc.match(is_op("nn.relu")(wildcard()), mod)
    assert len(found) == 3
    assert found[-1].root is main(mod).body
    assert rc.match(is_op("tanh")(wildcard()), mod) == ()


def test_a_deep_program_is_searched() -> None:
    steps = "\n".join(f"  %{k + 1} = nn.relu(%{k});" for k in range(3000))
    mod = module(f"%0 = tanh(%x);\n{steps}\n%3000")
    assert len(rc.match(is_op("nn.relu")(wildcard()), mod)) == 3000


def test_in_relax_a_pattern_looks_through_bindings_and_attributes_among_arguments() -> None:
    text = (
        "# from tvm.script import relax as R\n@R.function\n"
        'def main(x: R.Tensor((4, 4), "float32"), y: R.Tensor((4, 4), "float32")):\n'
        "    a = R.matmul(x, y)\n    b = R.nn.relu(a)\n    c = R.sum(b, axis=[1])\n    return c\n"
    )
    mod = rc.parse(text)
    assert len(rc.match(is_op("nn.relu")(is_op("matmul")(wildcard(), wildcard())), mod)) == 1
    assert len(rc.match(is_op("sum")(wildcard()).has_attr({"axis": [1]}), mod)) == 1
