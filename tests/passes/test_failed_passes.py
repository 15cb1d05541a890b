"""A pass that comes to grief is a stage with diagnostics, and never an exception out of `run_pipeline`."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import pytest

import relax_core as rc
from relax_core.codes import CODES
from relax_core.diagnostics import Diagnostic
from relax_core.ir.expr import Call, Constant, Function, PrimType, SeqExpr, Var, op_name
from relax_core.ir.module import IRModule
from relax_core.passes.core import Pass, PassContext
from relax_core.passes.library import PASSES
from relax_core.passes.pipeline import Step, final_module, run_step
from tests.passes.programs import parse

TEXT = """    @R.function
    def main(x: R.Tensor((2, 3), "float32")) -> R.Tensor((2, 3), "float32"):
        y = R.add(x, x)
        z = R.multiply(y, y)
        return z
"""
Run = Callable[..., Any]


class NoWords(Exception):
    """An exception that cannot even be printed."""

    def __str__(self) -> str:
        raise KeyError("no words")


def main_with(module: IRModule, change: Callable[[Function], Function]) -> IRModule:
    """Return a module with another `main`."""
    made = [
        replace(item, function=change(item.function)) if isinstance(item.function, Function) else item
        for item in module.definitions
    ]
    return replace(module, definitions=tuple(made))


def with_body(function: Function, **changes: Any) -> Function:
    assert isinstance(function.body, SeqExpr)
    return replace(function, body=replace(function.body, **changes))


def raises(module: IRModule, options: Any, ctx: PassContext) -> IRModule:
    return {"there": module}["not there"]


def raises_elsewhere(module: IRModule, options: Any, ctx: PassContext) -> IRModule:
    return replace(module, no_such_field=1)


def gives_up_without_words(module: IRModule, options: Any, ctx: PassContext) -> IRModule:
    raise rc.CompileError(())


def refuses_by_another_error(module: IRModule, options: Any, ctx: PassContext) -> IRModule:
    raise rc.RunError((Diagnostic("VM017", "nothing is known of it"),))


def cannot_say_why(module: IRModule, options: Any, ctx: PassContext) -> IRModule:
    raise NoWords


def recurses(module: IRModule, options: Any, ctx: PassContext) -> IRModule:
    return recurses(module, options, ctx)


def returns_none(module: IRModule, options: Any, ctx: PassContext) -> None:
    rc.check(module)


def returns_a_function(module: IRModule, options: Any, ctx: PassContext) -> Any:
    return module.definitions[0].function


def leaves_a_free_variable(module: IRModule, options: Any, ctx: PassContext) -> IRModule:
    return main_with(module, lambda function: with_body(function, body=Var("nobody")))


def declares_another_result(module: IRModule, options: Any, ctx: PassContext) -> IRModule:
    return main_with(module, lambda function: replace(function, ret_type=PrimType("int64")))


def leaves_a_wrong_call(module: IRModule, options: Any, ctx: PassContext) -> IRModule:
    return main_with(module, lambda function: ctx.rewrite(function, of_two_sizes))


def of_two_sizes(node: Any) -> Any:
    is_sum = isinstance(node, Call) and op_name(node) == "relax.add"
    return replace(node, args=(node.args[0], Constant(np.ones((7, 7), np.float32)))) if is_sum else None


def leaves_a_hole(module: IRModule, options: Any, ctx: PassContext) -> IRModule:
    return main_with(module, lambda function: with_body(function, blocks=(None,)))


def leaves_a_string(module: IRModule, options: Any, ctx: PassContext) -> IRModule:
    return main_with(module, lambda function: with_body(function, body="z"))


FAILING: dict[str, tuple[Run, str, str]] = {
    "raises": (raises, "PS015", "Mine stopped with KeyError: 'not there' at "),
    "raises in a library": (raises_elsewhere, "PS015", "in raises_elsewhere"),
    "is a callable object": (partial(raises), "PS015", "in raises"),
    "gives up without words": (gives_up_without_words, "PS015", "CompileError"),
    "refuses by a run-time error": (refuses_by_another_error, "VM017", "nothing is known"),
    "cannot say why": (cannot_say_why, "PS015", "NoWords"),
    "recurses for ever": (recurses, "PS015", "RecursionError"),
    "takes other arguments": (len, "PS015", "TypeError"),
    "returns None": (returns_none, "PS016", "must return an IRModule, got None"),
    "returns a function": (returns_a_function, "PS016", "got a value of type Function"),
    "leaves a free variable": (leaves_a_free_variable, "PS017", "`nobody` is not defined (WF002"),
    "leaves a call of wrong types": (leaves_a_wrong_call, "PS017", "is ill-formed"),
    "leaves a hole": (leaves_a_hole, "PS017", "cannot be checked"),
    "leaves a string": (leaves_a_string, "PS017", "cannot be checked"),
}  # fmt: skip


def own(run: Any, **more: Any) -> Pass:
    return Pass("Mine", "What it does.", run, **more)


@pytest.mark.parametrize(("run", "code", "words"), FAILING.values(), ids=FAILING)
def test_what_a_pass_does_wrong_is_a_stage_with_diagnostics(run: Run, code: str, words: str) -> None:
    module = parse(TEXT)
    stages = rc.run_pipeline(module, ["Normalize, LambdaLift", own(run), "LegalizeOps"])
    assert [(item.pass_name, item.is_failed) for item in stages] == [
        ("Normalize", False), ("LambdaLift", False), ("Mine", True),
    ]  # fmt: skip
    last = stages[-1]
    assert last.diagnostics[0].code == code
    assert words in last.diagnostics[0].message
    assert code in CODES
    assert last.after is last.before is stages[1].after
    assert (last.rejected is not None) == (code == "PS017")
    with pytest.raises(rc.CompileError) as caught:
        final_module(module, stages)
    assert caught.value.diagnostics == last.diagnostics


def test_what_is_dubious_about_the_module_that_a_pass_leaves_is_a_warning() -> None:
    (stage,) = rc.run_pipeline(parse(TEXT), own(declares_another_result))
    assert not stage.is_failed
    assert [(item.code, item.severity) for item in stage.diagnostics] == [("TY021", "warning")]


def test_one_step_fails_in_the_same_way() -> None:
    module = parse(TEXT)
    stage = run_step(Step(own(raises), None, "Mine"), module)
    assert [item.code for item in stage.diagnostics] == ["PS015"]
    assert stage.after is module


def test_the_last_place_in_the_users_pass_is_named() -> None:
    line = raises_elsewhere.__code__.co_firstlineno + 1
    (stage,) = rc.run_pipeline(parse(TEXT), own(raises_elsewhere))
    assert f"{__file__}:{line}, in raises_elsewhere" in stage.diagnostics[0].message


def test_a_mistake_in_a_pass_of_the_library_is_placed_in_this_package(monkeypatch: pytest.MonkeyPatch) -> None:
    normalize = PASSES["relax", "Normalize"]

    def rewrites_nothing(module: IRModule, options: object, ctx: Any) -> IRModule:
        return ctx.rewrite(None)

    broken = replace(normalize, run=rewrites_nothing)
    monkeypatch.setattr("relax_core.passes.library.PASSES", {**PASSES, ("relax", "Normalize"): broken})
    (stage,) = rc.run_pipeline(parse(TEXT), [broken])
    assert "Normalize stopped with " in stage.diagnostics[0].message
    assert " at relax_core/" in stage.diagnostics[0].message
    assert "mistake in the pass" in stage.diagnostics[0].hint


def test_a_crash_over_what_an_earlier_pass_left_is_that_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    trusted = replace(PASSES["relax", "Normalize"], run=leaves_a_hole)
    monkeypatch.setattr("relax_core.passes.library.PASSES", {**PASSES, ("relax", "Normalize"): trusted})
    stages = rc.run_pipeline(parse(TEXT), ["LambdaLift", trusted, "LegalizeOps"])
    assert [(item.pass_name, item.is_failed) for item in stages] == [("LambdaLift", False), ("Normalize", True)]
    assert [item.code for item in stages[-1].diagnostics] == ["PS017"]


def test_a_pass_of_ones_own_goes_with_those_of_the_library() -> None:
    def doubles(module: IRModule, options: Any, ctx: PassContext) -> IRModule:
        return main_with(module, lambda function: ctx.rewrite(function, doubled))

    def doubled(node: Any) -> Any:
        is_sum = isinstance(node, Call) and op_name(node) == "relax.add"
        return replace(node, args=node.args[::-1]) if is_sum else None

    module = parse(TEXT)
    for passes in (own(doubles), [own(doubles)], [own(doubles), "LegalizeOps"], (Step(own(doubles), None, "Mine"),)):
        stages = rc.run_pipeline(module, passes)
        assert not stages[-1].is_failed, stages[-1].diagnostics
    assert rc.build(module) is not None


@dataclass(frozen=True)
class Depth:
    depth: int


WRONG = {
    "a number": ([3], "PS001"),
    "no list": (3, "PS001"),
    "a list": ([["Normalize"]], "PS001"),
    "a name that is not there": (["Normalize", "NoSuch"], "PS001"),
    "a pass of Relay": ([own(raises, dialect="relay")], "PS010"),
    "an option without a default": ([own(raises, options=Depth)], "PS002"),
    "a property that is not there": ([own(raises, needs=("good looks",))], "PS002"),
}


@pytest.mark.parametrize(("passes", "code"), WRONG.values(), ids=WRONG)
def test_what_is_no_pipeline_is_refused(passes: Any, code: str) -> None:
    with pytest.raises(rc.CompileError) as caught:
        rc.run_pipeline(parse(TEXT), passes)
    assert [item.code for item in caught.value.diagnostics] == [code]
