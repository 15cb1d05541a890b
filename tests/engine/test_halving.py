"""Halving: of what the guilty pass changed, the fewest changes with which the result is wrong."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import relax_core as rc
from relax_core.cli import main
from relax_core.engine.debug.replies import Bisection
from relax_core.engine.halving.minimise import Answer, Chosen, Trials, minimal
from relax_core.engine.halving.reply import Budget
from relax_core.ir.expr import Call, Op, op_name
from relax_core.ir.module import IRModule
from relax_core.ir.node import Node
from tests.engine.pipelines.stage_texts import HEAD, dump

BODY = """    @R.function
    def main(x: R.Tensor((2, 3), dtype="float32")) -> R.Tensor((2, 3), dtype="float32"):
        with R.dataflow():
            a: R.Tensor((2, 3), dtype="float32") = R.multiply(x, R.const(2.0, "float32"))
            b: R.Tensor((2, 3), dtype="float32") = R.nn.relu(a)
            c: R.Tensor((2, 3), dtype="float32") = R.multiply(b, R.const(2.0, "float32"))
            d: R.Tensor((2, 3), dtype="float32") = R.subtract(c, x)
            e: R.Tensor((2, 3), dtype="float32") = R.multiply(d, R.const(2.0, "float32"))
            R.output(e)
        return e
"""
OTHER = """    @R.function
    def other(x: R.Tensor((2, 3), dtype="float32")) -> R.Tensor((2, 3), dtype="float32"):
        y: R.Tensor((2, 3), dtype="float32") = R.add(x, x)
        return y
"""
SOURCE = HEAD + BODY + OTHER
# As it should be but for `d`, and with `a` and `e` in another way and under another name.
WRONG = (
    SOURCE.replace('a: R.Tensor((2, 3), dtype="float32") = R.multiply(x, R.const(2.0, "float32"))', "lv = R.add(x, x)")
    .replace("relu(a)", "relu(lv)")
    .replace("R.subtract(c, x)", "R.subtract(x, c)")
    .replace('R.multiply(d, R.const(2.0, "float32"))', "R.add(d, d)")
    .replace("R.add(x, x)\n        return", 'R.multiply(x, R.const(2.0, "float32"))\n        return')
)
X = np.array([[1, -2, 3], [-4, 5, 6]], np.float32)


def forms(*texts: str, **options: Any) -> Bisection:
    return rc.bisect_modules({f"m{at}.py": rc.parse(text) for at, text in enumerate(texts)}, X, **options)


def test_of_several_changed_bindings_the_wrong_one_is_named() -> None:
    found = forms(SOURCE, WRONG)
    halved = found.halved
    assert halved is not None
    assert (halved.kind, halved.count, halved.without, halved.is_isolated) == ("binding", 3, "right", True)
    (change,) = halved.changes
    assert (change.function, change.line, change.line_before) == ("main", 12, 12)
    assert "R.subtract(x, c)" in change.text
    assert "R.subtract(c, x)" in change.text_before
    assert (
        f"With only this one of its 3 changed bindings the result is wrong; without it it is right: {change.words}"
        in (found.conclusion)
    )
    assert halved.tried <= 10
    assert change.words.startswith("`d: ")
    assert "` in line 12 of `main`, which was `d: " in change.words


def test_where_other_changes_are_wrong_as_well_that_is_said() -> None:
    found = forms(SOURCE, WRONG.replace("R.add(d, d)", "R.add(d, x)"))
    assert found.halved is not None
    assert (found.halved.count, found.halved.without, found.halved.is_isolated) == (3, "wrong", False)
    assert "without it it is still wrong, so that other changes do it as well" in found.conclusion


def test_a_function_that_has_no_bindings_is_named_as_a_whole() -> None:
    kernel = """    @T.prim_func(private=True)
    def {name}(x: T.Buffer((T.int64(2), T.int64(3)), "float32"), y: T.Buffer((T.int64(2), T.int64(3)), "float32")):
        for i, j in T.grid(T.int64(2), T.int64(3)):
            y[i, j] = {value}
"""
    text = "# from tvm.script import tirx as T\n" + HEAD
    text += kernel.format(name="double", value="x[i, j] * T.float32(2)")
    text += kernel.format(name="half", value="x[i, j] / T.float32(2)")
    text += """    @R.function
    def main(x: R.Tensor((2, 3), dtype="float32")) -> R.Tensor((2, 3), dtype="float32"):
        cls = Module
        a = R.call_tir(cls.double, (x,), out_ty=R.Tensor((2, 3), dtype="float32"))
        b = R.call_tir(cls.half, (a,), out_ty=R.Tensor((2, 3), dtype="float32"))
        return b
