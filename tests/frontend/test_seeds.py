"""The programs of the seeds are read as written, and in the later spellings."""

from pathlib import Path

import numpy as np
import pytest

from relax_core.diagnostics import has_errors
from relax_core.frontend.parse import parse_text
from relax_core.ir.expr import (
    Call,
    Constant,
    Function,
    GlobalVar,
    MatchCast,
    Op,
    SeqExpr,
    ShapeExpr,
    ShapeType,
    TensorType,
    Tuple,
    TupleType,
    Var,
    VarBinding,
)
from relax_core.ir.module import IRModule
from relax_core.ir.node import postorder
from relax_core.ir.prim import PrimVar
from relax_core.ir.tir import Block, BufferStore, For, IterVar, PrimFunc
from tests.frontend.seeds import PROGRAMS, SAMPLES, SEEDS


def read(name: str) -> IRModule:
    parsed = parse_text((SAMPLES / "seeds" / f"{name}.py").read_text(encoding="utf-8"), name)
    assert not has_errors(parsed.diagnostics)
    (module,) = parsed.modules
    return module


def relax_function(module: IRModule, name: str) -> Function:
    function = module[name]
    assert isinstance(function, Function)
    return function


def bindings(function: Function) -> dict[str, VarBinding | MatchCast]:
    nodes = postorder(function)
    return {item.var.name: item for item in nodes if isinstance(item, VarBinding | MatchCast)}


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_a_sample_is_read_without_errors(path: Path) -> None:
    parsed = parse_text(path.read_text(encoding="utf-8"), path.name)
    assert [item.render() for item in parsed.diagnostics if item.severity != "note"] == []
    assert parsed.modules


@pytest.mark.parametrize("path", SEEDS, ids=lambda path: path.stem)
def test_every_node_of_a_seed_has_a_place(path: Path) -> None:
    parsed = parse_text(path.read_text(encoding="utf-8"), path.name)
    without = [node for node in postorder(*parsed.modules) if node.span is None]
    # Only what the text does not write has no place: filled-in arguments, and the start of a loop over T.grid.
    assert {type(node).__name__ for node in without} <= {"PrimValue", "StringImm", "IntImm", "Null", "Tuple"}


def test_a_local_function_captures_by_name() -> None:
    main = relax_function(read("print_closure2"), "main")
    closure = bindings(main)["closure"]
    assert isinstance(closure, VarBinding)
    assert isinstance(closure.value, Function)
    assert isinstance(closure.value.body, SeqExpr)
    assert closure.value.body.body is main.params[0]


def test_a_bare_literal_is_a_tensor_where_the_result_says_so() -> None:
    lifted = relax_function(read("print_closure_lifted"), "lifted_func_0")
    (constant,) = (node for node in postorder(lifted) if isinstance(node, Constant))
    assert constant.data.dtype == np.int32
    assert constant.data.shape == ()


def test_a_function_of_the_module_is_a_value() -> None:
    module = read("print_closure_lifted")
    binding = bindings(relax_function(module, "main"))["closure"]
    assert binding.value is not None
    assert isinstance(binding.value, GlobalVar)
    assert binding.value is module.definitions[1].var


def test_symbolic_dimensions_are_shared_by_all_their_occurrences() -> None:
    function = relax_function(read("my_ir_module_guide"), "relax_func")
    found = bindings(function)
    assert isinstance(found["lv0"], MatchCast)
    match function.params[0].annotation, found["lv0"].type, found["lv1"].var.annotation:
        case TensorType(shape=(n, k)), TensorType(shape=(k2, m), dtype="float32"), TensorType(shape=(n2, m2)):
            assert (n, k, m) == (n2, k2, m2)
        case other:
            pytest.fail(f"unexpected types {other}")


def test_a_tuple_of_dimensions_is_a_shape_and_may_be_the_shape_of_a_result() -> None:
    found = bindings(relax_function(read("my_ir_module_guide"), "relax_func"))
    lv3, gv0 = found["lv3"], found["gv0"]
    assert isinstance(lv3.var.annotation, ShapeType)
    assert isinstance(lv3.value, ShapeExpr)
    assert isinstance(gv0.value, Call)
    (out,) = gv0.value.type_args
    assert isinstance(out, TensorType)
    assert out.shape is lv3.var


def test_a_parenthesised_input_is_a_tuple_of_one() -> None:
    call = bindings(relax_function(read("my_ir_module"), "relax_func"))["gv2"].value
    assert isinstance(call, Call)
    assert isinstance(call.op, Op)
    assert isinstance(call.args[1], Tuple)
    assert [item.name for item in call.args[1].fields if isinstance(item, Var)] == ["gv1"]


def test_dot_is_matmul() -> None:
    call = bindings(relax_function(read("my_ir_module_guide"), "relax_func"))["lv1"].value
    assert isinstance(call, Call)
    assert isinstance(call.op, Op)
    assert call.op.name == "relax.matmul"


def test_a_block_variable_shadows_a_dimension_inside_the_block_only() -> None:
    function = read("my_ir_module")["tir_matmul"]
    assert isinstance(function, PrimFunc)
    loops = [node for node in postorder(function) if isinstance(node, For)]
    axes = {node.var.name: node for node in postorder(function) if isinstance(node, IterVar)}
    stores = [node for node in postorder(function) if isinstance(node, BufferStore)]
    (block,) = (node for node in postorder(function) if isinstance(node, Block))
    assert len(loops) == 3
    assert len(stores) == 2
    assert block.init is not None
    assert axes["k"].extent is function.buffers[2].buffer.shape[1]
    assert axes["k"].var is not axes["k"].extent
    assert {item.dtype for item in (axes["k"].var, loops[0].var)} == {"int32"}


def test_free_dimensions_of_matched_buffers_are_bound_by_the_first_use() -> None:
    function = read("my_ir_module_guide")["tir_exp_func"]
    assert isinstance(function, PrimFunc)
    x, y = (item.buffer for item in function.buffers)
    assert x.shape[0] is y.shape[0]
    assert isinstance(x.shape[0], PrimVar)
    assert (x.dtype, x.shape[0].dtype) == ("float32", "int64")


def test_void_is_the_empty_tuple() -> None:
    ret = relax_function(read("print_closure_lifted"), "main").ret_type
    assert isinstance(ret, TupleType)
    assert ret.fields == ()


@pytest.mark.tvm
@pytest.mark.parametrize("path", [path for path in SEEDS if path.stem.endswith("_2026")], ids=lambda path: path.stem)
def test_apache_tvm_reads_the_2026_spelling(path: Path) -> None:
    from tests.apache_tvm import from_source

    module = from_source(path.read_text(encoding="utf-8"))
    assert {item.name_hint for item in module.functions} == set(read(path.stem).names)
