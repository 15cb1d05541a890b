"""What Python would compute in a text is read as data: numbers, and what is known of variables by their types."""

import math
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from relax_core.diagnostics import Diagnostic
from relax_core.frontend.parse import Parsed, parse_text
from relax_core.ir.equality import first_difference
from relax_core.ir.expr import Call, Constant, DataTypeImm, Op, ShapeExpr
from relax_core.ir.node import preorder
from relax_core.ir.prim import FloatImm
from relax_core.ops.show import show_dims
from relax_core.printer.tvmscript import print_module
from tests.narrow import is_array

HEAD = (
    '@I.ir_module\nclass M:\n    @R.function\n    def main(x: R.Tensor((2, 3), "float32"), y: R.Tensor, n: R.Shape):\n'
)
NUMBERS = {
    "1.0 / 3.0": 1.0 / 3.0,
    "2 ** -3": 0.125,
    "-(7 // 2) % 5": 2,
    "np.finfo('float32').max": float(np.finfo("float32").max),
    "np.finfo(np.float16).min": -65504.0,
    "np.iinfo('int8').max": 127,
    "np.sqrt(2.0)": math.sqrt(2.0),
    "-np.inf": -math.inf,
    "float('-inf')": -math.inf,
    "math.pi": math.pi,
    "np.float32(2.5)": 2.5,
}
PRIM_NUMBERS = (
    "(1.0 / 3.0)", "(1 / 3)", "(1 / 3 + 1)", "(2.0 * 3)", "(1.5 - 1)", "-(1.0 / 3.0)", "(2.0 ** 0.5)", "(7 // 2 * 1.0)",
    "T.exp(1 / 3)", "T.float32(1 / 3)", "(7 % 4.5)", "(7.5 // 2)", "(2 ** 3)", "(1 << 3 | 1)", "(-7 // 2)", "~3",
    "abs(-2)", "max(1, 2.5)", "T.max(A[i], 1 / 3)", "(A[i] - (1 / 3) * 2)", "(i * (3 - 1))", "float('inf')",
)  # fmt: skip
"""What Python computes in a prim func before TVM sees it, in the words in which the wheel reads it as well."""
ARRAYS = {
    "np.linspace(0, 1, 5).astype('float32')": np.linspace(0, 1, 5).astype("float32"),
    "np.concatenate([np.zeros((2,), 'float32'), np.ones((3,), 'float32')])": np.array([0, 0, 1, 1, 1], "float32"),
    "np.expand_dims(np.arange(4, dtype='int32'), 0)": np.array([[0, 1, 2, 3]], "int32"),
    "np.zeros_like(np.ones((2, 3), 'int8'))": np.zeros((2, 3), "int8"),
    "np.full((2, 2), 7, dtype='int32')": np.full((2, 2), 7, "int32"),
    "np.array([1, 2, 3], dtype='float32') * 2 + 1": np.array([3, 5, 7], "float32"),
    "-np.ones((2,), np.float32)": np.array([-1, -1], "float32"),
    "1 / np.array([2.0, 4.0], 'float32')": np.array([0.5, 0.25], "float32"),
    "np.array([[1, 2], [3, 4]]).T.astype(np.float16)": np.array([[1, 3], [2, 4]], "float16"),
    "np.tile(np.array([1, 2], 'int32'), (2, 1))": np.array([[1, 2], [1, 2]], "int32"),
    "np.transpose(np.arange(6).reshape((2, 3)), axes=(1, 0)).astype('int8')": np.array(
        [[0, 3], [1, 4], [2, 5]], "int8"
    ),
    "np.arange(4).reshape(2, 2) > 1": np.array([[False, False], [True, True]]),
    # Without a dtype 64 bits become 32, as in TVM, but for a tensor that is made.
    "np.array([1, 2])": np.array([1, 2], "int32"),
    "np.zeros(2)": np.zeros(2, "float32"),
    "tvm.runtime.tensor(np.array([1, 2]))": np.array([1, 2], "int64"),
    "tvm.nd.array(np.zeros(2))": np.zeros(2, "float64"),
    "[[1.5] * 3] * 2": np.full((2, 3), 1.5, "float32"),
    "2 * [1, 2]": np.array([1, 2, 1, 2], "int32"),
    "AROUND": np.array([[1, 2], [3, 4]], "float32"),
}
TOLD = {
    HEAD + "        z = R.emit_te(topi.exp, x)\n        return z\n": ("PA037", "topi.exp"),
    HEAD + '        z = R.dist.const(1, R.DTensor((), "int32", "mesh[0]", "R"))\n        return z\n': (
        "PA040",
        "R.DTensor",
    ),
    '@R.function\ndef f(x: Tensor((2, 3), "float32")):\n    y = foo(x)\n    return foo(y)\n': ("PA038", "foo"),
}
REFUSED = {
    "z = R.const([0] * 2**25)": "PA010",
    "z = R.const(1.0 / 0.0)": "PA010",
    "z = R.const(9 ** 9 ** 9)": "PA010",
    "z = R.const(2 ** 63 * 4)": "PA010",
    "z = R.const((-2) ** 0.5)": "PA010",
    "z = R.const(np.sqrt(-1.0))": "PA010",
    "z = R.const(np.random.rand(3))": "PA004",
    "z = R.const(np.linalg.inv(np.eye(2)))": "PA004",
    "z = R.const(np.ones((2,)).byteswap())": "PA004",
    "z = R.const(np.tile(np.ones((1 << 12,)), 1 << 13))": "PA010",
    "z = R.const(np.ones((1 << 13, 1)) + np.ones((1, 1 << 13)))": "PA010",
    "z = R.const(np.ones((2,)) + np.ones((3,)))": "PA010",
    "z = R.const(np.concatenate([np.ones((2, 2)), np.ones((3,))]))": "PA010",
    "z = R.const(np.zeros((2,), order='F'))": "PA004",
    "z = R.clip(x, 0, 1 << 70)": "PA010",
    "w = R.ExternFunc('f')\n        z: w.ty = w": "PA004",
    "z = R.zeros((x.shape[2],), x.dtype)": "PA009",
    "z = R.zeros((x.shape[n],), x.dtype)": "PA009",
    "z = R.reshape(x, y.shape)": "PA004",
    "z = R.astype(x, n.dtype)": "PA009",
    "z = R.emit_te(lambda a: te.extern(a.shape, [a], lambda i, o: 0), x)": "PA004",
    "z = R.emit_te(topi.image.resize2d, x)": "PA004",
    'z = R.dist.const(1.0, "float32")': "RS006",
    "z = R.dist.const(1.0)": "PA006",
    "z = R.layout_transform(x, index_map=T.index_map(lambda i, j: (j, i), dtype='int32'))": "PA006",
}


