"""MergeComposite, MergeCompilerRegions and PartitionGraph: which functions come out, and how they are called."""

import numpy as np
import pytest

import relax_core as rc
from relax_core.ir.attrs import attr
from relax_core.ir.expr import Constant, Function
from relax_core.ir.module import IRModule
from relax_core.ir.node import postorder
from relax_core.pattern.partition.apart import apart
from tests.passes.relay.byoc import T, after, program, stages, tables

A = tables(a="nn.relu add split concatenate multiply")
AB = tables(a="nn.relu add", b="exp")
PASSES = "AnnotateTarget{}, MergeCompilerRegions, PartitionGraph"
FULL = f"MergeComposite, {PASSES.format('')}"

# text, tables, the operators of each external function in the order of the text
CASES: tuple[tuple[str, str, rc.Tables, list[str]], ...] = (
    ("a chain is one region", "nn.relu(nn.relu(nn.relu(%x)))", A, ["nn.relu nn.relu nn.relu"]),
    ("what lies between divides", "nn.relu(tanh(nn.relu(%x)))", A, ["nn.relu", "nn.relu"]),
    ("a diamond is one region", "%0 = nn.relu(%x); add(nn.relu(%0), nn.relu(%0))", A, ["nn.relu nn.relu nn.relu add"]),
    (
        "a diamond through another operator is two",
        "%0 = nn.relu(%x); add(nn.relu(%0), tanh(%0))",
        A,
        ["nn.relu nn.relu", "add"],
    ),
    (
        "a deeper way through another operator is two",
        "%0 = nn.relu(%x); add(%0, nn.relu(tanh(nn.relu(%0))))",
        A,
        ["nn.relu nn.relu", "nn.relu add"],
    ),
    ("independent branches join at their user", "add(nn.relu(%x), nn.relu(%y))", A, ["nn.relu nn.relu add"]),
    ("independent results do not join in a tuple", "(nn.relu(%x), nn.relu(%y))", A, ["nn.relu", "nn.relu"]),
    ("two targets are two regions", "exp(nn.relu(%x))", AB, ["nn.relu", "exp"]),
    ("targets that take turns", "nn.relu(exp(nn.relu(exp(%x))))", AB, ["exp", "nn.relu", "exp", "nn.relu"]),
    ("a let divides", "let %a = nn.relu(%x); nn.relu(%a)", A, ["nn.relu", "nn.relu"]),
    (
        "a field stays inside",
        "%0 = split(%x, indices_or_sections=2); concatenate((%0.0, %0.1))",
        A,
        ["split concatenate"],
    ),
    ("branches have regions of their own", "if (%c) { nn.relu(%x) } else { add(%x, %y) }", A, ["nn.relu", "add"]),
    (
        "a branch and what is before it",
        "%0 = nn.relu(%x); if (%c) { nn.relu(%0) } else { %0 }",
        A,
        ["nn.relu", "nn.relu"],
    ),
    ("a branch and what is behind it", "nn.relu(if (%c) { nn.relu(%x) } else { %y })", A, ["nn.relu", "nn.relu"]),
    ("another name of a value", "let %a = nn.relu(%x); let %b = %a; tanh(%b)", A, ["nn.relu"]),
    ("another name that nothing uses", "let %a = nn.relu(add(%x, %y)); let %b = %a; %y", A, ["add nn.relu"]),
    ("nothing to take", "tanh(%x)", A, []),
    (
        "a function inside",
        "let %f = fn (%p: Tensor[(4, 4), float32]) { nn.relu(%p) }; %f(nn.relu(%x))",
        A,
        ["nn.relu", "nn.relu"],
    ),
)


def external(mod: IRModule) -> dict[str, Function]:
    """Return the functions that PartitionGraph made."""
    return {var.name: function for var, function in mod.relax_functions if attr(function.attrs, "Compiler")}


def operators(function: Function) -> str:
    names = [getattr(getattr(node, "op", None), "name", "") for node in postorder(function.body)]
    return " ".join(name for name in names if name)


