"""AnnotateTarget: where regions begin and end, for each kind of expression and option."""

import pytest

import relax_core as rc
from relax_core.diagnostics import CompileError
from relax_core.ir.expr import Call
from tests.passes.relay.byoc import after, begins, program, tables

A = tables(a="nn.relu add split concatenate")
AB = tables(a="nn.relu add", b="nn.relu tanh")
COMPOSITE = tables(("a.relu", "is_op('nn.relu')(wildcard())"), ("whole", "is_op('tanh')(wildcard())"))
T = "Tensor[(4, 4), float32]"
FN = (
    f'fn (%FunctionVar_0_0: {T}, PartitionedFromPattern="{{0}}_", Composite="{{1}}") -> {T} '
    "{{ {0}(%FunctionVar_0_0) }}"
)

CASES = (
    ("one operator", A, "", "nn.relu(%x)", "e:a⟦nn.relu(b:a⟦%x⟧)⟧"),
    ("one that is not supported", A, "", "tanh(%x)", "e:default⟦tanh(b:default⟦%x⟧)⟧"),
    ("two arguments", A, "", "add(%x, %y)", "e:a⟦add(b:a⟦%x⟧, b:a⟦%y⟧)⟧"),
    ("a constant has only a begin", A, "", "add(%x, 1f)", "e:a⟦add(b:a⟦%x⟧, b:a⟦1f⟧)⟧"),
    ("a variable twice has two begins", A, "", "add(%x, %x)", "e:a⟦add(b:a⟦%x⟧, b:a⟦%x⟧)⟧"),
    ("a chain of one target", A, "", "nn.relu(nn.relu(%x))", "e:a⟦nn.relu(b:a⟦e:a⟦nn.relu(b:a⟦%x⟧)⟧⟧)⟧"),
    ("a chain of two targets", A, "", "tanh(nn.relu(%x))", "e:default⟦tanh(b:default⟦e:a⟦nn.relu(b:a⟦%x⟧)⟧⟧)⟧"),
    (
        "every use has its own end",
        A,
        "",
        "%0 = nn.relu(%x); add(%0, %0)",
        "%0 = nn.relu(b:a⟦%x⟧); e:a⟦add(b:a⟦e:a⟦%0⟧⟧, b:a⟦e:a⟦%0⟧⟧)⟧",
    ),
    ("a variable alone", A, "", "%x", "%x"),
    ("a constant alone", A, "", "1f", "1f"),
    ("a call without arguments", A, "", 'zeros(shape=[2], dtype="float32")', 'zeros(shape=[2], dtype="float32")'),
    ("an empty tuple", A, "", "()", "()"),
    (
        "a tuple of one target",
        A,
        "",
        "(nn.relu(%x), nn.relu(%y))",
        "e:a⟦(b:a⟦e:a⟦nn.relu(b:a⟦%x⟧)⟧⟧, b:a⟦e:a⟦nn.relu(b:a⟦%y⟧)⟧⟧)⟧",
    ),
    (
        "a tuple of two targets",
        A,
        "",
        "(nn.relu(%x), tanh(%y))",
        "e:default⟦(b:default⟦e:a⟦nn.relu(b:a⟦%x⟧)⟧⟧, b:default⟦e:default⟦tanh(b:default⟦%y⟧)⟧⟧)⟧",
    ),
    (
        "a tuple with a variable",
        A,
        "",
        "(nn.relu(%x), %y)",
        "e:default⟦(b:default⟦e:a⟦nn.relu(b:a⟦%x⟧)⟧⟧, b:default⟦%y⟧)⟧",
    ),
    (
        "a field",
        A,
        "",
        "%0 = split(%x, indices_or_sections=2); %0.1",
        "%0 = split(b:a⟦%x⟧, indices_or_sections=2); %1 = b:a⟦e:a⟦%0⟧⟧; e:a⟦%1.1⟧",
    ),
    (
        "a tuple into an operator",
        A,
        "",
        "concatenate((nn.relu(%x), nn.relu(%y)))",
        "%0 = (b:a⟦e:a⟦nn.relu(b:a⟦%x⟧)⟧⟧, b:a⟦e:a⟦nn.relu(b:a⟦%y⟧)⟧⟧); e:a⟦concatenate(b:a⟦e:a⟦%0⟧⟧)⟧",
    ),
    (
        "a tuple, only calls",
        A,
        "include_non_call_ops=False",
        "(nn.relu(%x), tanh(%y))",
        "(e:a⟦nn.relu(b:a⟦%x⟧)⟧, e:default⟦tanh(b:default⟦%y⟧)⟧)",
    ),
    (
        "a field, only calls",
        A,
        "include_non_call_ops=False",
        "%0 = split(%x, indices_or_sections=2); nn.relu(%0.1)",
        "%0 = split(b:a⟦%x⟧, indices_or_sections=2); %1 = e:a⟦%0⟧; e:a⟦nn.relu(b:a⟦%1.1⟧)⟧",
    ),
    (
        "a conditional",
        A,
        "",
        "if (%c) { nn.relu(%x) } else { tanh(%x) }",
        "if (%c) { e:a⟦nn.relu(b:a⟦%x⟧)⟧ } else { e:default⟦tanh(b:default⟦%x⟧)⟧ }",
    ),
    (
        "a computed condition",
        tables(a="logical_not nn.relu"),
        "",
        "if (logical_not(%c)) { nn.relu(%x) } else { %x }",
        "if (e:a⟦logical_not(b:a⟦%c⟧)⟧) { e:a⟦nn.relu(b:a⟦%x⟧)⟧ } else { %x }",
    ),
    (
        "a conditional as an argument",
        A,
        "",
        "nn.relu(if (%c) { %x } else { %y })",
        "e:a⟦nn.relu(b:a⟦if (%c) { %x } else { %y }⟧)⟧",
    ),
    ("the first target wins", AB, "targets=['a', 'b']", "tanh(nn.relu(%x))", "e:b⟦tanh(b:b⟦e:a⟦nn.relu(b:a⟦%x⟧)⟧⟧)⟧"),
    (
        "the order of targets counts",
        AB,
        "targets=['b', 'a']",
        "tanh(nn.relu(%x))",
        "e:b⟦tanh(b:b⟦e:b⟦nn.relu(b:b⟦%x⟧)⟧⟧)⟧",
    ),
    (
        "one of two targets",
        AB,
        "targets=['b']",
        "add(nn.relu(%x), %y)",
        "e:default⟦add(b:default⟦e:b⟦nn.relu(b:b⟦%x⟧)⟧⟧, b:default⟦%y⟧)⟧",
    ),
    ("all targets of the table", AB, "", "tanh(add(%x, %y))", "e:b⟦tanh(b:b⟦e:a⟦add(b:a⟦%x⟧, b:a⟦%y⟧)⟧⟧)⟧"),
    (
        "a let, by values",
        A,
        "",
        "let %a = nn.relu(%x); nn.relu(%a)",
        "let %a = e:a⟦nn.relu(b:a⟦%x⟧)⟧; e:a⟦nn.relu(b:a⟦%a⟧)⟧",
    ),
    ("a let of a literal, by values", A, "", "let %a = 1f; add(%x, %a)", "let %a = 1f; e:a⟦add(b:a⟦%x⟧, b:a⟦%a⟧)⟧"),
    ("a let, as reported", A, "lets='reported'", "let %a = nn.relu(%x); %a", "let %a = b:a⟦e:a⟦nn.relu(b:a⟦%x⟧)⟧⟧; %a"),
    ("a let of a literal, as reported", A, "lets='reported'", "let %a = 1f; %a", "let %a = b:default⟦1f⟧; %a"),
    ("a let, by definition", A, "lets='definition'", "let %a = nn.relu(%x); %a", "let %a = e:a⟦nn.relu(b:a⟦%x⟧)⟧; %a"),
    (
        "a let of a literal, by definition",
        A,
        "lets='definition'",
        "let %a = 1f; %a",
        "let %a = e:default⟦b:default⟦1f⟧⟧; %a",
    ),
    (
        "a let, by uses",
        A,
        "lets='uses'",
        "let %a = nn.relu(%x); add(%a, %a)",
        "let %a = nn.relu(b:a⟦%x⟧); e:a⟦add(b:a⟦e:a⟦%a⟧⟧, b:a⟦e:a⟦%a⟧⟧)⟧",
    ),
    ("a let of a literal, by uses", A, "lets='uses'", "let %a = 1f; %a", "let %a = b:default⟦1f⟧; e:default⟦%a⟧"),
    (
        "a let, in graph form",
        A,
        "lets='graph_form'",
        "let %a = nn.relu(%x); add(%a, %y)",
        "e:a⟦add(b:a⟦e:a⟦nn.relu(b:a⟦%x⟧)⟧⟧, b:a⟦%y⟧)⟧",
    ),
    ("a reference", A, "", "ref(nn.relu(%x))", "e:a⟦ref(b:a⟦e:a⟦nn.relu(b:a⟦%x⟧)⟧⟧)⟧"),
    (
        "a local function",
        A,
        "",
        "let %f = fn (%p: Tensor[(4, 4), float32]) { nn.relu(%p) }; %f(%x)",
        "let %f = fn (%p: Tensor[(4, 4), float32]) { e:a⟦nn.relu(b:a⟦%p⟧)⟧ }; e:default⟦%f(b:default⟦%x⟧)⟧",
    ),
)


