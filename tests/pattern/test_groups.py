"""Groups, partition and rewriting: what a match takes in, its name and parameters, and what is refused."""

from dataclasses import replace

import pytest

import relax_core as rc
from relax_core.check.infer import infer
from relax_core.diagnostics import CompileError
from relax_core.ir.attrs import attr
from relax_core.ir.expr import Call, Expr, Function
from relax_core.ir.module import IRModule
from relax_core.ir.node import postorder
from relax_core.ir.rewriting.rewrite import RewriteLog
from relax_core.pattern.language.nodes import is_constant, is_expr, is_op, is_var, wildcard
from relax_core.pattern.matching.matcher import Match
from relax_core.pattern.matching.search import facts_of
from relax_core.pattern.partition.groups import Grouping, group
from relax_core.pattern.partition.replace import partition
from tests.pattern.programs import main, module

CONV = "%0 = nn.conv2d(%data, %w, padding=[1, 1, 1, 1], channels=4, kernel_size=[3, 3]);"


def grouped(pattern: str, mod: IRModule) -> Grouping:
    made = rc.pattern(pattern)
    return group(made, main(mod), facts_of(mod, made))


def partitioned(pattern: str, mod: IRModule) -> Function:
    after, _ = partition(main(mod), grouped(pattern, mod).groups, {"Composite": "a.b"}, infer(mod).types, RewriteLog())
    assert isinstance(after, Function)
    return after


def literals(function: Function) -> list[Function]:
    return [node for node in postorder(function.body) if isinstance(node, Function)]


NAMES = (
    ("is_op('nn.relu')(is_op('nn.conv2d')(wildcard(), wildcard()))", f"{CONV} nn.relu(%0)", "nn.conv2d_nn.relu_"),
    ("is_op('nn.relu')(wildcard())", "nn.relu(%x)", "nn.relu_"),
    (
        "is_tuple_get_item(is_op('split')(wildcard()), 1)",
        "%0 = split(%x, indices_or_sections=2); %0.1",
        "split_TupleGetItem1_",
    ),
    ("is_op('concatenate')(is_tuple([wildcard(), wildcard()]))", "concatenate((%x, %y))", "Tuple_concatenate_"),
    ("wildcard()(is_op('nn.relu')(wildcard()))", "%f(nn.relu(%x))", "nn.relu_Call_"),
    ("is_op('add')(is_op('nn.relu')(wildcard()), is_constant())", "add(nn.relu(%x), 1f)", "nn.relu_add_"),
)


@pytest.mark.parametrize(("pattern", "text", "name"), NAMES, ids=[item[2] for item in NAMES])
def test_the_name_of_a_partition_lists_its_operators(pattern: str, text: str, name: str) -> None:
    (function,) = literals(partitioned(pattern, module(text)))
    assert attr(function.attrs, "PartitionedFromPattern") == name
    assert attr(function.attrs, "Composite") == "a.b"


INPUTS = (
    ("each once", "is_op('add')(wildcard(), wildcard())", "add(%x, %x)", ["%x"]),
    (
        "in the order of the pattern",
        "is_op('add')(wildcard(), is_op('tanh')(wildcard()))",
        "add(%y, tanh(%x))",
        ["%y", "%x"],
    ),
    ("no constant of the pattern", "is_op('add')(wildcard(), is_constant())", "add(%x, 1f)", ["%x"]),
    ("a constant for a wildcard", "is_op('add')(wildcard(), wildcard())", "add(%x, 1f)", ["%x", "1f"]),
    ("variables", "is_op('add')(is_var(), is_var())", "add(%y, %x)", ["%y", "%x"]),
    ("arguments of any call", "is_op('add').any_args()", "add(%y, %x)", ["%y", "%x"]),
    ("fields of any tuple", "is_op('concatenate')(is_tuple(None))", "concatenate((%y, %x))", ["%y", "%x"]),
    ("a callee", "wildcard()(wildcard())", "%f(%x)", ["%f", "%x"]),
)


@pytest.mark.parametrize(("pattern", "text", "names"), [item[1:] for item in INPUTS], ids=[item[0] for item in INPUTS])
def test_what_flows_in_becomes_parameters(pattern: str, text: str, names: list[str]) -> None:
    after = partitioned(pattern, module(text))
    call = after.body
    assert isinstance(call, Call)
    (function,) = literals(after)
    assert [param.name for param in function.params] == [f"FunctionVar_0_{k}" for k in range(len(names))]
    shown = [f"%{arg.name}" if hasattr(arg, "name") else "1f" for arg in call.args]  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]
    assert shown == names


