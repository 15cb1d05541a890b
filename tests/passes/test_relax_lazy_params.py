"""LazyGetInput and LazySetOutput: as in apache-tvm, with the same values, and without its errors."""

from typing import Any

import numpy as np
import pytest

import relax_core as rc
from relax_core.ir.module import IRModule
from tests.apache_tvm import relax
from tests.passes.programs import parse
from tests.passes.wheel import agrees, passed, remarks

INPUTS = """
    @R.function
    def main(x: R.Tensor((2, 8), "float32"), w: R.Tensor((4, 8), "float32"), b: R.Tensor((4,), "float32")):
        R.func_attr({"num_input": 1})
        with R.dataflow():
            t = R.permute_dims(w)
            p = R.matmul(x, t)
            R.output(p)
        c = R.exp(b)
        q = R.add(p, c)
        z = (q, w)
        return z
    @R.function
    def symbolic(x: R.Tensor((2, 8), "float32"), w: R.Tensor(("n", 8), "float32")):
        R.func_attr({"num_input": 1})
        n = T.int64()
        y = R.exp(x)
        t = R.permute_dims(w)
        z = R.matmul(y, t)
        return z
    @R.function
    def without_attribute(x: R.Tensor((2, 8), "float32")):
        return x
    @R.function
    def branches(c: R.Tensor((), "bool"), w: R.Tensor((4,), "float32"), b: R.Tensor((4,), "float32")):
        R.func_attr({"num_input": 1})
        if c:
            z = R.exp(w)
        else:
            z = R.add(w, b)
        return z
    @R.function(private=True)
    def private(x: R.Tensor((2, 8), "float32")):
        R.func_attr({"num_input": 0})
        return x
"""
OUTPUTS = """
    @R.function
    def main(x: R.Tensor((4,), "float32"), w: R.Tensor((4,), "float32")):
        R.func_attr({"num_input": 1})
        y = R.add(x, w)
        z = R.exp(y)
        u = R.exp(z)
        return (z, y, z, x, R.const(1.0))
    @R.function
    def one(x: R.Tensor((4,), "float32")):
        y = R.exp(x)
        z = (y, x)
        return z
    @R.function
    def nothing(x: R.Tensor((4,), "float32")):
        return ()
    @R.function
    def nested(x: R.Tensor((4,), "float32")):
        y = R.exp(x)
        return (y, (y, x))
    @R.function(private=True)
    def private(x: R.Tensor((4,), "float32")):
        y = R.exp(x)
        return (x, y)
"""


def test_weights_are_asked_for_as_in_tvm() -> None:
    stage = agrees(INPUTS, relax.transform.LazyGetInput(), "LazyGetInput")
    assert remarks(stage, "missed") == ["@private stays: it is private"]
    assert len(remarks(stage, "applied")) == 4


def test_results_are_handed_over_as_in_tvm() -> None:
    stage = agrees(OUTPUTS, relax.transform.LazySetOutput(), "LazySetOutput")
    assert remarks(stage, "missed") == ["@private stays: it is private"]


CALLER = """
    @R.function(pure=False)
    def get(index: R.Prim("int64"), name: R.Any) -> R.Any:
        value = R.call_packed("test.lazy.get", index, name, ty_args=(R.Any,))
        return value
    @R.function(pure=False)
    def set(index: R.Prim("int64"), value: R.Any) -> R.Tuple():
        _ = R.call_packed("test.lazy.set", index, value, ty_args=(R.Tuple(),))
        return ()
    @R.function(pure=False)
    def run({param}):
        cls = Module
        {lines}
        return z
"""


def ran(module: IRModule, param: str, lines: str, *args: Any) -> Any:
    caller = CALLER.format(param=param, lines=lines)
    whole = rc.parse(rc.script(module) + caller)
    return rc.VirtualMachine(rc.build(whole))["run"](*args)


