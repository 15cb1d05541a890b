"""What Python would compute in a text is read as data: numbers, and what is known of variables by their types."""

import math

import numpy as np
import pytest

from relax_core.diagnostics import Diagnostic
from relax_core.frontend.parse import Parsed, parse_text
from relax_core.ir.expr import Constant, DataTypeImm, ShapeExpr
from relax_core.ir.node import preorder
from relax_core.ir.prim import FloatImm
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
TOLD = {
    HEAD + "        z = R.emit_te(topi.exp, x)\n        return z\n": ("PA037", "topi.exp"),
    HEAD + '        z = R.dist.const(1, R.DTensor((), "int32", "mesh[0]", "R"))\n        return z\n': (
        "PA040",
        "R.DTensor",
    ),
    '@R.function\ndef f(x: Tensor((2, 3), "float32")):\n    y = foo(x)\n    return foo(y)\n': ("PA038", "foo"),
}
REFUSED = {
    "z = R.const(1.0 / 0.0)": "PA010",
    "z = R.const(9 ** 9 ** 9)": "PA010",
    "z = R.const(2 ** 63 * 4)": "PA010",
    "z = R.const((-2) ** 0.5)": "PA010",
    "z = R.const(np.sqrt(-1.0))": "PA010",
    "z = R.clip(x, 0, 1 << 70)": "PA010",
    "w = R.add(x, x)\n        z: w.ty = w": "PA004",
    "z = R.reshape(x, y.shape)": "PA004",
    "z = R.astype(x, n.dtype)": "PA009",
    "z = R.emit_te(lambda a: a, x)": "PA004",
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