def test_groups_are_numbered_from_the_result_backwards() -> None:
    mod = module("nn.relu(tanh(nn.relu(%x)))")
    numbers = [fn.params[0].name for fn in literals(partitioned("is_op('nn.relu')(wildcard())", mod))]
    assert numbers == ["FunctionVar_0_0", "FunctionVar_1_0"], "the outer one stands first"


def test_matches_do_not_overlap_and_the_last_one_wins() -> None:
    found = grouped("is_op('nn.relu')(is_op('nn.relu')(wildcard()))", module("nn.relu(nn.relu(nn.relu(%x)))"))
    assert len(found.groups) == 1
    assert found.groups[0].root is not None
    assert [item.obstacle for item in found.refusals] in (["overlap"], [])


def test_a_value_used_outside_is_an_obstacle() -> None:
    mod = module("%0 = tanh(%x); %1 = nn.relu(%0); add(%0, %1)")
    found = grouped("is_op('nn.relu')(is_op('tanh')(wildcard()))", mod)
    assert found.groups == ()
    (refusal,) = found.refusals
    assert refusal.obstacle == "inner use"
    assert isinstance(refusal.node, Call)
    assert refusal.because == (main(mod).body,)


def test_a_predicate_refuses_a_match() -> None:
    mod = module("nn.relu(%x)")
    made = rc.pattern("is_op('nn.relu')(wildcard())")
    found = group(made, main(mod), facts_of(mod, made), lambda _: False)
    assert [item.obstacle for item in found.refusals] == ["predicate"]


def test_a_partition_keeps_the_types() -> None:
    mod = module(f"{CONV} nn.relu(%0)")
    after = partitioned("is_op('nn.relu')(is_op('nn.conv2d')(wildcard(), wildcard()))", mod)
    (function,) = literals(after)
    assert all(param.annotation is not None for param in function.params)
    assert function.ret_type is not None
    assert rc.check(mod.with_definitions(replace(mod.definitions[0], function=after))) == ()


def same(mod: IRModule, text: str) -> bool:
    return rc.structural_equal(mod, module(text))


def test_a_rewrite_goes_on_until_nothing_changes() -> None:
    inner = wildcard()
    pattern = is_op("nn.relu")(is_op("nn.relu")(inner))

    def once(match: Match) -> Expr:
        return Call(match.root.op, (match[inner],))  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType, reportUnknownArgumentType]

    text = "nn.relu(nn.relu(nn.relu(nn.relu(%x))))"
    assert same(rc.rewrite(pattern, once, module(text)), "nn.relu(%x)")
    assert not same(rc.rewrite(pattern, once, module(text), once=True), "nn.relu(%x)")


def test_a_callback_that_returns_none_leaves_the_match() -> None:
    mod = module("nn.relu(%x)")
    assert rc.rewrite(is_op("nn.relu")(wildcard()), lambda _: None, mod) is mod


def test_a_rewrite_sees_the_parts_as_they_have_become() -> None:
    x, y = wildcard(), wildcard()

    def swapped(match: Match) -> Expr:
        return Call(is_expr(match.root).expr.op, (match[y], match[x]))  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType, reportUnknownArgumentType]

    after = rc.rewrite(is_op("subtract")(x, y), swapped, module("subtract(subtract(%x, %y), %x)"), once=True)
    assert same(after, "subtract(%x, subtract(%y, %x))")


def test_a_batch_norm_is_folded_into_a_call() -> None:
    x, mean, scale = wildcard(), is_var("y"), is_constant()
    pattern = (x - mean) * scale

    def folded(match: Match) -> Expr:
        return Call(rc.is_op("add").expr, (match[x], match[mean]))  # pyright: ignore[reportArgumentType]

    assert same(rc.rewrite(pattern, folded, module("multiply(subtract(%x, %y), 2f)")), "add(%x, %y)")


def test_a_rewrite_that_never_ends_is_stopped() -> None:
    x = wildcard()
    pattern = is_op("nn.relu")(x)

    def grown(match: Match) -> Expr:
        return Call(is_op("nn.relu").expr, (match.root,))

    with pytest.raises(CompileError) as caught:
        rc.rewrite(pattern, grown, module("nn.relu(%x)"))
    assert [item.code for item in caught.value.diagnostics] == ["PT004"]
