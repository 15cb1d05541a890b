"""Gradient: the adjoint functions of apache-tvm, and that they are the gradients."""

import re
from typing import Any

import numpy as np
import pytest

import relax_core as rc
from relax_core.ir.equality import first_difference
from relax_core.ir.expr import Function, TensorType
from relax_core.ir.module import IRModule
from relax_core.passes.relax.training.gradient_rules import RULES
from tests.apache_tvm import relax, tvm
from tests.passes.programs import parse
from tests.passes.wheel import agrees, flat, in_tvm, input_of, passed, remarks, same_values

PAIR = "x (3, 4), y (3, 4)"
CASES = {
    "a sum": (PAIR, "a = R.add(x, y); gv = R.sum(a)"),
    "an operand that is broadcast": ("x (3, 4), y (4,)", "a = R.multiply(x, y); gv = R.sum(a)"),
    "a difference and a quotient": (PAIR, "a = R.subtract(x, y); b = R.divide(a, y); gv = R.sum(b)"),
    "a power": (PAIR, "a = R.exp(x); b = R.power(a, y); gv = R.sum(b)"),
    "the greater and the smaller": (PAIR, "a = R.maximum(x, y); b = R.minimum(a, R.const(0.5)); gv = R.sum(b)"),
    "functions of one number": (
        PAIR, "a = R.abs(x); b = R.cos(a); c = R.exp(b); d = R.log(c); e = R.negative(d); gv = R.sum(e)",
    ),
    "more functions of one number": (
        PAIR,
        "a = R.sigmoid(x); b = R.sin(a); c = R.sqrt(b); d = R.tanh(c); e = R.nn.relu(d); f = R.nn.silu(e); "
        "gv = R.sum(f)",
    ),
    "a product of matrices": ("x (3, 4), y (4, 5)", "a = R.matmul(x, y); gv = R.sum(a)"),
    "a product of stacks": ("x (2, 3, 4), y (4, 5)", "a = R.matmul(x, y); gv = R.sum(a)"),
    "a product of a vector and a stack": ("x (4,), y (2, 4, 5)", "a = R.matmul(x, y); gv = R.sum(a)"),
    "a product of a stack and a vector": ("x (2, 3, 4), y (4,)", "a = R.matmul(x, y); gv = R.sum(a)"),
    "a product of vectors": ("x (4,), y (4,)", "gv = R.matmul(x, y)"),
    "a product with a transposed matrix": (
        "x (3, 4), y (5, 4)", "t = R.permute_dims(y); a = R.matmul(x, t); gv = R.sum(a)",
    ),
    "a product of transposed matrices": (
        "x (4, 3), y (5, 4)", "s = R.permute_dims(x); t = R.permute_dims(y); a = R.matmul(s, t); gv = R.sum(a)",
    ),
    "fields of a tuple": (
        PAIR, "a = (x, y); b = a[0]; c = a[1]; d = R.add(b, c); e = R.multiply(d, b); gv = R.sum(e)",
    ),
    "a concatenation": (PAIR, "a = R.concat((x, y, x), axis=1); b = R.multiply(a, a); gv = R.sum(b)"),
    "parts": (PAIR, "a = R.split(x, 2, axis=1); b = a[0]; c = a[1]; d = R.multiply(b, c); gv = R.sum(d)"),
    "parts that are joined": (
        PAIR, "a = R.split(x, 2, axis=1); c = R.concat(a, axis=1); e = R.multiply(c, y); gv = R.sum(e)",
    ),
    "reductions": (
        PAIR,
        "a = R.sum(x, axis=[1]); b = R.mean(y, axis=[0], keepdims=True); c = R.variance(x, axis=[1]); "
        "d = R.sum(a); e = R.sum(b); f = R.mean(c); g = R.add(d, e); gv = R.add(g, f)",
    ),
    "softmax": (PAIR, "a = R.nn.softmax(x, axis=1); b = R.nn.log_softmax(y); c = R.multiply(a, b); gv = R.sum(c)"),
    "cross entropy": (PAIR, "a = R.nn.log_softmax(x); gv = R.nn.cross_entropy_with_logits(a, y)"),
    "shapes": (
        PAIR,
        "a = R.reshape(x, (4, 3)); b = R.permute_dims(a, axes=[1, 0]); c = R.expand_dims(b, axis=[0]); "
        "d = R.broadcast_to(c, (2, 3, 4)); e = R.cumsum(d, axis=1); f = R.multiply(e, e); gv = R.sum(f)",
    ),
    "a running sum of all": (PAIR, "a = R.cumsum(x); b = R.multiply(a, a); gv = R.sum(b)"),
    "chosen rows": (
        "x (3, 4), i (2,) int64", "j = R.minimum(i, R.const(0, 'int64')); a = R.take(x, j, axis=1); gv = R.sum(a)",
    ),
    "a choice": ("c (3, 4) bool, x (3, 4), y (3, 4)", "a = R.where(c, x, y); b = R.multiply(a, a); gv = R.sum(b)"),
    "a convolution": ("x (2, 3, 6, 6), w (4, 3, 3, 3)", "a = R.nn.conv2d(x, w); b = R.multiply(a, a); gv = R.sum(b)"),
    "a convolution of groups": (
        "x (2, 4, 6, 6), w (4, 2, 3, 3)",
        "a = R.nn.conv2d(x, w, strides=2, padding=1, groups=2); b = R.multiply(a, a); gv = R.sum(b)",
    ),
    "pooling": (
        "x (2, 4, 6, 6), y (3,)",
        "a = R.nn.max_pool2d(x, pool_size=[2, 2], strides=[2, 2]); b = R.nn.avg_pool2d(a, pool_size=[2, 2]); "
        "gv = R.sum(b)",
    ),
    "constants": (PAIR, "a = R.add(x, R.const(1.0)); b = R.multiply(a, R.const(2.0)); gv = R.sum(b)"),
    "names": (PAIR, "a = x; b = R.multiply(a, y); c = b; gv = R.sum(c)"),
    "what the target does not use": (PAIR, "a = R.multiply(x, x); b = R.exp(y); gv = R.sum(a)"),
    "another dtype": (PAIR, "a = R.astype(x, 'float64'); b = R.multiply(a, a); gv = R.sum(b)"),
    "a checkpoint": (
        PAIR,
        "a = R.multiply(x, y); s = R.grad.start_checkpoint(a); b = R.multiply(s, y); c = R.exp(b); k = R.sin(c); "
        "d = R.grad.end_checkpoint(k); e = R.multiply(d, d); gv = R.sum(e)",
    ),
    "a symbolic size": ("x ('n', 4), y (4,)", "a = R.multiply(x, y); b = R.exp(y); gv = R.sum(a)"),
}  # fmt: skip