def value(mod: IRModule) -> tuple[object, ...]:
    rng = np.random.default_rng(0)
    x, y = (rng.standard_normal((4, 4)).astype("float32") for _ in range(2))
    return tuple(rc.evaluate(mod, "main", x, y, np.bool_(flag)) for flag in (True, False))


@pytest.mark.parametrize(("text", "given", "found"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_regions_become_functions(text: str, given: rc.Tables, found: list[str]) -> None:
    mod = program(text)
    made = after(mod, PASSES.format(""), given)
    assert [operators(function) for function in external(made).values()] == found, rc.script(made)
    assert rc.check(made) == ()
    assert "compiler_" not in rc.script(made)
    for old, new in zip(value(mod), value(made), strict=True):
        np.testing.assert_equal(new, old)


@pytest.mark.parametrize("lets", ["values", "definition", "uses", "graph_form"])
@pytest.mark.parametrize("calls_only", ["", ", include_non_call_ops=False"])
@pytest.mark.parametrize("text", [case[1] for case in CASES], ids=[case[0] for case in CASES])
def test_every_way_keeps_the_value(text: str, lets: str, calls_only: str) -> None:
    mod = program(text)
    made = after(mod, PASSES.format(f"(lets={lets!r}{calls_only})"), A)
    assert rc.check(made) == ()
    for old, new in zip(value(mod), value(made), strict=True):
        np.testing.assert_equal(new, old)


def one(mod: IRModule) -> Function:
    (function,) = external(mod).values()
    return function


def test_a_function_has_its_attributes_and_types() -> None:
    made = after(program("add(nn.relu(%x), %y)"), PASSES.format(""), A)
    ((name, function),) = external(made).items()
    assert name == "tvmgen_default_a_main_0"
    wanted = (("Primitive", 1), ("Inline", 1), ("Compiler", "a"), ("global_symbol", name))
    assert function.attrs == wanted
    assert [param.name for param in function.params] == ["a_0_i0", "a_0_i1"]
    assert all(param.annotation is not None for param in function.params)
    assert function.ret_type is not None


def test_the_module_name_stands_in_the_names() -> None:
    made = after(program("nn.relu(%x)"), "AnnotateTarget, PartitionGraph(mod_name='net')", A)
    assert list(external(made)) == ["tvmgen_net_a_main_0"]


def test_an_input_that_comes_twice_is_one_parameter() -> None:
    function = one(after(program("add(multiply(%x, %y), %x)"), PASSES.format(""), A))
    assert len(function.params) == 2


def test_several_results_are_a_tuple() -> None:
    mod = program("%0 = nn.relu(%x); %1 = add(%0, %y); (tanh(%0), tanh(%1))")
    made = after(mod, PASSES.format("(include_non_call_ops=False)"), A)
    assert type(one(made).body).__name__ == "Tuple"
    assert rc.script(made).count(".0") >= 1
    assert rc.script(made).count("= @tvmgen_default_a_main_0(") == 1
    np.testing.assert_equal(value(made), value(mod))


def test_constants_are_bound_into_the_body_if_asked() -> None:
    mod = program("add(nn.relu(%x), 2f)")
    bound = one(after(mod, PASSES.format(""), A))
    free = one(after(mod, f"{PASSES.format('')}(bind_constants=False)", A))
    assert len(bound.params) == 1
    assert any(isinstance(node, Constant) for node in postorder(bound.body))
    assert len(free.params) == 2
    assert not any(isinstance(node, Constant) for node in postorder(free.body))


def test_functions_of_a_module_are_all_partitioned() -> None:
    mod = program("nn.relu(@f(%x))", more="def @f(%p: Tensor[(4, 4), float32]) { nn.relu(%p) }")
    made = after(mod, PASSES.format(""), A)
    assert sorted(external(made)) == ["tvmgen_default_a_f_0", "tvmgen_default_a_main_0"]


def test_a_module_without_regions_is_left_alone() -> None:
    mod = program("tanh(%x)")
    assert rc.structural_equal(after(mod, PASSES.format(""), A), mod)


def test_partitioning_again_changes_nothing() -> None:
    once = after(program("nn.relu(tanh(nn.relu(%x)))"), PASSES.format(""), A)
    assert rc.structural_equal(after(once, PASSES.format("(targets=['z'])"), A), once)


def test_composites_are_kept_inside_of_their_function() -> None:
    given = tables(("a.add_relu", "is_op('nn.relu')(is_op('add')(wildcard(), wildcard()))"), a="multiply")
    made = after(program("multiply(nn.relu(add(%x, %y)), %x)"), FULL, given)
    inner = [node for node in postorder(one(made).body) if isinstance(node, Function)]
    assert [attr(node.attrs, "Composite") for node in inner] == ["a.add_relu"]
    np.testing.assert_equal(value(made), value(program("multiply(nn.relu(add(%x, %y)), %x)")))


COMPOSITES: tuple[tuple[str, str, tuple[tuple[str, str], ...], list[str]], ...] = (
    (
        "the first pattern has priority",
        "nn.relu(add(%x, %y))",
        (
            ("a.both", "is_op('nn.relu')(is_op('add')(wildcard(), wildcard()))"),
            ("a.add", "is_op('add')(wildcard(), wildcard())"),
        ),
        ["a.both"],
    ),
    (
        "the other order",
        "nn.relu(add(%x, %y))",
        (
            ("a.add", "is_op('add')(wildcard(), wildcard())"),
            ("a.both", "is_op('nn.relu')(is_op('add')(wildcard(), wildcard()))"),
        ),
        ["a.add"],
    ),
    ("twice the same", "nn.relu(nn.relu(%x))", (("a.relu", "is_op('nn.relu')(wildcard())"),), ["a.relu", "a.relu"]),
    (
        "two patterns beside each other",
        "add(nn.relu(%x), tanh(%y))",
        (("a.relu", "is_op('nn.relu')(wildcard())"), ("b.tanh", "is_op('tanh')(wildcard())")),
        ["a.relu", "b.tanh"],
    ),
    (
        "an optional that is there",
        "nn.relu(add(%x, %y))",
        (("a.o", "is_op('add')(wildcard(), wildcard()).optional(lambda p: is_op('nn.relu')(p))"),),
        ["a.o"],
    ),
    (
        "a value that is used outside",
        "%0 = add(%x, %y); multiply(nn.relu(%0), %0)",
        (("a.both", "is_op('nn.relu')(is_op('add')(wildcard(), wildcard()))"),),
        [],
    ),
    (
        "inside of a branch",
        "if (%c) { nn.relu(add(%x, %y)) } else { %x }",
        (("a.both", "is_op('nn.relu')(is_op('add')(wildcard(), wildcard()))"),),
        ["a.both"],
    ),
    (
        "not across a let",
        "let %a = add(%x, %y); nn.relu(%a)",
        (("a.both", "is_op('nn.relu')(is_op('add')(wildcard(), wildcard()))"),),
        [],
    ),
    ("a tuple", "concatenate((%x, %y))", (("a.cat", "is_op('concatenate')(is_tuple(None))"),), ["a.cat"]),
    ("in a function of the module", "%x", (("a.relu", "is_op('nn.relu')(wildcard())"),), []),
)


@pytest.mark.parametrize(
    ("text", "patterns", "names"), [case[1:] for case in COMPOSITES], ids=[case[0] for case in COMPOSITES]
)
def test_composites(text: str, patterns: tuple[tuple[str, str], ...], names: list[str]) -> None:
    mod = program(text)
    made = after(mod, "MergeComposite", tables(*patterns))
    found = [attr(n.attrs, "Composite") for n in postorder(made["main"]) if isinstance(n, Function)]
    assert sorted(str(name) for name in found if name) == names, rc.script(made)
    assert rc.check(made) == ()
    np.testing.assert_equal(value(made), value(mod))


def test_the_check_of_a_pattern_sees_its_match_and_refuses() -> None:
    relu = rc.pattern("is_op('nn.relu')(wildcard())")
    given = rc.Tables(patterns=(("a.relu", relu, lambda match: match.root.op is None),))  # pyright: ignore[reportAttributeAccessIssue, reportUnknownLambdaType, reportUnknownMemberType]
    (stage,) = stages(program("nn.relu(%x)"), "MergeComposite", given)
    assert not stage.is_changed
    assert [item.message for item in stage.remarks if item.kind == "missed"] == [
        "a.relu: the table's predicate refuses it"
    ]


def test_a_pattern_that_fits_nowhere_says_where_it_came_furthest() -> None:
    given = tables(("a.both", "is_op('nn.relu')(is_op('add')(wildcard(), wildcard()))"))
    (stage,) = stages(program("nn.relu(multiply(%x, %y))"), "MergeComposite", given)
    assert [item.message for item in stage.remarks] == ["a.both: is_op('add') did not match: is not add"]


def test_merging_through_lets_keeps_effects() -> None:
    through = "AnnotateTarget, MergeCompilerRegions(through_lets=True), PartitionGraph"
    pure = program("let %a = nn.relu(%x); let %b = nn.relu(%a); add(%a, %b)")
    assert [operators(item) for item in external(after(pure, through, A)).values()] == ["nn.relu nn.relu add"]
    text = "let %r = ref(%x); let %a = nn.relu(ref_read(%r)); ref_write(%r, %y); nn.relu(%a)"
    made = after(program(text), through, A)
    assert [operators(item) for item in external(made).values()] == ["nn.relu", "nn.relu"]
    np.testing.assert_equal(value(made), value(program(text)))


LETS = "AnnotateTarget(lets={!r}, include_non_call_ops=False), MergeCompilerRegions{}, PartitionGraph"


@pytest.mark.parametrize("lets", ["values", "definition", "uses"])
def test_lets_that_give_way_are_one_region_in_every_way_of_annotation(lets: str) -> None:
    """Another name of a value is a let too, whose region holds nothing."""
    mod = program("let %a = nn.relu(%x); let %b = %a; let %d = add(%b, %y); add(%d, %a)")
    made = after(mod, LETS.format(lets, "(through_lets=True)"), A)
    assert [operators(item) for item in external(made).values()] == ["nn.relu add add"]
    np.testing.assert_equal(value(made), value(mod))


def test_ends_at_the_uses_of_a_let_keep_no_region_apart_that_stands_before_it() -> None:
    mod = program("let %a = nn.relu(add(%x, %y)); tanh(%a)")
    made = after(mod, LETS.format("uses", ""), A)
    assert [operators(item) for item in external(made).values()] == ["add nn.relu"]


def test_a_let_in_a_branch_keeps_no_region_apart_that_begins_before_it() -> None:
    """A begin around a parameter computes nothing."""
    mod = program("add(%y, nn.relu(if (%c) { let %a = tanh(%x); tanh(%a) } else { %x }))")
    made = after(mod, PASSES.format(""), A)
    assert [operators(item) for item in external(made).values()] == ["nn.relu add"]
    np.testing.assert_equal(value(made), value(mod))


def test_a_path_through_the_clause_of_a_match_keeps_regions_apart() -> None:
    body = "%0 = nn.relu(%x); %1 = match (%o) { Som(%q) => tanh(add(%0, %q)), Non => %0 }; add(%0, %1)"
    module = rc.parse(
        f'#[version = "0.0.5"]\ntype Opt[A] {{ Som(A), Non }}\ndef @main(%x: {T}, %o: Opt[{T}]) {{ {body} }}\n',
        "m.relay",
    )
    ran = stages(module, "AnnotateTarget, MergeCompilerRegions, PartitionGraph", tables(a="nn.relu add"))
    assert sorted(operators(item) for item in external(ran[-1].after).values()) == ["add", "add", "nn.relu"]
    assert rc.check(ran[-1].after) == ()
    reasons = [(pair.kind, pair.path) for pair in apart(ran[1].after)]
    assert ("blocking path", ("a 0", "a 2", "tanh", "Match", "a 1")) in reasons
