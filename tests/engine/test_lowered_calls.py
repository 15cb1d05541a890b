"""Calls of packed functions behind LowerTVMBuiltin are told as they were before."""

import pytest

from relax_core.engine.splicing.lowered_calls import with_packed_calls
from relax_core.frontend.parse import parse_text
from relax_core.ir.node import preorder
from relax_core.ir.notation.show import show_prim
from relax_core.ir.prim import Intrinsic
from relax_core.ir.tir import BufferStore, Evaluate, PrimFunc, SeqStmt

KERNEL = """@T.prim_func
def k(a: T.handle, b: T.handle, s: T.float32, q: T.int32):
    n = T.int32()
    A = T.match_buffer(a, (n, 4), "float16")
    B = T.match_buffer(b, (n,), "bool")
    T.evaluate(T.call_packed("test.f",
        T.tvm_stack_make_array(A.data, T.tvm_stack_make_shape(n, 4), 0, 2, T.float16(0), 0),
        T.tvm_stack_make_array(B.data, T.tvm_stack_make_shape(n), 0, 1, T.bool(False), 0),
        "text", s, q, T.bool(True), 2.5))
    for i in range(n):
        T.evaluate(T.call_packed("test.g", i * 2, "x"))
"""
CALLS = [
    "call_packed('test.f', tvm_stack_make_array(A.data, tvm_stack_make_shape(Cast('int64', n), 4), 0, 2, 0.0, 0), "
    "tvm_stack_make_array(B.data, tvm_stack_make_shape(Cast('int64', n)), 0, 1, False, 0), 'text', s, q, True, 2.5)",
    "call_packed('test.g', i * 2, 'x')",
]
LOWERED = """@T.prim_func
def k(args: T.handle, A: T.Buffer((4, 2), "float32")):
    anys: T.let[T.handle] = T.tvm_stack_alloca("tvm_ffi_any", 3)
    arrays: T.let[T.handle] = T.tvm_stack_alloca("array", 1)
    shapes = T.decl_buffer((2,), "int64", data=T.tvm_stack_alloca("shape", 2))
    A[0, 0] = T.float32(1)
    shapes[0] = T.int64(4)
    shapes[1] = T.int64(2)
    T.tvm_struct_set(arrays, 0, 1, A.data)
    T.tvm_struct_set(arrays, 0, 2, T.address_of(shapes[0]))
    T.tvm_struct_set(arrays, 0, 3, T.reinterpret("handle", T.uint64(0)))
    T.tvm_struct_set(arrays, 0, 4, 2)
    T.tvm_struct_set(arrays, 0, 5, T.uint8(2))
    T.tvm_struct_set(arrays, 0, 6, T.uint8(32))
    T.tvm_struct_set(arrays, 0, 7, T.uint16({lanes}))
    T.tvm_struct_set(arrays, 0, 8, T.uint64(0))
    T.tvm_struct_set(anys, 0, 13, 7)
    T.tvm_struct_set(anys, 0, 15, T.tvm_struct_get(arrays, 0, 0, "handle"))
    T.tvm_struct_set(anys, 1, 13, 1)
    T.tvm_struct_set(anys, 1, 15, T.Cast("int64", 5))
    T.call_packed_lowered("test.f", anys, 0, 2)
    A[0, 1] = T.float32(2)
"""


def _function(text: str) -> PrimFunc:
    parsed = parse_text(text, "kernel.py")
    assert [item for item in parsed.diagnostics if item.severity == "error"] == []
    ((_, function),) = parsed.modules[0].prim_funcs
    return function


def _calls(function: PrimFunc) -> list[str]:
    calls = [item for item in preorder(function) if isinstance(item, Intrinsic) and item.name.startswith("call_packed")]
    return [show_prim(item).replace("T.", "") for item in calls]


def _stores(function: PrimFunc) -> int:
    return sum(isinstance(item, Intrinsic) and item.name == "tvm_struct_set" for item in preorder(function))


def test_the_stores_of_a_call_become_its_arguments() -> None:
    made = with_packed_calls(_function(LOWERED.format(lanes=1)))
    words = "call_packed('test.f', tvm_stack_make_array(A.data, tvm_stack_make_shape(4, 2), 0, 2, 0.0, 0), 5)"
    assert [item.replace('"', "'") for item in _calls(made)] == [words]
    assert _stores(made) == 0
    # What is stored into other buffers stays, and in its place.
    (stmts,) = (item.stmts for item in preorder(made) if isinstance(item, SeqStmt))
    assert list(map(type, stmts)) == [BufferStore, Evaluate, BufferStore]


def test_a_call_that_is_written_otherwise_stays() -> None:
    function = _function(LOWERED.format(lanes=4))
    assert with_packed_calls(function) is function


@pytest.mark.tvm
def test_what_the_pass_of_the_wheel_lowers_is_raised_again() -> None:
    from tests.apache_tvm import from_source, tirx, tvm

    module = tvm.IRModule({"k": from_source(f"# from tvm.script import tirx as T\n{KERNEL}")})
    module = tirx.transform.BindTarget(tvm.target.Target("llvm", host="llvm"))(module)
    module = tirx.transform.LowerTVMBuiltin()(tirx.transform.MakePackedAPI()(module))
    made = with_packed_calls(_function(module.script()))
    assert [item.replace('"', "'") for item in _calls(made)] == CALLS
    assert _stores(made) == 0
