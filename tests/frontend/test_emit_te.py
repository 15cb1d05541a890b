"""`R.emit_te` of TOPI is read as the operator of the same values; what is not is refused, and named."""

import pytest

from relax_core.check.infer import infer
from relax_core.frontend.parse import parse_text
from relax_core.ir.expr import Var
from relax_core.ir.node import preorder
from relax_core.ops.show import show_type

HEAD = """@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4, 8), "float32"), i: R.Tensor((2,), "int64"), w: R.Tensor((3, 8), "float32")):
"""
# Calls, and the types of what they give.
READ = {
    "topi.concatenate, (x, w), 0": ((7, 8), "float32"),
    "topi.stack, [x, x], 0": ((2, 4, 8), "float32"),
    "topi.take, x, i, 0": ((2, 8), "float32"),
    "topi.take, x, indices=i, axis=1, primfunc_name_hint='t'": ((4, 2), "float32"),
    "topi.strided_slice, x, [0, 2], [2, 8], [1, 3]": ((2, 2), "float32"),
    "topi.strided_slice, x, [2], [8], [1], axes=[1]": ((4, 6), "float32"),
    "topi.cast, x, 'float16'": ((4, 8), "float16"),
    "topi.clip, x, 0.0, 6.0": ((4, 8), "float32"),
    "topi.tile, x, (2, 1)": ((8, 8), "float32"),
    "topi.repeat, x, 2, 1": ((4, 16), "float32"),
    "topi.flip, x, 1": ((4, 8), "float32"),
    "topi.full, (4,), 'float32', 1.0": ((4,), "float32"),
    "topi.full_like, x, 1.0": ((4, 8), "float32"),
    "topi.nn.dense, x, w": ((4, 3), "float32"),
    "topi.nn.leaky_relu, x, alpha=0.1": ((4, 8), "float32"),
    "topi.isnan, x": ((4, 8), "bool"),
    "topi.cumsum, x, 0": ((4, 8), "float32"),
    "topi.reshape, x, newshape=(8, 4)": ((8, 4), "float32"),
    "topi.transpose, x": ((8, 4), "float32"),
    "topi.sum, x, axis=[0], keepdims=True": ((1, 8), "float32"),
    "tvm.topi.add, x, x": ((4, 8), "float32"),
}
REFUSED = {
    "topi.argmax, x, 1": "`topi.argmax`, for which",
    "topi.matmul, x, w, False, True": "the argument `False` of `topi.matmul`",
    "topi.expand_dims, x, axis=0, num_newaxis=2": "the argument `2` of `topi.expand_dims`",
    "my_add, x, x": "`my_add`, a Python function",
}


def line(call: str) -> str:
    return f"{HEAD}        y = R.emit_te({call})\n        return y\n"


@pytest.mark.parametrize("call", READ)
def test_a_function_of_topi_is_read_as_its_operator(call: str) -> None:
    parsed = parse_text(line(call), "m.py")
    assert [item.code for item in parsed.diagnostics if item.severity in ("warning", "error")] == []
    found = infer(parsed.modules[0])
    assert found.diagnostics == ()
    (variable,) = (node for node in preorder(parsed.modules[0]) if isinstance(node, Var) and node.name == "y")
    shape, dtype = READ[call]
    assert show_type(found.types[variable]) == f'R.Tensor({shape}, dtype="{dtype}")'


@pytest.mark.tvm
@pytest.mark.parametrize("call", READ)
def test_tvm_gives_it_the_same_type(call: str) -> None:
    from tests.apache_tvm import from_source, tvm

    names = {"tvm": tvm, "topi": tvm.topi, "I": tvm.script.ir, "R": tvm.script.relax}
    binding = from_source(line(call), names)["main"].body.blocks[0].bindings[0]
    shape, dtype = READ[call]
    assert (tuple(map(int, binding.var.ty.shape)), str(binding.var.ty.dtype)) == (shape, dtype)


@pytest.mark.parametrize("call", REFUSED)
def test_what_is_not_read_is_named(call: str) -> None:
    errors = [item for item in parse_text(line(call), "m.py").diagnostics if item.severity == "error"]
    assert [item.code for item in errors] == ["PA004"]
    assert REFUSED[call] in errors[0].message