OFFSETS = {"a difference and a quotient": 1.5}
"""What is added to inputs that would be divided by numbers near 0."""


def program(params: str, lines: str, result: str = "gv") -> str:
    """Write a function of `x (3, 4), c (3,) bool` that computes by lines between semicolons."""
    typed: list[str] = []
    for item in params.replace("), ", ");").replace("bool, ", "bool;").replace("int64, ", "int64;").split(";"):
        name, rest = item.split(" ", 1)
        shape, dtype = rest.rsplit(")", 1)
        typed.append(f'{name}: R.Tensor({shape}), "{dtype.strip() or "float32"}")')
    body = "\n            ".join(line.strip() for line in (*lines.split(";"), "R.output(gv)"))
    return f"""
    @R.function
    def main({", ".join(typed)}):
        with R.dataflow():
            {body}
        return {result}
"""


@pytest.mark.parametrize("name", CASES)
def test_the_adjoint_function_is_that_of_tvm(name: str) -> None:
    agrees(program(*CASES[name]), relax.transform.Gradient("main"), "Gradient")


@pytest.mark.parametrize("name", CASES)
def test_the_adjoint_is_the_gradient(name: str) -> None:
    """Differences of the function in float64 along a random direction are those that the gradient says."""
    text = re.sub(r"R\.const\(([\d.]+)\)", r"R.const(\1, 'float64')", program(*CASES[name]))
    module = parse(text.replace("float32", "float64"))
    after = passed(module, "Gradient").after
    function = after["main"]
    assert isinstance(function, Function)
    inputs: list[Any] = [input_of(param.annotation, seed) for seed, param in enumerate(function.params)]
    inputs = [
        item + 1.5 if item.dtype == np.float64 and name == "a difference and a quotient" else item for item in inputs
    ]
    value, gradients = rc.VirtualMachine(rc.build(after))["main_adjoint"](*inputs)
    rng = np.random.default_rng(7)
    steps: list[Any] = [rng.uniform(-1, 1, item.shape) * (item.dtype == np.float64) for item in inputs]
    step = 1e-5
    ahead, back = (_run(module, inputs, steps, sign * step) for sign in (1, -1))
    expected = (ahead - back) / (2 * step)
    found = sum(float(np.sum(g * s)) for g, s in zip(flat(gradients), steps, strict=True) if g.dtype.kind == "f")
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(value, _run(module, inputs, steps, 0.0), rtol=1e-12)


