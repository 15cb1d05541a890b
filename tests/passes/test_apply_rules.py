"""Rewrite rules as text: what they are read as, what ApplyRules makes of a program, and what stops them."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import relax_core as rc
from relax_core.codes import CODES
from relax_core.diagnostics import CompileError
from relax_core.ir.module import IRModule
from relax_core.pattern.rules.text import read_rules
from tests.passes.programs import parse
from tests.strategies import Program, programs

MLP = """
    @R.function
    def main(x: R.Tensor((2, 3), "float32"), w: R.Tensor((4, 3), "float32"), n: R.Tensor(("k", 3), "float32")):
        with R.dataflow():
            t = R.permute_dims(w, axes=[1, 0])
            a = R.matmul(x, t)
            m = R.multiply(R.const(1.0, "float32"), a)
            b = R.nn.relu(m)
            c = R.nn.relu(b)
            d = R.reshape(c, (8,))
            e = R.reshape(d, (4, 2))
            s = R.split(x, 3, axis=1)
            f = s[0]
            g = R.add(n, n)
            R.output(e, f, g)
        return (e, f, g)
"""
FORBIDDEN = (
    ("", "RW100"),
    ("# only a comment", "RW100"),
    ("R.add(x, y)", "RW100"),
    ("R.add(x, y) -> ", "RW100"),
    ("R.add(x, y -> x", "RW100"),
    ("R.add(x, y)) -> x", "RW100"),
    ("a b: R.add(x, y) -> x", "RW100"),
    ("R.add(x, y) -> x -> y", "RW100"),
    ("R.add(x, y) where 1 -> x", "RW100"),
    ("R.add(x, y) -> x where 1 == 1 where 2 == 2", "RW100"),
    ("R.add(x, y) -> 'x", "RW100"),
    ("R.add(x, \0) -> x", "RW100"),
    ("R.add(x, '\ud800') -> x", "RW100"),
    ("x -> x", "RW101"),
    ("R.nothing(x) -> x", "RW101"),
    ("R.add(x, lambda: 1) -> x", "RW101"),
    ("R.add(x, y) -> __import__('os').system('true')", "RW101"),
    ("R.add(x, y) -> (lambda: x)()", "RW101"),
    ("R.add(x, y) -> x where x.__class__", "RW101"),
    ("R.add(x, y) -> x where open('f') == 1", "RW101"),
    ("R.add(x, y) -> x where [i for i in x.shape]", "RW101"),
    ("R.add(x, y) -> x where 2 ** 9 == 1", "RW101"),
    ("R.sum(x, axis=f()) -> x", "RW101"),
    ("R.add(x) -> x", "RW102"),
    ("R.add(x, y, z) -> x", "RW102"),
    ("R.add(x, y, axis=1) -> x", "RW102"),
    ("R.add(..., x) -> x", "RW102"),
    ("R.add(*x) -> x", "RW102"),
    ("R.add(x, y) -> z", "RW103"),
    ("R.sum(x, axis=a) -> a", "RW103"),
    ("R.sum(a, axis=a) -> a", "RW103"),
    ("R.add(x, y) -> x where x.dtype == float32", "RW103"),
    ("R.add(x, (x := R.exp(y))) -> x", "RW103"),
    ("R.print(x) -> x", "RW104"),
    ("R.add(x, y) -> R.call_tir(f, (x,))", "RW104"),
    (f"R.exp(x) -> {'R.exp(' * 50}x{')' * 50}", "RW108"),
    (f"R.exp(x) -> {'(' * 500}x{')' * 500}", "RW100"),
    ("\n".join(f"r{i}: R.exp(x) -> x" for i in range(201)), "RW108"),
    ("#" * 100_001, "RW108"),
    ("a: R.exp(x) -> x\na: R.abs(x) -> x", "RW110"),
)


@pytest.mark.parametrize(("text", "code"), FORBIDDEN, ids=lambda item: item[:40].encode("ascii", "replace").decode())
def test_what_is_no_rule_is_refused_with_its_place(text: str, code: str) -> None:
    with pytest.raises(CompileError) as caught:
        read_rules(text)
    assert {item.code for item in caught.value.diagnostics} == {code}
    assert code in CODES
    assert all(
        item.span is not None or not text.strip("# \na-z") or code in ("RW100", "RW108")
        for item in caught.value.diagnostics
    )


def test_every_wrong_rule_is_told_at_its_place() -> None:
    text = "good: R.exp(x) -> x\ngröße: R.exp(ä) -> ö\n# R.no(x)\nlast: R.add(x, y)\n   -> R.sub(x, y)\n"
    with pytest.raises(CompileError) as caught:
        read_rules(text)
    assert [(item.place, item.code) for item in caught.value.diagnostics] == [
        ("rules:2:20", "RW103"),
        ("rules:5:7", "RW101"),
    ]


def stages_of(text: str, module: IRModule, *, once: bool = False):
    return rc.run_pipeline(module, [rc.pass_(rc.rules(text), once=once)])


def _body(module: IRModule) -> list[str]:
    lines = [line.strip() for line in rc.script(module).splitlines()]
    return lines[
        lines.index("with R.dataflow():") + 1 : next(i for i, x in enumerate(lines) if x.startswith("R.output"))
    ]


REWRITTEN = (
    (
        "R.matmul(x, R.permute_dims(y, axes=[1, 0])) -> R.permute_dims(R.matmul(y, R.permute_dims(x)))",
        "a = R.permute_dims(lv1)",
        "R.permute_dims(w",
    ),
    ("R.multiply(x, 1.0) -> x", "m = a", "R.multiply"),
    ("R.nn.relu(R.nn.relu(x)) -> R.nn.relu(x)", "c = R.nn.relu(m)", "b ="),
    ("R.reshape(R.reshape(x, _), s) -> R.reshape(x, s)", "e = R.reshape(c, R.shape([4, 2]))", "d ="),
    (
        "R.split(x, 3, axis=a)[0] -> R.strided_slice(x, axes=[a], begin=[0], end=[x.shape[a] // 3])",
        "f = R.strided_slice(x, axes=[1], begin=[0], end=[1], assume_inbound=False)",
        "s =",
    ),
    ("R.add(x, x) -> R.multiply(x, R.const(2, x.dtype))", 'g = R.multiply(n, R.const(2.0, "float32"))', "R.add"),
    (
        "R.add(x, y) -> R.reshape(R.multiply(x, R.const(2.0, x.dtype)), (n, m)) where x.shape == (n, m)",
        "R.shape([k, 3])",
        "R.add",
    ),
    ("R.reshape(x, ...) -> R.reshape(x, (4, 2)) where x.shape == (8,)", "e = R.reshape(d, R.shape([4, 2]))", ""),
)


@pytest.mark.parametrize(("text", "there", "gone"), REWRITTEN, ids=[item[0] for item in REWRITTEN])
def test_a_rule_replaces_what_it_matches(text: str, there: str, gone: str) -> None:
    module = parse(MLP)
    (stage,) = stages_of(text, module, once="..." in text)
    assert stage.diagnostics == ()
    body = "\n".join(_body(stage.after))
    assert there in body
    assert not gone or gone not in body
    assert [item.severity for item in rc.check(stage.after) if item.severity == "error"] == []
    args = [np.random.default_rng(0).standard_normal(shape).astype("float32") for shape in ((2, 3), (4, 3), (5, 3))]
    for a, b in zip(rc.evaluate(module, "main", *args), rc.evaluate(stage.after, "main", *args), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5)


def test_a_value_that_is_used_elsewhere_stays() -> None:
    module = parse("""
    @R.function
    def main(x: R.Tensor((2, 3), "float32")):
        with R.dataflow():
            a = R.nn.relu(x)
            b = R.nn.relu(a)
            R.output(a, b)
        return (a, b)
    """)
    (stage,) = stages_of("R.nn.relu(R.nn.relu(x)) -> R.nn.relu(x)", module)
    assert _body(stage.after) == ["a = R.nn.relu(x)", "b = R.nn.relu(x)"]


SEVERAL_BLOCKS = """
    @R.function(pure=False)
    def main(x: R.Tensor((2, 3), "float32")):
        with R.dataflow():
            a = R.exp(x)
            b = R.nn.relu(a)
            R.output(b)
        u = R.call_packed("my.f", b, sinfo_args=R.Tensor((2, 3), "float32"))
        with R.dataflow():
            c = R.nn.relu(b)
            R.output(c)
        return (c, u)
