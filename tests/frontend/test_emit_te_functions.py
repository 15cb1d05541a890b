"""`R.emit_te` of a function of the text: its tensor expressions are read as prim funcs of the same values."""

from typing import Any

import numpy as np
import pytest

import relax_core as rc
from relax_core.frontend.parse import parse_text
from tests.passes.wheel import flat

HEAD = """@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4, 6), "float32"), w: R.Tensor((6,), "float32"), i: R.Tensor((3,), "int32"),
             s: R.Tensor(("n", 2), "float32"), h: R.Tensor((4, 6), "float16")):
"""
LAMBDAS = {
    "one element": "lambda a: te.compute(a.shape, lambda p, q: a[p, q] + 1.0), x",
    "a shape by its sizes": "lambda a: te.compute((a.shape[1], a.shape[0]), lambda p, q: a[q, p] * 2), x",
    "all indices at once": "lambda a: te.compute(a.shape, lambda *p: te.exp(a(*p))), x",
    "a broadcast": "lambda a, b: te.compute(a.shape, lambda p, q: a[p, q] * b[q]), x, w",
    "a number": "lambda a, c: te.compute(a.shape, lambda p, q: a[p, q] * c), x, 3",
    "a choice": "lambda a: te.compute(a.shape, lambda p, q: te.if_then_else(q > p, a[p, q], 0.0)), x",
    "a gather": "lambda a, b: te.compute((3, 6), lambda p, q: a[b[p], q]), x, i",
    "a symbolic shape": "lambda a: te.compute((a.shape[1], a.shape[0]), lambda p, q: a[q, p]), s",
    "a size in an element": "lambda a: te.compute(a.shape, lambda p, q: a[a.shape[0] - 1 - p, q]), s",
    "a dtype": "lambda a, b: te.compute(a.shape, lambda p, q: a[p, q].astype(b.dtype) + b[p, q]), h, x",
    "half": "lambda a: te.compute(a.shape, lambda p, q: a[p, q] * 2 + 0.5), h",
    "a function of tir": (
        "lambda a: te.compute(a.shape, lambda p, q: tvm.tirx.max(a[p, q], tvm.tirx.const(0, a.dtype))), x"
    ),
    "a condition": (
        "lambda a: te.compute(a.shape, lambda p, q: tvm.tirx.Select(tvm.tirx.all(p > 0, q > 1), a[p, q], 2.0)), x"
    ),
    "arithmetic of indices": "lambda a: te.compute((24,), lambda p: a[p // 6, p % 6]), x",
    "an index as a value": "lambda a: te.compute((6,), lambda p: p.astype('float32') + a[p]), w",
    "topi of a computation": "lambda a: topi.nn.relu(te.compute(a.shape, lambda p, q: a[p, q] - 0.5)), x",
    "a computation of topi": "lambda a: topi.add(topi.exp(a), topi.sum(a, axis=1, keepdims=True)), x",
}
FUNCTIONS = {
    "a reduction": """
def f(a, b):
    "Multiply a matrix with a vector."
    n, m = a.shape
    k = te.reduce_axis((0, m), name="k")
    return te.compute((n,), lambda p: te.sum(a[p, k] * b[k], axis=k), name="product")
""",
    "the greatest": """
def f(a, b):
    k = te.reduce_axis((0, a.shape[0]), name="k")
    return te.compute((a.shape[1],), lambda q: te.max(a[k, q] * b[q], axis=k))
""",
    "the least of a part": """
def f(a, b):
    k = te.reduce_axis((1, 3), name="k")
    return te.compute((6,), lambda q: te.min(a[k, q], axis=[k]))
""",
    "two axes": """
def f(a, b):
    k = te.reduce_axis((0, 4), name="k")
    l = te.reduce_axis((0, 6), name="l")
    return te.compute((1,), lambda p: te.sum(a[k, l] + b[l], axis=[k, l]))
""",
    "stages": """
def f(a, b):
    shape = a.shape
    k = te.reduce_axis((0, shape[1]), name="k")
    total = te.compute((shape[0],), lambda p: te.sum(a[p, k], axis=k), name="total")
    mean = te.compute(total.shape, lambda p: total[p] / 6.0, name="mean")
    return te.compute(shape, lambda p, q: (a[p, q] - mean[p]) * b[q], name="centred")
""",
    "a function of an element": """
def f(a, b):
    width = 2
    def element(p, q):
        return te.if_then_else(tvm.tirx.all(q >= width, q < 8), a[p, q - width], 0.0)
    return te.compute((a.shape[0], a.shape[1] + 2 * width), element)
""",
    "operators of tensors": """
def f(a, b):
    c = a * b + topi.expand_dims(b, axis=0)
    return topi.concatenate([c, a], axis=0)
""",
    "a part": """
def f(a, b):
    parts = topi.split(a, 2, axis=1)
    c = parts[1]
    d = te.compute(c.shape, lambda p, q: c[p, q] * b[q])
    return topi.concatenate([d, parts[0]], axis=1)
""",
    "one result twice": """
def f(a, b):
    c = te.compute(a.shape, lambda p, q: a[p, q] + b[q])
    return topi.add(c, topi.multiply(c, c))
""",
}
REFUSED = {
    "lambda a: te.compute((4.5,), lambda p: a[p]), w": "a size is an integer",
    "lambda *a: a, x": "`*` among its parameters",
    "lambda a: te.extern(a.shape, [a], lambda ins, outs: 0), x": "te.extern",
    "lambda a: te.compute(a.shape, lambda p, q: te.sum(a[p, q], axis=p)), x": "no axis to reduce",
    "lambda a: te.compute((6,), lambda p: p), w": "the dtype of an index",
    "lambda a: te.compute((6,), lambda p: a[p, p]), w": "the tensor has 1 axes",
    "lambda a: te.compute((6,), lambda p, q: a[p]), w": "2 indices for 1 axes",
    "lambda a: te.compute(a.shape, lambda p: te.unknown(a[p])), w": "unknown",
    "lambda a: te.compute(a.shape, lambda p: open('x')), w": "open",
    "lambda a, b: te.compute(a.shape, lambda p: a[p]), w": "the function takes a, b",
    "lambda a: [a for _ in range(3)], w": "for _ in range",
    "lambda a: te.compute(a.shape, lambda p: __import__('os').getpid()), w": "__import__",
}


