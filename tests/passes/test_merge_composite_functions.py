"""MergeCompositeFunctions: the regions of apache-tvm, those that it gets wrong, and why two stayed apart."""

import pytest

import relax_core as rc
from relax_core.diagnostics import has_errors
from relax_core.ir.attrs import attr
from relax_core.ir.equality import first_difference
from relax_core.ir.module import IRModule
from relax_core.passes.core import Stage
from tests.apache_tvm import relax
from tests.passes.byoc_programs import PATTERNS, program, random_program, tables, their_patterns
from tests.passes.wheel import in_tvm, passed, remarks, same_values


def merged(text: str, table: rc.Tables | None = None) -> Stage:
    return passed(rc.parse(in_tvm(text).script()), "FuseOpsByPattern, MergeCompositeFunctions", table or tables())


def single(*operators: str) -> rc.Tables:
    """Return a table in which each operator is a composite of the target t."""
    texts = {
        item: f"is_op('relax.{item}')({', '.join(['wildcard()'] * (2 if item in BINARY else 1))})" for item in operators
    }
    return rc.Tables(patterns=tuple((f"t.{name}", rc.pattern(text)) for name, text in texts.items()))


BINARY = ("add", "multiply", "matmul")


def regions(module: IRModule) -> list[str]:
    return [name.name for name, function in module.relax_functions if attr(function.attrs, "Codegen")]


@pytest.mark.tvm
@pytest.mark.parametrize("seed", range(16))
def test_regions_are_those_of_tvm(seed: int) -> None:
    names = tuple(PATTERNS)[seed % 3 :]
    composites = relax.transform.FuseOpsByPattern(their_patterns(*names), bind_constants=seed % 4 != 0)(
        in_tvm(random_program(seed))
    )
    stage = passed(rc.parse(composites.script(show_meta=True)), "MergeCompositeFunctions")
    wanted = relax.transform.MergeCompositeFunctions()(composites)
    assert first_difference(stage.after, rc.parse(wanted.script(show_meta=True))) is None


@pytest.mark.parametrize("seed", range(3))
def test_values_stay_and_the_module_is_read_back(seed: int) -> None:
    stage = merged(random_program(seed))
    same_values(stage.before, stage.after, rtol=1e-5)
    assert rc.structural_equal(rc.parse(rc.script(stage.after)), stage.after)
    assert not rc.run_pipeline(stage.after, "MergeCompositeFunctions")[-1].is_changed


LATE = ["c1 = R.nn.relu(x)", "h = R.tanh(y)", "g = R.exp(h)", "e = R.sin(c1)", "c2 = R.add(c1, g)",
        "z = R.multiply(e, h)", "f = R.sin(c2)"]  # fmt: skip


@pytest.mark.tvm
def test_a_path_that_a_later_merge_made_is_seen() -> None:
    """c1 and c2 are merged, so that z, which uses e, waits for c2, and c2 for h: h and z are not merged."""
    text = program(LATE, ["z", "f"])
    patterns = [(f"t.{name}", item) for name, item in their_patterns("one.relu", "one.tanh", "one.add", "one.mul")]
    composites = relax.transform.FuseOpsByPattern(patterns)(in_tvm(text))
    unbound = rc.parse(relax.transform.MergeCompositeFunctions()(composites).script())
    assert has_errors(rc.check(unbound)), "apache-tvm binds every variable: say so in the pass"
    stage = merged(text, single("nn.relu", "tanh", "add", "multiply"))
    names = ["fused_relax_multiply1_t", "fused_relax_nn_relu_relax_add_t", "fused_relax_tanh1_t"]
    assert sorted(regions(stage.after)) == names
    (said, *_) = remarks(stage, "missed")
    assert said == (
        "not merged into one function: h (t.tanh) -> g (relax.exp) -> c2 (t.add) -> c1 (t.nn.relu) -> "
        "e (relax.sin) -> z (t.multiply): "
        "a value leaves the region and comes back"
    )
    same_values(stage.before, stage.after)


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (
            ["a = R.nn.relu(x)", "b = R.exp(a)", "c = R.add(a, b)"],
            "a (t.nn.relu) -> b (relax.exp) -> c (t.add): a value leaves the region and comes back",
        ),
        (
            ["a = R.nn.relu(x)", "b = R.exp(a)", "c = R.tanh(b)"],
            "a (t.nn.relu) -> b (relax.exp) -> c (t.tanh): relax.exp is in no composite of t",
        ),
        (
            ["a = R.nn.relu(x)", "b = R.sin(a)", "c = R.tanh(b)"],
            "a (t.nn.relu) -> b (u.sin) -> c (t.tanh): u.sin goes to u",
        ),
    ],
)
def test_two_regions_of_a_target_say_why_they_stayed_apart(body: list[str], said: str) -> None:
    table = single("nn.relu", "tanh", "add")
    table = rc.Tables(patterns=(*table.patterns, ("u.sin", rc.pattern("is_op('relax.sin')(wildcard())"))))
    module = rc.parse(f"@I.ir_module\nclass Module:\n{program(body, ['c'])}")
    stage = passed(module, "FuseOpsByPattern, MergeCompositeFunctions", table)
    assert remarks(stage, "missed") == [f"not merged into one function: {said}"]
    assert len([item for item in regions(stage.after) if item.endswith("_t")]) == 2


PRIM = """
    @T.prim_func(private=True)
    def twice(A: T.Buffer((4, 4), "float32"), B: T.Buffer((4, 4), "float32")):
        for i, j in T.grid(4, 4):
            with T.sblock("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi, vj] + A[vi, vj]

    @R.function
    def main(x: R.Tensor((4, 4), "float32"), s: R.Shape(["k"])):
        cls = Module
        k = T.int64()
        with R.dataflow():
            a = R.nn.relu(R.const([[1.0, 2.0, 3.0, 4.0]], "float32"))
            b = R.call_tir(cls.twice, (x,), out_ty=R.Tensor((4, 4), "float32"))
            t = (a, b)
            u = R.add(b, t[0])
            v = R.split(u, 2, axis=1)
            w = R.tanh(v[0])
            z = R.zeros(R.shape([k, 2]), "float32")
            R.output(w, z)
        return (w, z)
"""


def test_prim_funcs_constants_and_tuples_stand_beside_composites() -> None:
    module = rc.parse(f"@I.ir_module\nclass Module:\n{PRIM}")
    chosen = single("nn.relu", "add", "split", "tanh", "zeros")
    stage = passed(module, "FuseOpsByPattern(bind_constants=False), MergeCompositeFunctions", chosen)
    same_values(module, stage.after)


def test_a_module_without_composites_says_so() -> None:
    module = rc.parse(f"@I.ir_module\nclass Module:\n{program(['a = R.exp(x)'], ['a'])}")
    stage = rc.run_pipeline(module, "MergeCompositeFunctions")[-1]
    assert not stage.is_changed
    assert remarks(stage, "note") == ["there are no composites; FuseOpsByPattern makes them"]