"""


@pytest.mark.parametrize(
    ("program", "reason"),
    [
        (SEVERAL_BLOCKS, "visible only in another dataflow block"),
        (SEVERAL_BLOCKS.replace("relu(a)", "relu(x)"), "a call with an effect may run between"),
    ],
    ids=["a variable of another block", "a call with an effect between"],
)
def test_a_match_across_blocks_is_left_alone(program: str, reason: str) -> None:
    module = parse(program)
    (stage,) = stages_of("R.nn.relu(R.nn.relu(y)) -> R.nn.relu(y)", module)
    assert not stage.is_changed
    assert reason in stage.remarks[0].message


STOPPED = (
    ("R.matmul(x, y) -> x", "RW105"),
    ("R.nn.relu(x) -> R.astype(x, 'float16')", "RW105"),
    ("R.matmul(x, y) -> R.matmul(x, x)", "TY012"),
    ("R.nn.relu(x) -> R.reshape(x, (x.shape[7], 1))", "RW106"),
    ("R.nn.relu(x) -> R.nn.relu(x)", "RW107"),
    ("R.nn.relu(x) -> R.nn.relu(R.nn.relu(x))", "RW107"),
    ("R.add(x, y) -> R.add(R.add(x, y), R.subtract(y, y))", "RW107"),
)


@pytest.mark.parametrize(("text", "code"), STOPPED, ids=[item[0] for item in STOPPED])
def test_a_rule_that_cannot_be_applied_stops_its_stage(text: str, code: str) -> None:
    (stage,) = stages_of(text, parse(MLP))
    assert [item.code for item in stage.diagnostics] == [code]
    assert stage.diagnostics[0].span is not None
    assert stage.diagnostics[0].span.source.name == "rules"
    assert not stage.is_changed


NEAR = (
    ("R.matmul(x, R.permute_dims(y)) -> x", "has axes = (1, 0), not None"),
    ("R.matmul(x, R.nn.relu(y)) -> x", "is a call of R.permute_dims, not of R.nn.relu"),
    ("R.add(x, x) -> x where x.shape[0] == 4", "`x.shape[0] == 4` is not known: k is not 4 for every size"),
    ("R.add(x, x) -> x where not x.shape[0] == 4", "is not known"),
    ("R.add(x, x) -> x where x.ndim == 2 and x.dtype in ('int8', 'bool')", 'x.dtype is "float32"'),
    ("R.multiply(x, 2.0) -> x", "is not the number 2.0"),
    ("R.reshape(R.reshape(x, s), s) -> x", "`s` is (8,) at one place and (4, 2) at another"),
)


@pytest.mark.parametrize(("text", "reason"), NEAR, ids=[item[0] for item in NEAR])
def test_a_near_miss_says_the_first_thing_that_does_not_fit(text: str, reason: str) -> None:
    (stage,) = stages_of(text, parse(MLP))
    assert not stage.is_changed
    (remark,) = stage.remarks
    assert remark.kind == "missed"
    assert reason in remark.message


def test_rules_are_counted_named_and_lead_back_to_the_text() -> None:
    module = parse(MLP)
    rules = rc.rules("one: R.multiply(x, 1.0) -> x\ntwice: R.nn.relu(R.nn.relu(x)) -> R.nn.relu(x)")
    stages = rc.run_pipeline(module, ["Normalize", rc.pass_(rules, names=["twice"]), "LegalizeOps"])
    assert next(item.rule for item in stages[1].log.replacements) == "twice"
    assert "twice is applied 1 time, at line 17" in [item.message for item in stages[1].remarks]
    (made,) = (item.after[0] for item in stages[1].log.replacements if item.rule == "twice")
    span = rc.PassContext(stages).whole_log().locate(made)
    assert span is not None
    assert span.text == "R.nn.relu(b)"
    (failed,) = rc.run_pipeline(module, [rc.pass_(rules, names=["other"])])
    assert [item.code for item in failed.diagnostics] == ["RW110"]
    (failed,) = rc.run_pipeline(module, "ApplyRules")
    assert [item.code for item in failed.diagnostics] == ["RW110"]


_SIDES = ("x", "y", "R.add(x, y)", "R.exp(x)", "R.multiply(y, x)", "R.nn.relu(R.add(y, x))", "R.sum(x)", "R.abs(1.5)")


@settings(max_examples=25, deadline=None)
@given(
    program=programs(max_steps=5),
    left=st.sampled_from(("R.add(x, y)", "R.exp(R.abs(x))", "R.subtract(x, x)", "R.maximum(R.exp(x), _)")),
    right=st.sampled_from(_SIDES),
)
def test_whatever_a_rule_says_the_result_is_well_formed_or_it_is_refused(
    program: Program, left: str, right: str
) -> None:
    assume("y" in left or "y" not in right)
    pass_ = rc.rules(f"{left} -> {right}")
    stages = rc.run_pipeline(program.module, ["Normalize", pass_])
    assert not [item for item in rc.check(stages[-1].after) if item.severity == "error"]
    assert {item.code[:2] for item in stages[-1].diagnostics} <= {"RW", "TY"}
    assert "RW109" not in [item.code for item in stages[-1].diagnostics]