def parsed(line: str) -> Parsed:
    return parse_text(f"{HEAD}        {line}\n        return z\n", "m.py")


def errors(line: str) -> list[Diagnostic]:
    return [item for item in parsed(line).diagnostics if item.severity == "error"]


@pytest.mark.parametrize(("text", "value"), NUMBERS.items(), ids=NUMBERS)
def test_a_number_is_that_of_python(text: str, value: float) -> None:
    module = parsed(f"z = R.const({text}, 'float64')").modules[0]
    (constant,) = (node for node in preorder(module) if isinstance(node, Constant))
    assert is_array(constant.data)
    assert constant.data.item() == value


@pytest.mark.parametrize(("text", "value"), ARRAYS.items(), ids=ARRAYS)
def test_an_array_is_that_of_numpy(text: str, value: npt.NDArray[Any]) -> None:
    around = "BASE = np.arange(4).reshape(2, 2)\nAROUND = (BASE + 1).astype('float32')\n"
    module = parse_text(f"{around}{HEAD}        return R.const({text})\n", "m.py").modules[0]
    (constant,) = (node for node in preorder(module) if isinstance(node, Constant))
    assert is_array(constant.data)
    assert constant.data.dtype == value.dtype
    assert np.array_equal(constant.data, value)


@pytest.mark.tvm
@pytest.mark.parametrize("text", [text for text in ARRAYS if "nd.array" not in text and text != "AROUND"])
def test_tvm_makes_the_same_constant(text: str) -> None:
    from tests.apache_tvm import from_source, relax, tvm

    text = f"@R.function\ndef main():\n    return R.const({text})\n"
    names = {"np": np, "tvm": tvm, "R": tvm.script.relax}
    function = from_source(text, names)
    ours = parse_text(text, "m.py").modules[0]
    assert isinstance(function, relax.Function)
    back = from_source(print_module(ours).text, check_well_formed=False)
    tvm.ir.assert_structural_equal(back, tvm.IRModule.from_expr(function))


def test_constants_that_double_each_other_stay_small() -> None:
    chain = "A0 = np.ones((2,))\n" + "".join(f"A{k + 1} = A{k} + A{k}\n" for k in range(60))
    found = parse_text(f"{chain}{HEAD}        return R.const(A60)\n", "m.py").diagnostics
    assert [item.code for item in found if item.severity == "error"] == ["PA010"]


def test_a_number_in_a_prim_func_is_that_of_python() -> None:
    head = '@T.prim_func\ndef f(A: T.Buffer((4,), "float32")):\n'
    text = f'{head}    for i in range(4, annotations={{"k": 1}}):\n        A[i] = T.float32(np.finfo("float32").eps)\n'
    module = parse_text(text, "m.py").modules[0]
    (number,) = (node for node in preorder(module) if isinstance(node, FloatImm))
    assert number.value == float(np.finfo("float32").eps)


