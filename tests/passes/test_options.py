"""Options of passes: a value of another type than an option declares is PS002, wherever the pipeline comes from."""

from collections.abc import Callable
from dataclasses import fields
from typing import Any, Literal

import pytest

import relax_core as rc
from relax_core.diagnostics import Diagnostic
from relax_core.ir.module import IRModule
from relax_core.passes.core import Pass, PassContext
from relax_core.passes.library import PASSES
from relax_core.passes.options import OptionTypeError, described, option_types, option_value, required_options
from relax_core.passes.pipeline import parse_pipeline

OPTIONS = [(*key, item.name) for key, pass_ in PASSES.items() for item in fields(pass_.options)]
WRONG = ("'x'", "7", "True", "None", "1.5", "b'x'", "[None]", "[[1]]", "{1: 2}", "['x', 'y', 'z']", "[1, 2, 3]")
"""Literals of many types: each option but one that takes any value refuses several of them."""
ANY = frozenset((("tir", "Annotate", "ann_val"),))
"""An annotation has any value."""


def given(pass_: Pass, name: str, value: str) -> str:
    """The text of a pass with `value` for one option, and something for those that it cannot do without."""
    others = [f"{item}='x'" for item in required_options(pass_) if item != name]
    return f"{pass_.dialect}.{pass_.name}({', '.join((*others, f'{name}={value}'))})"


def refusals(text: str, dialect: Any) -> tuple[Diagnostic, ...]:
    try:
        parse_pipeline(text, "relay" if dialect == "relay" else "relax")
    except rc.CompileError as error:
        return error.diagnostics
    return ()


@pytest.mark.parametrize(("dialect", "name", "option"), OPTIONS, ids=[".".join(item) for item in OPTIONS])
def test_every_option_refuses_values_of_other_types(dialect: str, name: str, option: str) -> None:
    pass_ = PASSES[dialect, name]
    declared = described(option_types(pass_)[option])
    refused = 0
    for value in WRONG:
        for item in refusals(given(pass_, option, value), dialect):
            assert item.code == "PS002", value
            if item.message.startswith(f"{name} takes {declared} as {option}, got "):
                assert item.span is not None
                assert item.span.text == f"{option}={value}"
                refused += 1
    assert refused >= 3 or (dialect, name, option) in ANY


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("FuseOps(max_depth='x')", "FuseOps takes an integer as max_depth, got 'x'"),
        ("FuseOps(max_depth=True)", "FuseOps takes an integer as max_depth, got True"),
        ("FuseOps(max_depth=1.5)", "FuseOps takes an integer as max_depth, got 1.5"),
        ("EliminateCommonSubexpr(call_only=1)", "EliminateCommonSubexpr takes True or False as call_only, got 1"),
        ("LambdaLift(names='2020')", "LambdaLift takes 'tvm' or '2022' as names, got '2020'"),
        ("LegalizeOps(functions=[1])", "LegalizeOps takes a list of strings as functions, got (1,)"),
        ("LegalizeOps(custom=[1])", "LegalizeOps takes a dict from strings to strings as custom, got (1,)"),
        ("LiftTransformParams(shared_transform=1)",
         "LiftTransformParams takes True or False or a list of strings as shared_transform, got 1"),
        ("Split(block='b', loop='i', factors=['x'])",
         "Split takes a list of integers or None as factors, got ('x',)"),
        ("Reindex(block='b', buffer='x')",
         "Reindex takes a pair of 'read' or 'write' and an integer as buffer, got 'x'"),
        ("ConvertLayout(layout_cb='x')", "ConvertLayout takes a function or None as layout_cb, got 'x'"),
        ("ConvertLayout(desired_layouts={'nn.conv2d': 1})",
         "ConvertLayout takes a dict from strings to lists of strings as desired_layouts, got (('nn.conv2d', 1),)"),
    ],
)  # fmt: skip
def test_a_refusal_says_what_is_expected_and_what_was_given(text: str, message: str) -> None:
    (found,) = refusals(text, "relax")
    assert (found.code, found.message) == ("PS002", message)
    assert "the default is" in found.hint


@pytest.mark.parametrize("value", ["{1, 2}", "1j", "...", "[{1}]", "1e400"])
def test_only_strings_numbers_lists_and_dicts_are_literals(value: str) -> None:
    (found,) = refusals(f"Annotate(block='b', ann_key='k', ann_val={value})", "relax")
    assert (found.code, found.message) == ("PS002", f"{value} is not a literal")


def test_a_single_item_stands_for_a_list_of_it_and_a_dict_for_its_pairs() -> None:
    layouts = parse_pipeline("ConvertLayout(desired_layouts={'nn.conv2d_transpose': ['NHWC', 'IHWO']})")[0].options
    assert dict(layouts.desired_layouts) == {"relax.nn.conv2d_transpose": ("NHWC", "IHWO")}
    assert parse_pipeline("LegalizeOps(functions='main')")[0].options.functions == ("main",)
    assert parse_pipeline("LiftTransformParams(shared_transform='main')")[0].options.shared_transform == ("main",)
    assert parse_pipeline("LiftTransformParams(shared_transform=True)")[0].options.shared_transform is True


def test_values_that_no_text_holds_are_checked_as_well() -> None:
    with pytest.raises(rc.CompileError) as caught:
        rc.pass_("FuseOps", max_depth=len)
    (found,) = caught.value.diagnostics
    message = "FuseOps takes an integer as max_depth, got a value of type builtin_function_or_method"
    assert (found.code, found.message) == ("PS002", message)


def test_options_of_ones_own_pass_have_the_types_of_its_parameters() -> None:
    def mine(
        module: IRModule,
        ctx: PassContext,
        *,
        depth: int = 2,
        by: Literal["row", "column"] = "row",
        weight: float = 1.0,
        names: list[str] | None = None,
        check: Callable[[int], bool] | None = None,
        rest: Any = (),
    ) -> IRModule:
        del ctx, depth, by, weight, names, check, rest
        return module

    step = rc.pass_(mine, depth=3, by="column", weight=2, names=["a"], check=bool, rest={1})
    assert not isinstance(step, str)
    wrong: tuple[dict[str, Any], ...] = (
        {"depth": "x"},
        {"by": "rows"},
        {"weight": "heavy"},
        {"check": len, "depth": 1j},
    )
    for values in wrong:
        with pytest.raises(rc.CompileError, match="PS002"):
            rc.pass_(mine, **values)
    assert option_value(step.pass_, "names", ["a"]) == ["a"], "a list that is declared as such is no tuple"
    with pytest.raises(OptionTypeError, match="mine takes an integer as depth, got 'x'"):
        option_value(step.pass_, "depth", "x")


def test_none_leaves_an_option_out() -> None:
    (step,) = parse_pipeline("DeadCodeElimination(entry_functions=None)", "relax")
    assert step.options == PASSES["relax", "DeadCodeElimination"].options()