def _run(module: IRModule, inputs: list[Any], steps: list[Any], size: float) -> float:
    moved = [item + size * step if item.dtype == np.float64 else item for item, step in zip(inputs, steps, strict=True)]
    return float(rc.VirtualMachine(rc.build(module))["main"](*moved))


def test_targets_and_variables_are_chosen() -> None:
    text = program(PAIR, "a = R.multiply(x, y); gv = R.sum(a)", "(x, gv)")
    module = passed(parse(text), "Gradient(target_index=1, require_grads=['y', 'a'])").after
    function = module["main_adjoint"]
    assert isinstance(function, Function)
    x, y = (np.full((3, 4), value, "float32") for value in (2, 3))
    (_, total), (by_y, by_a) = rc.VirtualMachine(rc.build(module))["main_adjoint"](x, y)
    assert total == 72
    assert np.all(by_y == 2)
    assert np.all(by_a == 1)


def test_labels_and_weights_have_no_gradient() -> None:
    text = program("x (3, 4), t (3,) int64, w (4,)", "a = R.nn.log_softmax(x); gv = R.nn.nll_loss(a, t, w)")
    agrees(text, relax.transform.Gradient("main"), "Gradient")
    after = passed(parse(text), "Gradient(require_grads=['x'])").after
    assert "nll_loss_backward" in rc.script(after)


REFUSED = (
    ("a = R.sum(x); gv = R.add(x, a)", "Gradient", "gv is no float tensor of rank 0"),
    ("a = R.nn.gelu(x); gv = R.sum(a)", "Gradient", "the operator nn.gelu has none"),
    (
        "t = R.permute_dims(x); a = R.matmul(x, t, 'float64'); gv = R.sum(a)",
        "Gradient",
        "a: matmul expects equal dtypes",
    ),
    ("gv = R.sum(x)", "Gradient(func_name='other')", "there is no Relax function other"),
    ("gv = R.sum(x)", "Gradient(require_grads=['z'])", "it has no variable z"),
    ("gv = R.sum(x)", "Gradient(require_grads=['x', 'x'])", "named twice"),
    ("gv = R.sum(x)", "Gradient(target_index=2)", "it has 1 results, and target_index is 2"),
)


@pytest.mark.parametrize(("lines", "passes", "words"), REFUSED)
def test_what_has_no_gradient_is_told(lines: str, passes: str, words: str) -> None:
    stage = rc.run_pipeline(parse(program("x (3, 4)", lines)), passes)[-1]
    assert stage.is_failed
    assert words in str(stage.diagnostics[0].message)


def test_a_function_of_several_blocks_is_told() -> None:
    module = parse("""
    @R.function
    def main(x: R.Tensor((3,), "float32")):
        y = R.sum(x)
        return y
""")
    assert "one dataflow block" in rc.run_pipeline(module, "Gradient")[-1].diagnostics[0].message


def test_the_type_of_the_adjoint_function_is_its_results() -> None:
    function = passed(parse(program(PAIR, "a = R.multiply(x, y); gv = R.sum(a)")), "Gradient").after["main_adjoint"]
    assert isinstance(function, Function)
    assert not isinstance(function.ret_type, TensorType)


@pytest.mark.tvm
def test_a_gradient_that_is_there_stays_as_in_tvm() -> None:
    module = in_tvm(program(PAIR, "a = R.multiply(x, y); gv = R.sum(a)"))
    ours = passed(rc.parse(module.script()), "Gradient")
    same_values(ours.before, ours.after)
    (again,) = rc.run_pipeline(ours.after, "Gradient")
    assert not again.is_changed
    assert remarks(again, "missed") == ["@main_adjoint is there already"]
    theirs = relax.transform.Gradient("main")(relax.transform.Gradient("main")(module))
    assert first_difference(ours.after, rc.parse(theirs.script())) is None
    (other,) = rc.run_pipeline(ours.after, "Gradient(require_grads=['x'])")[-1].diagnostics
    assert "another function main_adjoint" in other.message


def test_the_operators_with_a_gradient_are_those_of_tvm() -> None:
    names = [name for name in tvm.ir.Op.list_op_names() if name.startswith("relax.")]
    theirs = {name for name in names if tvm.ir.Op.get(name).get_attr("FPrimalGradient") is not None}
    assert set(RULES) - theirs == {"relax.squeeze"}
    assert theirs <= set(RULES)