def test_a_function_computes_the_same_of_weights_that_it_asks_for() -> None:
    x, w, b = (np.random.default_rng(seed).uniform(-1, 1, size).astype("float32") for seed, size in
               enumerate(((2, 8), (4, 8), (4,))))  # fmt: skip
    asked: list[tuple[int, str]] = []

    def get(index: int, name: str) -> Any:
        asked.append((index, name))
        return {"w": w, "b": b}[name]

    rc.register_packed("test.lazy.get", get)
    stage = passed(parse(INPUTS.replace("get_param", "f")), "LazyGetInput")
    before = rc.VirtualMachine(rc.build(stage.before))["main"](x, w, b)
    after = ran(stage.after, 'x: R.Tensor((2, 8), "float32")', "z = cls.main(x, cls.get)", x)
    # What a dataflow block asked for only that block sees.
    assert asked == [(0, "w"), (1, "b"), (0, "w")]
    for a, c in zip(before, after, strict=True):
        np.testing.assert_array_equal(a, c)


def test_results_arrive_one_by_one() -> None:
    found: list[tuple[int, Any]] = []

    def take(index: int, value: Any) -> None:
        found.append((index, value))

    rc.register_packed("test.lazy.set", take)
    block = "with R.dataflow():\n            y = R.add(x, w)\n            R.output(y)\n"
    module = parse(OUTPUTS.replace("y = R.add(x, w)\n", block))
    stage = passed(module, "LazySetOutput")
    x, w = np.arange(4, dtype="float32"), np.ones(4, "float32")
    before = rc.VirtualMachine(rc.build(stage.before))["main"](x, w)
    vector = 'R.Tensor((4,), "float32")'
    ran(stage.after, f"x: {vector}, w: {vector}", "z = cls.main(x, cls.set, w)", x, w)
    assert [index for index, _ in found] == [3, 1, 0, 2, 4]
    for index, value in found:
        np.testing.assert_array_equal(before[index], value)


@pytest.mark.parametrize(
    ("lines", "first"),
    [
        ("o = R.zeros(R.shape([n]), 'float32')\n        z = R.add(o, v)", "v_untyped"),
        ("z = R.zeros(R.shape([n]), 'float32')", "v_untyped"),
        (
            "e = R.exp(x)\n        o = R.exp(v)\n        a = R.add(o, R.zeros(R.shape([n]), 'float32'))\n"
            "        z = (e, a)",
            "e",
        ),
    ],
)
def test_a_size_that_a_weight_gives_is_known_in_time(lines: str, first: str) -> None:
    # TVM leaves `n` without a value in the first two.
    text = f"""
    @R.function
    def main(x: R.Tensor((2,), "float32"), v: R.Tensor(("n",), "float32")):
        R.func_attr({{"num_input": 1}})
        n = T.int64()
        {lines}
        return z
"""
    script = rc.script(passed(parse(text), "LazyGetInput").after)
    assert script.split("n = T.int64()\n")[1].strip().startswith(first)


@pytest.mark.parametrize("name", ["LazyGetInput", "LazySetOutput"])
def test_a_function_that_the_module_calls_stays(name: str) -> None:
    # TVM changes the function and not its calls.
    text = """
    @R.function
    def called(x: R.Tensor((4,), "float32")):
        y = R.exp(x)
        return y
    @R.function(private=True)
    def caller(x: R.Tensor((4,), "float32")):
        cls = Module
        y = cls.called(x)
        return y
"""
    stage = passed(parse(text), name)
    assert not stage.is_changed
    assert "@called stays: the module itself calls it" in remarks(stage, "missed")


def test_a_function_that_returns_a_scalar_stays() -> None:
    text = """
    @R.function
    def main(n: R.Prim("int64")):
        return n
"""
    stage = passed(parse(text), "LazySetOutput")
    assert not stage.is_changed
    assert remarks(stage, "missed") == ["@main stays: a result is a scalar on the host, no object"]


def test_a_size_that_a_branch_forgets_is_asked_for_before_if_something_behind_it_gives_it_again() -> None:
    text = """
    @R.function
    def main(c: R.Tensor((), "bool"), v: R.Tensor(("n",), "float32"), w: R.Tensor(("n",), "float32")):
        R.func_attr({"num_input": 1})
        n = T.int64()
        if c:
            r: R.Tensor((n,), "float32") = R.exp(v)
        else:
            r: R.Tensor((n,), "float32") = R.negative(v)
        z: R.Tensor((n,), "float32") = R.add(r, w)
        return z
"""
    script = rc.script(passed(parse(text), "LazyGetInput").after)
    assert script.split("n = T.int64()\n")[1].strip().startswith("v_untyped")
    assert script.count("fget_param(") == 2
