"""Passes on weights and sizes that are known: as apache-tvm has them, and what a run gives."""

import numpy as np
import pytest

import relax_core as rc
from benchmarks.relax_stages import text_of
from relax_core.ir.equality import first_difference
from relax_core.passes.library import PASSES
from relax_core.passes.pipeline import pass_
from tests.apache_tvm import relax
from tests.passes.programs import parse
from tests.passes.wheel import agrees, in_tvm, passed, remarks, same_values

SIZED = """
    @R.function
    def main(
        x: R.Tensor(("batch", "m"), "float32"),
        w: R.Tensor(("m", "k"), "float32"),
        b: R.Tensor(("k",), "float32"),
    ):
        batch = T.int64()
        m = T.int64()
        k = T.int64()
        with R.dataflow():
            p = R.matmul(x, w)
            q = R.add(p, b)
            s = R.reshape(q, R.shape([batch * k]))
            R.output(s)
        return s
"""
WEIGHTS = """
    @R.function
    def main(x: R.Tensor((4,), "float32"), w: R.Tensor((4,), "float32"), b: R.Tensor(("k",), "float32")):
        R.func_attr({"num_input": 1})
        k = T.int64()
        with R.dataflow():
            p = R.add(x, w)
            z = R.exp(b)
            R.output(p, z)
        return (p, z)
    @R.function
    def other(x: R.Tensor((4,), "float32"), w: R.Tensor((4,), "float32")):
        return w
    @R.function
    def all_weights(x: R.Tensor((4,), "float32"), y: R.Tensor((4,), "float32")):
        R.func_attr({"num_input": 0})
        with R.dataflow():
            z = R.exp(x)
            R.output(z)
        u = R.add(z, z)
        return (u, y)
    @R.function
    def no_weights(x: R.Tensor((4,), "float32")):
        R.func_attr({"num_input": 1})
        y = R.exp(x)
        return y
"""


@pytest.mark.parametrize("name", ["", "main"])
@pytest.mark.parametrize("sizes", [{"batch": 2, "k": 3}, {"m": 5}])
def test_sizes_are_bound_as_in_tvm(sizes: dict[str, int], name: str) -> None:
    theirs = relax.transform.BindSymbolicVars(sizes, name or None)
    passes = f"BindSymbolicVars(binding_map={sizes}, func_name='{name}')"
    stage = agrees(SIZED, theirs, passes)
    assert len(remarks(stage, "applied")) == len(sizes)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ("binding_map={'zz': 2}", "there is no dimension zz in the module"),
        ("binding_map={'zz': 2}, func_name='main'", "there is no dimension zz in @main"),
        ("binding_map={'k': 2}, func_name='absent'", "there is no function absent"),
    ],
)
def test_sizes_of_nothing_are_refused(options: str, words: str) -> None:
    (stage,) = rc.run_pipeline(parse(SIZED), f"BindSymbolicVars({options})")
    assert [(item.code, item.message) for item in stage.diagnostics] == [("PS018", words)]


def test_sizes_are_integers() -> None:
    with pytest.raises(rc.CompileError, match="takes a dict from strings to integers as binding_map"):
        rc.run_pipeline(parse(SIZED), "BindSymbolicVars(binding_map={'k': 'two'})")


def test_a_weight_becomes_a_constant_and_gives_its_sizes() -> None:
    text = "BindParams(params={'b': [1.0, 2.0, 3.0]})"
    stage = passed(parse(SIZED), text)
    wanted = """
    @R.function
    def main(x: R.Tensor(("batch", "m"), "float32"), w: R.Tensor(("m", 3), "float32")):
        batch = T.int64()
        m = T.int64()
        with R.dataflow():
            p = R.matmul(x, w)
            q = R.add(p, R.const([1.0, 2.0, 3.0], "float32"))
            s = R.reshape(q, R.shape([batch * 3]))
            R.output(s)
        return s
"""
    assert rc.structural_equal(passed(parse(wanted), "Normalize").after, stage.after)
    values = np.array([1, 2, 3], np.float32)
    given = pass_(PASSES["relax", "BindParams"], params={"b": values})
    for step in (given, pass_("BindParams", params={"b": values}), pass_("relax.BindParams", params={"b": values})):
        (by_array,) = rc.run_pipeline(parse(SIZED), [step])
        assert rc.structural_equal(by_array.after, stage.after)


UNSIZED = """
    @R.function
    def main(
        x: R.Tensor((2, 3), "float32"),
        w: R.Tensor(ndim=2, dtype="float32"),
        c: R.Tensor((), "bool"),
    ) -> R.Tuple(
        R.Tensor(ndim=2, dtype="float32"), R.Tensor(ndim=2, dtype="float32"), R.Tensor(ndim=2, dtype="float32")
    ):
        with R.dataflow():
            a = R.multiply(w, w)
            y = R.matmul(x, a)
            R.output(y)
        if c:
            p = R.matmul(x, w)
            q = p
        else:
            q = R.permute_dims(w)
        return (y, q, w)
"""