def test_a_variable_is_asked_for_its_declared_shape_and_dtype() -> None:
    module = parsed("z = R.astype(R.reshape(x, x.shape), x.dtype)").modules[0]
    (shape,) = (node for node in preorder(module) if isinstance(node, ShapeExpr))
    assert [str(getattr(dim, "value", None)) for dim in shape.values] == ["2", "3"]
    assert [node.value for node in preorder(module) if isinstance(node, DataTypeImm)] == ["float32"]


def test_a_dimension_of_a_variable_is_that_of_its_value() -> None:
    module = parsed(
        "w = R.reshape(x, (3, 2))\n        z = R.zeros((w.shape[0] * x.struct_info.shape[-1], 5), w.struct_info.dtype)"
    ).modules[0]
    shapes = [node for node in preorder(module) if isinstance(node, ShapeExpr)]
    assert [show_dims(node.values) for node in shapes] == ["(3, 2)", "(3 * 3, 5)"]


INSPECTED = {
    "y.ndim": "relax.inspect.tensor_ndim",
    "y.shape[1]": "relax.inspect.tensor_shape_i",
    "y.dtype.type_code": "relax.inspect.tensor_dtype_code",
    "x.dtype.bits": "relax.inspect.tensor_dtype_bits",
    "x.strides[0]": "relax.inspect.tensor_stride_i",
    "x.byte_offset": "relax.inspect.tensor_byte_offset",
    "x.elem_offset": "relax.inspect.tensor_elem_offset",
}


@pytest.mark.parametrize("text", INSPECTED)
def test_what_no_type_tells_is_asked_at_run_time(text: str) -> None:
    module = parsed(f"z = {text}").modules[0]
    assert [node.op.name for node in preorder(module) if isinstance(node, Call) and isinstance(node.op, Op)] == [
        INSPECTED[text]
    ]
    assert first_difference(module, parse_text(print_module(module).text, "m.py").modules[0], strict=True) is None


@pytest.mark.parametrize("text", ["x.ndim", "x.shape[1]"])
def test_what_a_type_tells_is_not_asked_at_run_time(text: str) -> None:
    assert not [node for node in preorder(parsed(f"z = {text}").modules[0]) if isinstance(node, Call)]


def test_a_long_chain_has_a_type_at_its_end() -> None:
    chain = "".join(f"        x{k + 1} = R.exp(x{k})\n" for k in range(3000))
    text = (
        f'@R.function\ndef f(x0: R.Tensor((2, 3), "float32")):\n{chain}        return R.zeros(x3000.ty.shape, "int8")\n'
    )
    assert [item.code for item in parse_text(text.replace("        ", "    "), "m.py").diagnostics] == []


@pytest.mark.parametrize(("line", "code"), REFUSED.items(), ids=REFUSED)
def test_what_has_no_value_is_refused_at_its_place(line: str, code: str) -> None:
    found = errors(line)
    assert [item.code for item in found] == [code]
    assert found[0].span is not None
    assert found[0].span.line == 5 + line.count("\n")


@pytest.mark.parametrize(("text", "expected"), TOLD.items(), ids=[code for code, _ in TOLD.values()])
def test_what_is_read_as_something_else_is_told_once(text: str, expected: tuple[str, str]) -> None:
    code, words = expected
    (found,) = (item for item in parse_text(text, "m.py").diagnostics if item.severity != "error")
    assert found.code == code
    assert found.span is not None
    assert found.span.text.startswith(words)


@pytest.mark.tvm
@pytest.mark.parametrize("written", PRIM_NUMBERS)
def test_bare_numbers_in_a_prim_func_are_computed_as_by_python(written: str) -> None:
    from tests.apache_tvm import from_source

    text = (
        "@I.ir_module\nclass M:\n    @T.prim_func\n"
        '    def f(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):\n'
        f"        for i in range(8):\n            B[i] = A[i] * {written}\n"
    )
    ours = parse_text(text, "m.py")
    assert not ours.diagnostics
    theirs = parse_text(from_source(text).script(), "m.py")
    assert first_difference(ours.modules[0], theirs.modules[0]) is None


@pytest.mark.parametrize("written", ["(1 / 0)", "(2 ** 100)", "(1 << 99)", "(9 ** 9 ** 9)"])
def test_a_number_that_python_does_not_compute_is_an_error_at_its_place(written: str) -> None:
    text = (
        '@I.ir_module\nclass M:\n    @T.prim_func\n    def f(B: T.Buffer((8,), "float32")):\n        B[0] = '
        f"{written}\n"
    )
    (found,) = parse_text(text, "m.py").diagnostics
    assert found.span is not None
    assert (found.code, found.span.text) == ("PA010", written.removeprefix("(").removesuffix(")"))
