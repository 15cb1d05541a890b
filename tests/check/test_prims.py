"""PrimValues in types: attributes against the schema, attributes that are computed, and the stricter policy."""

import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import relax_core as rc
from relax_core.check.attribute_limits import LIMITS
from relax_core.check.infer import infer
from relax_core.check.unify import contradiction
from relax_core.ir.expr import OBJECT, Call, MatchCast, Op, PrimType, PrimValue, TensorType, Type, VarBinding
from relax_core.ir.module import IRModule
from relax_core.ir.node import preorder
from relax_core.ir.prim import const
from relax_core.ops import OPS, find
from relax_core.ops.show import show_type
from relax_core.ops.signature import schema_text

SAMPLES = Path(__file__).resolve().parents[2] / "samples"
HEAD = "from tvm.script import ir as I\nfrom tvm.script import relax as R\nfrom tvm.script import tirx as T\n\n\n"
PARAMS = (
    "x: R.Tensor((2, 3), 'float32'), im: R.Tensor((1, 4, 8, 8), 'float32'), w: R.Tensor((4, 4, 3, 3), 'float32'), "
    "a: R.Prim('int64'), f: R.Prim('float32'), s: R.Prim('string'), b: R.Prim('bool'), t: R.Tensor((), 'int64')"
)


def module_of(expression: str, params: str = PARAMS) -> IRModule:
    lines = (
        "@I.ir_module",
        "class Module:",
        "    @R.function",
        f"    def main({params}):",
        f"        y = {expression}",
    )
    return rc.parse(HEAD + "\n".join((*lines, "        return y", "")))


def problems(expression: str) -> list[tuple[str, str]]:
    try:
        found = rc.check(module_of(expression))
    except rc.CompileError as error:
        found = error.diagnostics
    return [(item.code, item.hint) for item in found if item.severity == "error"]


def type_of(expression: str) -> str:
    module = module_of(expression)
    assert not problems(expression)
    types = infer(module).types
    (binding,) = (
        node for node in preorder(module) if isinstance(node, VarBinding | MatchCast) and node.var.name == "y"
    )
    return show_type(types[binding.var])


@pytest.mark.parametrize(
    ("expression", "code"),
    [
        ("R.nn.softmax(x, axes=1)", "PA006"),
        ("R.nn.softmax(axis=1)", "PA006"),
        ("R.nn.softmax(x, 1, axis=1)", "PA006"),
        ("R.nn.softmax(x, 1, 2)", "PA006"),
        ("R.nn.softmax(x, axis='last')", "TY040"),
        ("R.nn.softmax(x, axis=1.5)", "TY040"),
        ("R.nn.softmax(x, axis=f)", "TY040"),
        ("R.nn.softmax(x, axis=s)", "TY040"),
        ("R.nn.softmax(x, axis=(0, 1))", "TY040"),
        ("R.nn.leakyrelu(x, alpha='steep')", "TY040"),
        ("R.sum(x, axis=[0], keepdims='yes')", "TY040"),
        ("R.sum(x, axis=[0], keepdims=3)", "TY040"),
        ("R.sum(x, axis=[0.5])", "TY040"),
        ("R.sum(x, axis=s)", "TY040"),
        ("R.nn.pad(x, [0, 0, 1, 1], pad_mode=1)", "TY040"),
        ("R.nn.dropout(x, rate=1.5)", "TY041"),
        ("R.nn.dropout(x, rate=-0.5)", "TY041"),
        ("R.nn.conv2d(im, w, strides=[-1, 1])", "TY041"),
        ("R.nn.conv2d(im, w, strides=0)", "TY041"),
        ("R.nn.conv2d(im, w, groups=0)", "TY041"),
        ("R.nn.conv2d(im, w, dilation=[1, 0])", "TY041"),
        ("R.nn.max_pool2d(im, pool_size=0)", "TY041"),
        ("R.nn.softmax(x, axis=7)", "TY014"),
        ("R.permute_dims(x, axes=[0, 0])", "TY017"),
        ("R.nn.conv2d(im, w, data_layout='XYZW')", "TY038"),
        ("R.nn.pad(x, [0, 0, 1, 1], pad_mode='mirror')", "TY018"),
        ("R.take(x, t, axis=0, mode='mirror')", "TY018"),
        ("R.image.resize2d(im, (4, 4), method='best')", "TY018"),
    ],
)
def test_a_wrong_attribute_is_told_with_the_schema(expression: str, code: str) -> None:
    ((found, hint),) = problems(expression)
    assert found == code
    assert "the schema: R." in hint


@pytest.mark.parametrize(
    "expression",
    ["x + a", "R.add(x, f)", "R.nn.softmax(x, axis=t)", "R.sum(x, axis=[t])", "R.concat((x, f))", "R.exp(b)"],
)
def test_mixing_a_scalar_and_a_tensor_is_told_with_both_spellings(expression: str) -> None:
    ((code, hint),) = problems(expression)
    assert code == "TY003"
    assert "R.prim_value" in hint
    assert "R.const" in hint or "UnboxScalars" in hint


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("R.nn.softmax(x, axis=a)", 'R.Tensor((2, 3), dtype="float32")'),
        ("R.nn.softmax(x, axis=a - 1)", 'R.Tensor((2, 3), dtype="float32")'),
        ("R.nn.leakyrelu(x, alpha=f)", 'R.Tensor((2, 3), dtype="float32")'),
        ("R.sum(x, axis=[a])", 'R.Tensor(dtype="float32", ndim=1)'),
        ("R.sum(x, axis=[a], keepdims=True)", 'R.Tensor(dtype="float32", ndim=2)'),
        ("R.sum(x, axis=[0], keepdims=b)", 'R.Tensor(dtype="float32")'),
        ("R.expand_dims(x, axis=a)", 'R.Tensor(dtype="float32", ndim=3)'),
        ("R.repeat(x, a, axis=0)", 'R.Tensor(dtype="float32", ndim=2)'),
        ("R.concat((x, x), axis=a)", 'R.Tensor(dtype="float32", ndim=2)'),
        ("R.reshape(x, (a, 3))", 'R.Tensor((a, 3), dtype="float32")'),
        ("R.split(x, a, axis=0)", "R.Object"),
    ],
)
def test_a_computed_attribute_leaves_unknown_what_depends_on_it(expression: str, expected: str) -> None:
    assert type_of(expression) == expected