@pytest.mark.parametrize(
    ("given", "options", "text", "expected"), [case[1:] for case in CASES], ids=[case[0] for case in CASES]
)
def test_annotations_stand_where_they_belong(given: rc.Tables, options: str, text: str, expected: str) -> None:
    made = after(program(text), f"AnnotateTarget({options})", given)
    wanted = program(begins(expected))
    found = [made["main"], wanted["main"]]
    assert rc.structural_equal(made, wanted) or rc.structural_equal(*found), rc.script(made)  # pyright: ignore[reportArgumentType]


COMPOSITES = (
    ("the prefix of a composite is its target", "nn.relu(%x)", "nn.relu", "a.relu", "a"),
    ("a name without a dot is its own target", "tanh(%x)", "tanh", "whole", "whole"),
)


@pytest.mark.parametrize(
    ("text", "operator", "name", "target"), [item[1:] for item in COMPOSITES], ids=[item[0] for item in COMPOSITES]
)
def test_a_composite_goes_by_its_name(text: str, operator: str, name: str, target: str) -> None:
    made = after(program(text), "MergeComposite, AnnotateTarget", COMPOSITE)
    wanted = program(begins(f"e:{target}⟦({FN.format(operator, name)})(b:{target}⟦%x⟧)⟧"))
    assert rc.structural_equal(made["main"], wanted["main"]), rc.script(made)  # pyright: ignore[reportArgumentType]


