"""Constructs of single lines: what they are read as, and that they print and read back equal."""

import base64
import json
import struct

import numpy as np
import pytest

import relax_core as rc
from relax_core.diagnostics import Diagnostic
from relax_core.frontend.parse import parse_text
from relax_core.ir.equality import first_difference
from relax_core.ir.expr import Constant, TensorType, Var
from relax_core.ir.module import IRModule
from relax_core.ir.node import preorder
from relax_core.printer.spelling import Spelling
from relax_core.printer.tvmscript import print_module

HEAD = '@I.ir_module\nclass Module:\n    @R.function(pure=False)\n    def main(x: R.Tensor((2, 3), "float32")):\n'
LINES = {
    "two symbols at once": "n, m = T.int64(), T.int64(is_size_var=True)\n        y = R.shape([n, m])",
    "method": 'y = x.astype("float16")',
    "product of matrices by its sign": "w = R.permute_dims(x)\n        y = x @ w",
    "operators by their names in Python": "y = relax.op.nn.relu(relax.op.add(x, x))",
    "zeros of NumPy": 'y = R.const(np.zeros((2, 3), "float32"))',
    "full of NumPy": "y = R.const(np.full((2, 3), -1.5, dtype=np.float64))",
    "range of NumPy": 'y = R.const(np.arange(6).reshape(2, 3).astype("int8"), "int64")',
    "unit matrix of NumPy": "y = R.const(np.eye(3, dtype='bool'))",
    "array of NumPy": "y = R.const(np.array([[1, 2], [3, 4]]), 'int32')",
    "starred display": "y = R.concat(*[[x, x]], axis=0)",
    "host scalars in a tuple": "y = (x, 3, True)",
    "number alone": "y = 3",
    "index map": "y = R.layout_transform(x, index_map=lambda i, j: (j, i))",
    "index map with options": (
        "y = R.layout_transform(x, index_map=T.index_map(lambda i, j: (j, i), "
        'inverse_index_map=lambda i, j: (j, i), index_dtype="int32"))'
    ),
    "constant of a tensor": "y = R.add(x, R.const(tvm.nd.array(np.ones((2, 3), dtype='float32'))))",
    "quotient of numbers": 'y = R.multiply(x, R.const(1.0 / 3.0, "float32"))',
    "greatest number of a dtype": "y = R.clip(x, min=-np.inf, max=np.finfo(np.float32).max)",
    "infinity as a bound": "y = R.clip(x, -1, max=float('inf'))",
    "type of a variable": 'y = R.call_dps_packed("f", (x,), out_sinfo=x.struct_info)',
    "type of a variable as annotation": "y: x.ty = R.add(x, x)",
    "shape and dtype of a variable": "y: R.Tensor(x.shape, x.dtype) = R.astype(R.reshape(x, x.shape), x.dtype)",
    "rank of a variable": "y = R.sum(x, axis=x.ndim - 1)",
    "function of TOPI": "y = R.emit_te(topi.nn.relu, R.emit_te(tvm.topi.add, x, x, primfunc_name_hint='f'))",
    "sharded constant": 'y = R.add(x, R.dist.const(1.0, R.DTensor((), "float32", "mesh[0]", "R, R")))',
    "sharding": 'y = R.dist.annotate_sharding(x, "mesh[0]", "S[0]")',
    "collective": 'y = R.ccl.allreduce(x, "sum", False)',
    "device": 'y = R.hint_on_device(x, R.device(device_type=1, index=0), "global")',
    "object of data": 'y = R.call_packed("f", x, to=I.vdevice({"kind": "llvm"}, 1, "global"), ty_args=R.Tensor)',
    "results of a variant": 'y = R.dist.call_tir("f", (x,), out_ty=[R.Tensor((2,)), R.Tensor])',
    "value of a table that is missing": 'y = R.add(x, metadata["ir.GenericConst"][0])',
}
SIGNATURES = {
    "distributed tensor": 'x: R.DTensor((2, 3), "float32", device_mesh="mesh[0]", placement="S[0], R")',
    "mesh in place": "x: R.DTensor(ndim=2, device_mesh=R.device_mesh((2, 2), I.Range(0, 4)))",
    "string": "x: I.StringType()",
    "known scalar": "x: R.Prim(value=16)",
    "callable of unknown parameters": "x: R.Callable(ret=R.Tensor, purity=False)",
    "callable with a derived result": 'x: R.Callable(derive_func="infer", purity=True)',
    "virtual device": 'x: R.Tensor((2, 3), "float32", "llvm:1")',
    "scalar of TIR": "x: T.int64",
}


def read(text: str) -> tuple[IRModule, tuple[Diagnostic, ...]]:
    parsed = parse_text(text, "construct.py")
    assert [item.render() for item in parsed.diagnostics if item.severity == "error"] == []
    return parsed.modules[0], parsed.diagnostics


def round_trips(module: IRModule, spelling: Spelling) -> bool:
    again, _ = read(print_module(module, spelling=spelling).text)
    return first_difference(module, again, strict=True) is None


@pytest.mark.parametrize("spelling", ["2022", "2023", "2025", "2026"])
@pytest.mark.parametrize("name", LINES)
def test_a_line_reads_and_prints(name: str, spelling: Spelling) -> None:
    module, _ = read(f"{HEAD}        {LINES[name]}\n        return y\n")
    assert round_trips(module, spelling)