def test_a_computed_attribute_that_no_value_fits_is_an_error() -> None:
    assert [code for code, _ in problems("R.squeeze(x, axis=a)")] == ["TY034"]


AXIS_OPERATORS = ("relax.nn.softmax", "relax.sum", "relax.argmax", "relax.cumsum", "relax.expand_dims", "relax.flip")


@given(
    name=st.sampled_from(AXIS_OPERATORS),
    shape=st.lists(st.integers(1, 3), min_size=1, max_size=3),
    axis=st.integers(-3, 3),
)
def test_the_type_with_a_computed_axis_holds_every_result(name: str, shape: list[int], axis: int) -> None:
    operator = name.removeprefix("relax.")
    written = "[a]" if operator == "sum" else "a"
    params = f"x: R.Tensor({tuple(shape)}, 'float32'), a: R.Prim('int64')"
    module = module_of(f"R.{operator}(x, axis={written})", params)
    (call,) = (node for node in preorder(module) if isinstance(node, Call))
    known: Type = infer(module).types[call]
    spec = find(name)
    assert spec is not None
    literal = module_of(f"R.{operator}(x, axis={written.replace('a', str(axis))})", params)
    if rc.check(literal):
        return
    (other,) = (node for node in preorder(literal) if isinstance(node, Call))
    assert contradiction(infer(literal).types[other], known) is None


def test_batch_norm_written_both_ways_is_one_call() -> None:
    params = "x: R.Tensor((2, 3), 'float32'), g: R.Tensor((3,), 'float32')"
    by_position = module_of("R.nn.batch_norm(x, g, g, g, g, 1, 1e-3)", params)
    assert rc.structural_equal(by_position, module_of("R.nn.batch_norm(x, g, g, g, g, epsilon=1e-3, axis=1)", params))
    as_values = module_of("R.nn.batch_norm(x, g, g, g, g, R.prim_value(1), R.prim_value(T.float64(1e-3)))", params)
    assert rc.structural_equal(by_position, as_values)
    assert not rc.structural_equal(by_position, module_of("R.nn.batch_norm(x, g, g, g, g, 1, 1e-5)", params))


def test_the_schema_of_every_operator_is_one_line() -> None:
    for spec in OPS.values():
        assert schema_text(spec).startswith(f"R.{spec.short_name}(")
        assert "\n" not in schema_text(spec)


def test_a_default_is_in_its_range() -> None:
    for spec in OPS.values():
        for param in spec.params:
            limit = LIMITS.get(param.name) if spec.name.startswith("relax.nn.") else None
            values = param.default if isinstance(param.default, tuple) else (param.default,)
            assert all(limit is None or limit.holds(item) for item in values if isinstance(item, int | float))


@pytest.mark.parametrize(
    ("expression", "count"),
    [
        ("R.exp(x)", 0),
        ("R.nn.softmax(x, axis=1)", 0),
        ("R.call_pure_packed('f', x, a, ty_args=R.Tensor((2, 3), 'float32'))", 0),
        ("R.call_dps_packed('f', (x, a), out_ty=R.Tensor((2, 3), 'float32'))", 0),
        ("R.nn.softmax(x, axis=a)", 1),
        ("(x, a, f)", 2),
    ],
)
def test_the_policy_warns_of_scalars_outside_packed_calls(expression: str, count: int) -> None:
    module = module_of(expression)
    found = [item for item in rc.check(module, prims="packed_only") if item.code == "TY043"]
    scalars = PARAMS.count("R.Prim")
    assert len(found) == scalars + count, [item.render() for item in found]
    assert all(item.severity == "warning" and item.span is not None for item in found)
    assert not [item for item in rc.check(module) if item.code == "TY043"]


def test_the_command_line_has_the_policy() -> None:
    command = [sys.executable, "-m", "relax_core", "check", "--in-process", str(SAMPLES / "prim" / "prim_axis.py")]
    default = subprocess.run(command, capture_output=True, text=True, check=False)
    strict = subprocess.run([*command, "--prims", "packed_only"], capture_output=True, text=True, check=False)
    assert (default.returncode, strict.returncode) == (0, 0)
    assert "TY043" not in default.stdout
    assert strict.stdout.count("warning[TY043]") == 2


def test_a_scalar_is_no_object() -> None:
    assert contradiction(PrimType("int64"), OBJECT) is not None
    assert contradiction(TensorType((), "int64"), PrimType("int64")) is not None
    assert contradiction(PrimType("int64"), TensorType((), "int64")) is not None


def test_an_attribute_is_an_argument() -> None:
    (call,) = (node for node in preorder(module_of("R.nn.softmax(x, axis=1)")) if isinstance(node, Call))
    assert isinstance(call.op, Op)
    assert isinstance(call.args[1], PrimValue)
    assert rc.structural_equal(call.args[1], PrimValue(const(1)))