def text_of(call: str, function: str = "") -> str:
    return f"{function}{HEAD}        y = R.emit_te({call})\n        return y\n"


def inputs() -> list[Any]:
    made = np.random.default_rng(0)
    return [
        made.normal(size=(4, 6)).astype("float32"), made.normal(size=6).astype("float32"),
        np.asarray([3, 0, 2], "int32"), made.normal(size=(5, 2)).astype("float32"),
        made.normal(size=(4, 6)).astype("float16"),
    ]  # fmt: skip


def values(text: str) -> list[Any]:
    module = rc.parse(text)
    assert [str(item) for item in rc.check(module) if item.severity == "error"] == []
    assert rc.structural_equal(rc.parse(rc.script(module)), module)
    return flat(rc.VirtualMachine(rc.build(module))["main"](*inputs()))


def values_in_tvm(text: str, function: str = "") -> list[Any]:
    from tests.apache_tvm import from_source, relax, tvm

    names = {"tvm": tvm, "te": tvm.te, "topi": tvm.topi, "I": tvm.script.ir, "R": tvm.script.relax}
    exec(function, names)
    machine = relax.VirtualMachine(relax.build(from_source(text, names), "llvm"), tvm.cpu())
    return [machine["main"](*map(tvm.runtime.tensor, inputs())).numpy()]


def same(ours: list[Any], theirs: list[Any]) -> None:
    for a, b in zip(ours, theirs, strict=True):
        assert a.dtype == b.dtype
        np.testing.assert_allclose(a, b, rtol=1e-3 if a.dtype == np.float16 else 1e-5, atol=1e-6)


@pytest.mark.tvm
@pytest.mark.parametrize("name", LAMBDAS)
def test_a_lambda_has_the_values_that_it_has_in_tvm(name: str) -> None:
    text = text_of(LAMBDAS[name])
    same(values(text), values_in_tvm(text))


@pytest.mark.tvm
@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_has_the_values_that_it_has_in_tvm(name: str) -> None:
    function = FUNCTIONS[name]
    same(values(text_of("f, x, w", function)), values_in_tvm(text_of("f, x, w"), function))


@pytest.mark.parametrize("call", REFUSED)
def test_what_is_not_read_is_named_and_never_run(call: str) -> None:
    errors = [item for item in parse_text(text_of(call), "m.py").diagnostics if item.severity == "error"]
    assert len(errors) == 1
    assert errors[0].code in ("PA004", "PA006", "PA009", "RS001")
    assert REFUSED[call] in errors[0].message


def test_prim_funcs_are_named_after_the_function_or_its_hint() -> None:
    lines = (
        "y = R.emit_te(f, x, w)",
        "z = R.emit_te(f, x, w)",
        "v = R.emit_te(f, x, w, primfunc_name_hint='named')",
        "return (y, z, v)",
    )
    text = FUNCTIONS["a reduction"] + HEAD + "".join(f"        {line}\n" for line in lines)
    parsed = parse_text(text, "m.py")
    assert parsed.modules[0].names == ("main", "f", "f_1", "named")
    assert {item.code for item in parsed.diagnostics} == {"PA037"}


@pytest.mark.parametrize("line", ["s = s + s", "n = n * n + n"])
def test_what_doubles_with_each_line_is_refused_before_it_is_large(line: str) -> None:
    lines = ("s = a.shape", "n = a.shape[0]", *[line] * 40, "return te.compute(a.shape, lambda p, q: a[p, q])")
    function = "def f(a):\n" + "".join(f"    {item}\n" for item in lines)
    (error,) = (item for item in parse_text(text_of("f, s", function), "m.py").diagnostics if item.severity == "error")
    assert error.code == "PA004"
    assert error.span is not None
    assert "more than 4096 parts" in error.message