@pytest.mark.parametrize("spelling", ["2022", "2023", "2025", "2026"])
@pytest.mark.parametrize("name", SIGNATURES)
def test_a_signature_reads_and_prints(name: str, spelling: Spelling) -> None:
    module, _ = read(f"@R.function\ndef main({SIGNATURES[name]}):\n    return x\n")
    assert round_trips(module, spelling)


@pytest.mark.parametrize("owner", ["self", "cls"])
def test_a_text_in_the_style_of_a_class_calls_the_functions_of_its_module(owner: str) -> None:
    text = f"{HEAD}        return Module.other(x)\n\n    @R.function\n    def other(y: R.Tensor):\n        return y\n"
    (named,) = parse_text(text, "m.py").modules
    (owned,) = parse_text(text.replace("Module.other", f"{owner}.other"), "m.py").modules
    assert first_difference(named, owned) is None


def test_a_module_keeps_its_infos_and_its_python() -> None:
    text = (
        "@I.ir_module\nclass Module(BasePyModule):\n"
        '    I.module_global_infos({"mesh": [R.device_mesh((2, 2), I.Range(0, 4)), I.dummy_global_info()]})\n'
        "    @I.pyfunc\n    def double(self, x):\n        return x * 2\n\n"
        '    @R.function\n    def main(x: R.Tensor):\n        return R.call_py_func("double", (x,), out_ty=R.Tensor)\n'
    )
    module, diagnostics = read(text)
    assert "PA032" in [item.code for item in diagnostics]
    printed = print_module(module).text
    assert "@I.pyfunc\n    def double(self, x):\n        return x * 2" in printed
    assert "R.device_mesh([2, 2], I.Range(0, 4)), I.dummy_global_info()" in printed
    assert round_trips(module, "2026")


def saved(data: "np.ndarray[tuple[int, ...], np.dtype[np.float32]]") -> str:
    """Save a tensor as TVM does."""
    head = struct.pack("<QQiiiBBH", 0xDD5E40F096B4A13F, 0, 1, 0, data.ndim, 2, 32, 1)
    sizes = struct.pack(f"<{data.ndim}qq", *data.shape, data.nbytes)
    return base64.b64encode(head + sizes + data.tobytes()).decode()


def test_both_forms_of_metadata_tables_give_their_constants() -> None:
    data = np.arange(6, dtype=np.float32).reshape(2, 3)
    newer = {
        "root_index": 5,
        "nodes": [
            {"type": "ffi.String", "data": "relax.expr.Constant"},
            {"type": "None"},
            {"type": "ffi.Tensor", "data": saved(data)},
            {"type": "relax.expr.Constant", "data": {"span": 1, "data": 2}},
            {"type": "ffi.Array", "data": [3]},
            {"type": "ffi.Map", "data": [0, 4]},
        ],
    }
    older = {
        "root": 1,
        "nodes": [
            {"type_key": ""},
            {"type_key": "Map", "keys": ["relax.expr.Constant"], "data": [2]},
            {"type_key": "Array", "data": [3]},
            {"type_key": "relax.expr.Constant", "attrs": {"data": "0", "span": "0"}},
        ],
        "b64ndarrays": [saved(data)],
    }
    for table in (newer, older):
        text = f'metadata = tvm.ir.load_json("""{json.dumps(table)}""")\n{HEAD}'
        module, diagnostics = read(f'{text}        return R.add(x, metadata["relax.expr.Constant"][0])\n')
        assert diagnostics == ()
        (found,) = (item for item in preorder(module) if isinstance(item, Constant))
        assert np.array_equal(found.data, data)


def test_a_broken_table_is_reported() -> None:
    parsed = parse_text(f'metadata = tvm.ir.load_json("""{{"root": 7}}""")\n{HEAD}        return x\n', "table.py")
    assert [item.code for item in parsed.diagnostics if item.severity == "error"] == ["PA016"]


def test_a_huge_array_of_the_text_is_not_made() -> None:
    parsed = parse_text(f"{HEAD}        return R.const(np.zeros((100000, 100000)))\n", "huge.py")
    assert [item.code for item in parsed.diagnostics] == ["PA010"]


def test_the_same_annotation_is_one_type_until_its_names_change() -> None:
    module, _ = read(
        "@R.function\ndef main(x: R.Tensor(ndim=1)):\n"
        "    n = T.int64()\n    y: R.Tensor((n,)) = R.match_cast(x, R.Tensor((n,)))\n    z: R.Tensor((n,)) = R.exp(y)\n"
        "    return z\n"
    )
    types = [item.annotation for item in preorder(module) if isinstance(item, Var) and item.name in ("y", "z")]
    assert all(isinstance(item, TensorType) for item in types)
    assert types[0] is types[1]


@pytest.mark.parametrize("variables", ["R.shape([n])", "(n,)"])
def test_symbolic_variables_of_a_kernel_are_given_by_place_until_2025(variables: str) -> None:
    text = f"""
@I.ir_module
class Module:
    @T.prim_func
    def zeros(a: T.handle, b: T.handle, n: T.int64):
        A = T.match_buffer(a, (4,), "float32")
        B = T.match_buffer(b, (n,), "float32")
        for i in range(n):
            B[i] = A[0]

    @R.function
    def main(x: R.Tensor((4,), "float32"), s: R.Shape(["n"])):
        n = T.int64()
        y = R.call_tir(Module.zeros, (x,), R.Tensor((n,), "float32"), {variables})
        return y
"""
    by_name = text.replace(f", {variables})", f", tir_vars={variables})")
    assert first_difference(rc.parse(text), rc.parse(by_name)) is None
    assert rc.check(rc.parse(text)) == ()