def test_a_composite_of_another_target_is_not_taken() -> None:
    made = after(program("nn.relu(%x)"), "MergeComposite, AnnotateTarget(targets=['whole'])", COMPOSITE)
    assert 'compiler="a"' not in rc.script(made)


@pytest.mark.parametrize("text", ["tanh(nn.relu(%x))", "add(tanh(%x), nn.relu(%y))", "(nn.relu(%x), tanh(%y))"])
@pytest.mark.parametrize("calls_only", ["", ", include_non_call_ops=False"])
def test_two_runs_are_one_run_with_both_targets(text: str, calls_only: str) -> None:
    once = after(program(text), f"AnnotateTarget(targets=['a', 'b']{calls_only})", AB)
    passes = f"AnnotateTarget(targets=['a']{calls_only}), AnnotateTarget(targets=['b']{calls_only})"
    assert rc.structural_equal(after(program(text), passes, AB), once)


def test_a_second_run_for_the_same_target_changes_nothing() -> None:
    once = after(program("tanh(nn.relu(%x))"), "AnnotateTarget", A)
    assert rc.structural_equal(after(once, "AnnotateTarget", A), once)


@pytest.mark.parametrize("key", ["Primitive", "Compiler", "Composite"])
def test_functions_of_others_are_not_entered(key: str) -> None:
    value = "1" if key == "Primitive" else '"z"'
    more = f"def @f(%p: Tensor[(4, 4), float32], {key}={value}) {{ nn.relu(%p) }}"
    made = after(program("nn.relu(%x)", more=more), "AnnotateTarget", A)
    text = rc.script(made)
    assert text[text.index("def @f") :].count("compiler_begin") == 0
    assert text.count("compiler_begin") == 1


def test_every_function_of_a_module_is_annotated() -> None:
    made = after(program("@f(%x)", more="def @f(%p: Tensor[(4, 4), float32]) { nn.relu(%p) }"), "AnnotateTarget", A)
    assert rc.script(made).count('compiler="a"') == 2


def test_a_predicate_decides_about_a_call() -> None:
    def has_different_operands(call: Call) -> bool:
        return call.args[0] is not call.args[1]

    given = rc.Tables(supported={"a": {"add": has_different_operands, "nn.relu": None}})
    text = rc.script(after(program("nn.relu(add(%x, %x))"), "AnnotateTarget", given))
    assert text.count('compiler="default"') == 3
    assert text.count('compiler="a"') == 2


@pytest.mark.parametrize("names", ["nn.relu", ["nn.relu"], ("nn.relu",), {"nn.relu": None}, {"nn.relu"}], ids=str)
def test_supported_names_come_in_any_collection(names: str | list[str]) -> None:
    given = rc.Tables(supported={"a": names})
    text = rc.script(after(program("tanh(nn.relu(%x))"), "AnnotateTarget", given))
    assert text.count('compiler="a"') == 2
    assert rc.read_tables(given.to_json()).to_json() == given.to_json()


@pytest.mark.parametrize("options", ["targets=['a.b']", "lets='other'"])
def test_an_option_that_is_none_is_refused(options: str) -> None:
    with pytest.raises((CompileError, ValueError)):
        after(program("%x"), f"AnnotateTarget({options})", A)


def test_without_a_target_there_is_nothing_to_do() -> None:
    (stage,) = rc.run_pipeline(program("%x"), "AnnotateTarget")
    assert [item.code for item in stage.diagnostics] == ["BY001"]


def test_a_begin_without_an_end_is_told_of() -> None:
    (stage,) = rc.run_pipeline(program("let %a = nn.relu(%x); %a"), "AnnotateTarget(lets='reported')", tables=A)
    assert [(item.code, item.severity) for item in stage.diagnostics] == [("BY002", "warning")]