"""
    other = text.replace("x[i, j] * T.float32(2)", "x[i, j] + x[i, j]").replace("x[i, j] / T.f", "x[i, j] - T.f")
    found = forms(text, other)
    assert found.halved is not None
    assert [item.function for item in found.halved.changes] == ["half"]
    assert (found.halved.kind, found.halved.count, found.halved.without) == ("function", 2, "right")
    # Prim funcs alone, which take the places of those of the form before.
    alone = "\n".join(other.split("    @R.function")[:1])
    found = rc.bisect_modules({"whole": rc.parse(text), "kernels": rc.parse(alone)}, X)
    assert found.halved is not None
    assert [item.words for item in found.halved.changes] == ["`half` (line 12; line 12 before)"]


def wrongly_doubled(module: IRModule) -> IRModule:
    """Turn `x * 2` into `x + x`, and once into `x - x`."""
    done: list[Call] = []

    def rule(match: rc.Match) -> Call:
        call = match.root
        assert isinstance(call, Call)
        done.append(call)
        name = "relax.subtract" if len(done) == 2 else "relax.add"
        return replace(call, op=Op(name), args=(call.args[0], call.args[0]))

    return rc.rewrite(rc.is_op("multiply")(rc.wildcard(), rc.is_constant()), rule, module)


def test_a_pass_of_ones_own_is_halved_too() -> None:
    found = rc.bisect_passes(rc.parse(SOURCE), [wrongly_doubled, "LegalizeOps"], X)
    assert found.halved is not None
    (change,) = found.halved.changes
    assert change.text.endswith("= R.subtract(b, b)")
    assert (found.halved.count, found.halved.without) == (3, "right")
    assert "With only this one of its 3 changed bindings" in found.to_text().split("\n")[-1]


def turned(module: IRModule, ctx: rc.PassContext) -> IRModule:
    """Turn differences around, which is wrong, and `x * 2` into `x + x`."""

    def rule(node: Node) -> Node | None:
        """Rule: a - b -> b - a."""
        match op_name(node) if isinstance(node, Call) else None, node:
            case "relax.subtract", Call(args=args):
                return replace(node, args=args[::-1])
            case "relax.multiply", Call(args=(value, _)):
                return replace(node, op=Op("relax.add"), args=(value, value))
            case _:
                return None

    return ctx.rewrite(module, rule)


def test_the_rewrite_that_brings_the_wrong_result_in_is_named() -> None:
    found = rc.bisect_passes(rc.parse(SOURCE), ["Normalize", turned, "LegalizeOps"], X)
    assert found.halved is not None
    rewrite = found.halved.rewrite
    assert rewrite is not None
    assert (rewrite.number, rewrite.count, rewrite.rule) == (3, 4, "a - b -> b - a")
    assert (rewrite.function, rewrite.line, rewrite.line_before, rewrite.without) == ("main", 14, 14, "right")
    assert found.conclusion.endswith(
        "Rewrite 3 of 4, a - b -> b - a in line 14 of `main`, brings it in: in front of it the result is right, behind "
        "it wrong; without this one alone it is right"
    )


def test_where_several_rewrites_are_wrong_the_first_is_named() -> None:
    text = SOURCE.replace('R.multiply(d, R.const(2.0, "float32"))', "R.subtract(d, x)")
    found = rc.bisect_passes(rc.parse(text), ["Normalize", turned], X)
    assert found.halved is not None
    assert found.halved.rewrite is not None
    assert (found.halved.rewrite.number, found.halved.rewrite.without) == (3, "wrong")
    assert "others do it as well, for without this one it is still wrong" in found.conclusion


def test_where_the_budget_is_spent_that_is_said() -> None:
    found = rc.bisect_modules({"a": rc.parse(SOURCE), "b": rc.parse(WRONG)}, X, budget=Budget(runs=1))
    assert found.halved is not None
    assert found.halved.hindrance == "there was no time for it"
    assert "Its changes were not applied in part" in found.conclusion
    assert rc.bisect_modules({"a": rc.parse(SOURCE), "b": rc.parse(WRONG)}, X, budget=Budget(runs=0)).halved is None


def test_the_command_line_says_it_and_takes_a_budget(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = dump(tmp_path / "dump", _000_A=SOURCE, _001_Broken=WRONG)
    assert main(["bisect", str(folder), "--in-process", "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert found["halved"]["changes"][0]["line"] == 12
    assert "With only this one of its 3 changed bindings" in found["conclusion"]
    assert main(["bisect", str(folder), "--in-process", "--halve", "0"]) == 1
    said = capsys.readouterr().out
    assert "Broken" in said.split("\n")[-2]
    assert "With only" not in said


@pytest.mark.parametrize("guilty", [{5}, {0, 7}, {1, 2, 6}], ids=["one", "two", "three"])
def test_a_smallest_set_is_found(guilty: set[int]) -> None:
    trials = Trials(Budget())
    test = trials.tested(lambda chosen: "wrong" if guilty <= chosen else "right", {})
    assert minimal(8, test).kept == tuple(sorted(guilty))
    assert trials.run_count < 40


def test_changes_that_need_each_other_are_found_together() -> None:
    def run(chosen: Chosen) -> Answer:
        return "unresolved" if (2 in chosen) != (3 in chosen) else "wrong" if 2 in chosen else "right"

    trials = Trials(Budget())
    assert minimal(6, trials.tested(run, {})).kept == (2, 3)
    assert trials.unresolved_count
    spent = minimal(6, Trials(Budget(runs=1)).tested(run, {}))
    assert not spent.is_smallest
    assert {2, 3} <= set(spent.kept)
