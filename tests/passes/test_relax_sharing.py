"""EliminateCommonSubexpr and FoldConstant of Relax: as apache-tvm has it, what is not shared, and what a run gives."""

from typing import Any

import numpy as np
import pytest

import relax_core as rc
from relax_core.ir.equality import first_difference
from relax_core.ir.expr import Call, Function, Var, VarBinding
from relax_core.ir.module import IRModule
from relax_core.ir.node import preorder
from relax_core.ir.rewriting.rewrite import RewriteLog
from tests.apache_tvm import from_source, relax
from tests.passes.programs import parse

X, FLAG = np.arange(6, dtype=np.float32).reshape(2, 3), np.array(True)

SCOPES = """
    @R.function(pure=False)
    def main(x: R.Tensor((2, 3), "float32"), c: R.Tensor((), "bool")):
        with R.dataflow():
            a = R.add(x, x)
            b = R.add(x, x)
            t = (a, b)
            t2 = (a, a)
            u = t[0]
            u2 = t2[0]
            k = R.const(1.0, "float32")
            k2 = R.const(1.0, "float32")
            s = R.shape([2, 3])
            s2 = R.shape([2, 3])
            d = R.add(x, k)
            e = R.add(x, k2)
            f = R.multiply(b, e)
            g = R.multiply(a, d)
            R.output(f, g, b)
        h = R.add(x, x)
        _ = R.print(h)
        i = R.exp(h)
        m = R.match_cast(x, R.Tensor((2, 3), "float32"))
        m2 = R.match_cast(x, R.Tensor((2, 3), "float32"))
        if c:
            r = R.add(x, x)
            q = R.exp(r)
        else:
            r = R.exp(x)
            q = R.exp(x)
        w = R.exp(x)
        return (f, g, h, i, q, w, m, m2, b)
"""
DIFFERENT = """
    @R.function(pure=False)
    def main(x: R.Tensor((2, 3), "float32"), c: R.Tensor((), "bool")):
        a = R.sum(x, axis=[0])
        b = R.sum(x, axis=[1])
        d = R.zeros(R.shape([3]), "float32")
        e = R.zeros(R.shape([3]), "int32")
        p = R.call_pure_packed("custom_identity", x, ty_args=(R.Tensor((2, 3), "float32"),))
        q = R.call_pure_packed("custom_identity", x, ty_args=(R.Tensor((2, 3), "float32"),))
        g = R.subtract(a, d)
        h = R.subtract(d, a)
        return (a, b, d, e, p, q, g, h)
"""
CONSTANTS = """
    @R.function
    def main(x: R.Tensor((2, 3), "float32"), c: R.Tensor((), "bool")):
        with R.dataflow():
            a = R.add(R.const(1.0, "float32"), R.const(2.0, "float32"))
            k = R.const(3.0, "float32")
            b = R.multiply(a, k)
            z = R.zeros(R.shape([3]), "float32")
            y = R.add(x, R.exp(z))
            big = R.zeros(R.shape([2000]), "float32")
            sp = R.split(R.const([1.0, 2.0], "float32"), 2, axis=0)
            s0 = sp[0]
            st = R.shape_to_tensor(R.shape([2, 3]))
            y2 = R.add(y, b)
            o = R.add(a, b)
            R.output(y2, s0, o, big, st)
        if c:
            r = R.add(R.const(1, "int32"), R.const(1, "int32"))
        else:
            r = R.const(5, "int32")
        w = R.add(o, o)
        return (y2, s0, r, w, big, st)
"""


def after(text: str, passes: str) -> IRModule:
    stages = rc.run_pipeline(parse(text), passes)
    assert rc.check(stages[-1].after) == ()
    return stages[-1].after


def values_of(module: IRModule) -> dict[str, Any]:
    main = module["main"]
    assert isinstance(main, Function)
    return {item.var.name: item.value for item in preorder(main) if isinstance(item, VarBinding)}


def run(module: IRModule) -> Any:
    return rc.VirtualMachine(rc.build(module), on_output=lambda _: None)["main"](X.copy(), FLAG)


def agree(found: Any, wanted: Any) -> None:
    for a, b in zip(found, wanted, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-6)


@pytest.mark.parametrize("options", ["", "(call_only=True)"])
@pytest.mark.parametrize("text", [SCOPES, DIFFERENT], ids=["scopes", "different"])
def test_what_is_shared_is_what_tvm_shares(text: str, options: str) -> None:
    theirs = from_source(f"@I.ir_module\nclass Module:{text}")
    shared = relax.transform.EliminateCommonSubexpr(call_only=bool(options))(theirs)
    (stage,) = rc.run_pipeline(rc.parse(theirs.script()), f"EliminateCommonSubexpr{options}")
    assert first_difference(stage.after, rc.parse(shared.script())) is None