@pytest.mark.tvm
@pytest.mark.parametrize("text", [SIZED, UNSIZED])
def test_weights_become_constants_as_in_tvm(text: str) -> None:
    weight = np.array([[1, 2], [3, 4], [5, 6]], np.float32)
    module = in_tvm(text)
    theirs = rc.parse(text_of(relax.transform.BindParams("main", {"w": weight})(module)))
    (stage,) = rc.run_pipeline(rc.parse(module.script()), [pass_("BindParams", params={"w": weight})])
    assert first_difference(stage.after, theirs) is None


@pytest.mark.parametrize(
    ("name", "options", "words"),
    [("BindParam", {"params": {}}, "there is no pass BindParam"), ("BindParams", {"values": 1}, "BindParams: ")],
)
def test_a_pass_that_is_named_with_arrays_is_checked_at_once(name: str, options: dict[str, object], words: str) -> None:
    with pytest.raises(rc.CompileError, match=words):
        pass_(name, array=np.zeros(3), **options)


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ("{'zz': 1.0}", "there is no parameter zz"),
        ("{'b': [[1.0]]}", "the value of b does not fit: rank 2 is not 1"),
        ("{'b': ['one']}", "the value of b is no tensor: could not convert string to float: 'one'"),
        ("{'b': [1.0], 'w': [[1.0, 2.0]]}", None),
    ],
)
def test_a_value_that_does_not_fit_is_refused(params: str, words: str | None) -> None:
    (stage,) = rc.run_pipeline(parse(SIZED), f"BindParams(params={params})")
    assert [item.code for item in stage.diagnostics] == ["PS018"]
    assert words is None or stage.diagnostics[0].message == words


def test_nothing_is_bound_in_a_function_that_is_not_there() -> None:
    stage = passed(parse(SIZED), "BindParams(func_name='absent', params={'b': [1.0]})")
    assert not stage.is_changed
    assert remarks(stage, "missed") == ["nothing is bound: there is no function absent"]


@pytest.mark.parametrize("name", ["", "weights"])
def test_weights_are_bundled_as_in_tvm(name: str) -> None:
    theirs = relax.transform.BundleModelParams(name or None)
    stage = agrees(WEIGHTS, theirs, f"BundleModelParams(param_tuple_name='{name}')" if name else "BundleModelParams")
    again = rc.run_pipeline(stage.after, "BundleModelParams")[-1]
    assert "@main stays: its weights are one tuple already" in remarks(again, "missed")
    assert not again.is_changed
    assert remarks(stage, "missed") == ["@other stays: it has no num_input that tells weights from inputs"]


def test_a_function_computes_the_same_of_a_bundle() -> None:
    stage = passed(parse(WEIGHTS.replace('("k",)', "(2,)").replace("        k = T.int64()\n", "")), "BundleModelParams")
    x, w, b = np.ones(4, np.float32), np.arange(4, dtype=np.float32), np.ones(2, np.float32)
    before = rc.VirtualMachine(rc.build(stage.before))["main"](x, w, b)
    after = rc.VirtualMachine(rc.build(stage.after))["main"](x, (w, b))
    for a, c in zip(before, after, strict=True):
        np.testing.assert_array_equal(a, c)


def test_calls_in_the_module_pass_a_bundle() -> None:
    text = """
    @R.function
    def main(x: R.Tensor((2,), "float32"), w: R.Tensor((2,), "float32"), b: R.Tensor((2,), "float32")):
        R.func_attr({"num_input": 1})
        a = R.multiply(x, w)
        c = R.add(a, b)
        return c
    @R.function
    def twice(x: R.Tensor((2,), "float32"), w: R.Tensor((2,), "float32")):
        cls = Module
        a: R.Tensor((2,), "float32") = cls.main(x, w, w)
        b: R.Tensor((2,), "float32") = cls.main(a, w, x)
        return b
    """
    stage = passed(parse(text), "BundleModelParams")
    same_values(stage.before, stage.after, "twice")


def test_a_function_that_is_passed_on_keeps_its_weights() -> None:
    text = """
    @R.function
    def main(x: R.Tensor((2,), "float32"), w: R.Tensor((2,), "float32")):
        R.func_attr({"num_input": 1})
        a = R.multiply(x, w)
        return a
    @R.function
    def itself():
        cls = Module
        f = cls.main
        return f
    """
    stage = passed(parse(text), "BundleModelParams")
    assert not stage.is_changed
    assert remarks(stage, "missed")[0] == "@main stays: the module passes it on as a value"