@pytest.mark.parametrize("passes", ["EliminateCommonSubexpr", "FoldConstant", "EliminateCommonSubexpr, FoldConstant"])
@pytest.mark.parametrize("text", [SCOPES, DIFFERENT, CONSTANTS], ids=["scopes", "different", "constants"])
def test_a_program_keeps_its_results_and_its_places(text: str, passes: str) -> None:
    module = parse(text)
    stages = rc.run_pipeline(module, f"{passes}, CanonicalizeBindings, DeadCodeElimination")
    changed = stages[-1].after
    agree(run(changed), run(module))
    log = RewriteLog.merged(stage.log for stage in stages)
    assert [item for item in preorder(changed["main"]) if isinstance(item, Call) and log.locate(item) is None] == []
    assert rc.structural_equal(rc.parse(rc.script(changed)), changed)


@pytest.mark.parametrize(
    "call",
    [
        'R.call_packed("custom_inplace_update", a, ty_args=(R.Tuple(),))',
        'R.call_packed("custom_inplace_update", x, ty_args=(R.Tuple(),))',
    ],
    ids=["the result", "the argument"],
)
def test_what_may_be_written_is_computed_again(call: str) -> None:
    module = parse(f"""
    @R.function(pure=False)
    def main(x: R.Tensor((2, 3), "float32"), c: R.Tensor((), "bool")):
        a = R.add(x, x)
        _ = {call}
        b = R.add(x, x)
        return (a, b)
""")
    stage = rc.run_pipeline(module, "EliminateCommonSubexpr")[-1]
    assert not stage.is_changed
    agree(run(stage.after), run(module))


def test_a_branch_that_writes_is_seen_behind_it() -> None:
    text = """
    @R.function(pure=False)
    def main(x: R.Tensor((2, 3), "float32"), c: R.Tensor((), "bool")):
        a = R.add(x, x)
        if c:
            _ = R.call_packed("custom_inplace_update", x, ty_args=(R.Tuple(),))
            r = R.add(x, x)
        else:
            r = R.add(x, x)
        b = R.add(x, x)
        return (a, r, b)
"""
    shared = after(text, "EliminateCommonSubexpr")
    assert isinstance(values_of(shared)["b"], Call)
    agree(run(shared), run(parse(text)))


def test_names_are_left_to_canonicalize_bindings() -> None:
    text = """
    @R.function
    def main(x: R.Tensor((2, 3), "float32")):
        y = x
        z = x
        return (y, z)
"""
    assert not rc.run_pipeline(parse(text), "Normalize, EliminateCommonSubexpr")[-1].is_changed


def test_zeros_of_both_signs_are_two_values() -> None:
    text = """
    @R.function
    def main():
        a = R.prim_value(T.float32(0.0))
        b = R.prim_value(T.float32(-0.0))
        c = R.const(0.0, "float32")
        d = R.const(-0.0, "float32")
        return (a, b, c, d)
"""
    assert not any(isinstance(item, Var) for item in values_of(after(text, "EliminateCommonSubexpr")).values())


def test_constants_are_folded_as_far_as_dataflow_goes() -> None:
    folded = after(CONSTANTS, "FoldConstant")
    text = rc.script(folded)
    assert {"a", "k", "b", "z", "st", "o"}.isdisjoint(values_of(folded))
    assert 'y2 = R.add(y, R.const(9.0, "float32"))' in text
    assert 'w = R.add(R.const(12.0, "float32"), R.const(12.0, "float32"))' in text
    assert 'sp = (R.const([1.0], "float32"), R.const([2.0], "float32"))' in text
    assert 'big = R.zeros(R.shape([2000]), dtype="float32")' in text


def test_folding_says_what_it_does_and_what_not() -> None:
    said = {item.message: item.kind for item in rc.run_pipeline(parse(CONSTANTS), "FoldConstant")[-1].remarks}
    assert said["multiply is computed: its arguments are constants"] == "applied"
    assert said["zeros is not folded: the result has 2,000 elements"] == "missed"


@pytest.mark.parametrize("name", ["EliminateCommonSubexpr", "FoldConstant"])
def test_a_second_run_changes_nothing(name: str) -> None:
    for text in (SCOPES, DIFFERENT, CONSTANTS):
        assert not rc.run_pipeline(parse(text), f"Normalize, {name}, {name}")[-1].is_changed
