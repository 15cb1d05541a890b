"""Calls of packed functions: keywords become host scalars by the callee's schema, and what is printed reads back."""

from typing import Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relax_core.check.check import check
from relax_core.check.infer import infer
from relax_core.diagnostics import Diagnostic
from relax_core.frontend.parse import parse_text
from relax_core.ir.equality import first_difference
from relax_core.ir.expr import Call, DataTypeImm, Expr, Function, PrimValue, Tuple, Var
from relax_core.ir.module import IRModule
from relax_core.ir.node import preorder
from relax_core.ir.prim import IntImm, StringImm
from relax_core.ops.show import show_type
from relax_core.printer.ast import print_ast
from relax_core.printer.tvmscript import print_module

Form = Literal["call_packed", "call_pure_packed", "call_dps_packed"]
HEAD = """@I.ir_module
class Module:
    @R.function(pure=False)
    def main(x: R.Tensor((2, 3), "float32"), k: R.Prim("int64")):
"""
OUT = 'out_ty=R.Tensor((2, 3), "float32")'


def read(call: str) -> tuple[IRModule | None, tuple[Diagnostic, ...]]:
    parsed = parse_text(
        f"{HEAD}        a = R.str('tanh')\n        t = (x, x)\n        y = {call}\n        return y\n", "packed.py"
    )
    module = parsed.modules[0] if parsed.modules else None
    return module, parsed.diagnostics


def call_of(module: IRModule) -> Call:
    function = module.definitions[0].function
    assert isinstance(function, Function)
    return next(item for item in preorder(function) if isinstance(item, Call))


def arguments(call: str) -> str:
    """Return the arguments behind the callee as the syntax tree shows them."""
    module, found = read(call)
    assert module is not None
    assert [item.render() for item in found if item.severity == "error"] == []
    made = call_of(module)
    args = made.args if "call_packed" in call else made.args[1:]
    if "call_dps_packed" in call and isinstance(args[0], Tuple):
        args = args[0].fields
    return ", ".join(map(words, args))


def words(item: Expr) -> str:
    match item:
        case PrimValue(value=IntImm(value=value) | StringImm(value=value)):
            return str(value)
        case DataTypeImm(value=name) | Var(name=name):
            return name
        case _:
            return type(item).__name__


# a call -> its arguments
BOUND = {
    'R.call_packed("libtorch_add", x, x)': "x, x, 1",
    'R.call_packed("libtorch_add", x, x, alpha=2)': "x, x, 2",
    'R.call_packed("libtorch_add", x, x, 2)': "x, x, 2",
    'R.call_packed("libtorch_add", x, alpha=2, other=x)': "x, x, 2",
    'R.call_packed("libtorch_add", other=x, self=x, alpha=k)': "x, x, k",
    'R.call_packed("libtorch_unique", x, sorted=True, return_inverse=True)': "x, 1, 1, 0",
    'R.call_pure_packed("libtorch_gelu", x, approximate="tanh")': "x, tanh",
    f'R.call_dps_packed("libtorch_add_out", (x, x), alpha=2, {OUT})': "x, x, 2",
    'R.call_dps_packed("libtorch_add_out", (x, x), alpha=2, output_shape=(2, 3), dtype="float32")': "x, x, 2",
    'R.call_dps_packed("libtorch_gelu_out", x, a, output_shape=(2, 3), dtype="float32")': "x, a",
    'R.call_dps_packed("libtorch_gelu_out", x, (2, 3), dtype="float32")': "x, none",
    'R.call_dps_packed("libtorch_gelu_out", (x,), (2, 3), "float32")': "x, none",
    f'R.call_dps_packed("libtorch_gelu_out", args=[x], {OUT})': "x, none",
    f'R.call_dps_packed(R.ExternFunc("libtorch_gelu_out"), R.tuple(x), {OUT})': "x, none",
    f'R.call_dps_packed("libtorch_clamp_out", x, max=1, {OUT})': "x, Null, 1",
    'R.call_packed("libtorch_softmax", x, 1, dtype="float64")': "x, Tuple, float64",
    'R.call_packed("libtorch_sum", x)': "x, Null, 0, Null",
    'R.call_packed("unknown", x, 2, by=3, sizes=[1, 2], how="a")': "x, 2, 3, Tuple, a",
    'R.call_dps_packed("unknown", (x,), by=3, out_ty=R.Tensor((2, 3), "float32"))': "x, 3",
}


@pytest.mark.parametrize("call", BOUND)
def test_arguments_are_placed_by_the_schema(call: str) -> None:
    assert arguments(call) == BOUND[call]


@pytest.mark.parametrize("spelling", ["2022", "2023", "2026"])
@pytest.mark.parametrize("call", BOUND)
def test_what_is_printed_reads_back_equal(call: str, spelling: Literal["2022", "2023", "2026"]) -> None:
    module, _ = read(call)
    assert module is not None
    text = print_module(module, spelling=spelling).text
    again = parse_text(text, "again.py")
    assert [item.render() for item in again.diagnostics if item.severity != "note"] == []
    assert first_difference(module, again.modules[0], strict=True) is None, text


def test_a_number_stands_for_every_item_of_a_list() -> None:
    call = 'R.call_packed("libtorch_upsample_nearest2d", x, 4)'
    module, _ = read(call)
    assert module is not None
    size = call_of(module).args[1]
    assert isinstance(size, Tuple)
    assert [words(item) for item in size.fields] == ["4", "4"]
    assert size.fields[0] is not size.fields[1]


def test_a_tuple_variable_stays_what_it_is() -> None:
    module, _ = read(f'R.call_dps_packed("libtorch_add_out", t, {OUT})')
    assert module is not None
    assert "Var" in print_ast(module).text
    assert not isinstance(call_of(module).args[-1], Tuple)


# a call -> the code and the words of its diagnostics
WRONG = {
    'R.call_packed("libtorch_add", x, x, beta=2)': [("PA051", "has no argument `beta`")],
    'R.call_packed("libtorch_add", x, x, alpha=2, gamma=1, delta=2)': [("PA051", "`delta`"), ("PA051", "`gamma`")],
    'R.call_packed("libtorch_add", x, self=x)': [("PA052", "`self`"), ("PA054", "`other`")],
    'R.call_packed("libtorch_add", x, x, 1, 2)': [("PA053", "takes 3 arguments, got 4")],
    'R.call_pure_packed("libtorch_softmax", x)': [("PA054", "lacks its argument `dim`")],
    f'R.call_dps_packed("libtorch_add_out", (x, x), out=x, {OUT})': [("PA051", "has no argument `out`")],
    'R.call_packed("libtorch_ad", x, by=2)': [("PA050", "no schema: `by` is passed")],
    'R.call_packed("libtorch_add", x, x, alpha="2")': [("TY071", "alpha of libtorch_add must be Scalar")],
    'R.call_packed("libtorch_sum", x, dim=4)': [("TY072", "from -2 to 1, got 4")],
    'R.call_packed("libtorch_flip", x, 0)': [("TY071", "R.Prim(0) is no list")],
    'R.call_packed("libtorch_flip", x, k)': [("TY071", "is no list")],
    'R.call_packed("libtorch_add", x, x, alpha=k, ty_args=R.Tensor((2, 2), "float32"))': [("TY073", "3 is not 2")],
    f'R.call_dps_packed("libtorch_add_out", t, {OUT})': [],
}


@pytest.mark.parametrize("call", WRONG)
def test_a_wrong_call_is_diagnosed_at_its_place(call: str) -> None:
    module, diagnostics = read(call)
    checked = check(module) if module is not None and not any(item.severity == "error" for item in diagnostics) else ()
    found = [item for item in (*diagnostics, *checked) if item.code[:4] in ("PA05", "TY07")]
    expected = sorted(WRONG[call])
    assert sorted(item.code for item in found) == [code for code, _ in expected]
    for item, (_, part) in zip(sorted(found, key=lambda item: (item.code, item.message)), expected, strict=True):
        assert part in item.message
        assert item.span is not None
        assert item.span.line == 7
        assert item.code in ("PA050", "TY073") or "schema: libtorch_" in item.hint


# a call -> the type of its result
TYPED = {
    '"libtorch_softmax", x, 1': 'R.Tensor((2, 3), dtype="float32")',
    '"libtorch_softmax", x, k, dtype="float64"': 'R.Tensor((2, 3), dtype="float64")',
    '"libtorch_sum", x, 0': 'R.Tensor((3,), dtype="float32")',
    '"libtorch_sum", x, [0, 1], keepdim=True': 'R.Tensor((1, 1), dtype="float32")',
    '"libtorch_sum", x, k': 'R.Tensor(dtype="float32", ndim=1)',
    '"libtorch_sum", x, k, keepdim=True': 'R.Tensor(dtype="float32", ndim=2)',
    '"libtorch_any", x': 'R.Tensor((), dtype="bool")',
    '"libtorch_add", x, R.const([1.0, 2.0, 3.0], "float32"), alpha=k': 'R.Tensor((2, 3), dtype="float32")',
    '"libtorch_add", x, R.const(1.0, "float64")': "R.Tensor((2, 3))",
    '"libtorch_cat", (x, x), 1': 'R.Tensor((2, 6), dtype="float32")',
    '"libtorch_cat", (x, x), k': 'R.Tensor(dtype="float32", ndim=2)',
    '"libtorch_stack", (x, x, x), -1': 'R.Tensor((2, 3, 3), dtype="float32")',
    '"libtorch_full", [k, 2], 1.5': 'R.Tensor(dtype="float32", ndim=2)',
    '"libtorch_full", [4, 2], 1': 'R.Tensor((4, 2), dtype="int64")',
    '"libtorch_arange", 1, 10, 4': 'R.Tensor((3,), dtype="int64")',
    '"libtorch_topk", x, 2': 'R.Tuple(R.Tensor((2, 2), dtype="float32"), R.Tensor((2, 2), dtype="int64"))',
    '"libtorch_unique", x': 'R.Tensor(dtype="float32", ndim=1)',
    '"libtorch_constant_pad_nd", x, [1, 2]': 'R.Tensor((2, 6), dtype="float32")',
    '"libtorch_index_select", x, 0, R.const([0, 1, 0])': 'R.Tensor((3, 3), dtype="float32")',
    '"libtorch_item", x': 'R.Prim("float32")',
    '"libtorch_split", x, 1': "R.Object",
    '"libtorch_einsum", "ij->ji", (x,)': "R.Tensor",
    '"libtorch_cumsum", x, 0': 'R.Tensor((2, 3), dtype="float32")',
    '"unknown", x': "R.Object",
}


@pytest.mark.parametrize("form", ["call_packed", "call_pure_packed"])
@pytest.mark.parametrize("call", TYPED)
def test_the_type_of_the_result_comes_from_the_schema(call: str, form: Form) -> None:
    module, _ = read(f"R.{form}({call})")
    assert module is not None
    assert [item.message for item in check(module) if item.severity == "error"] == []
    types = infer(module).types
    found = next(item for item in preorder(module.definitions[0].function) if isinstance(item, Call))
    assert show_type(types[found]) == TYPED[call]


def test_a_bare_prim_type_leaves_the_dtype_to_the_value() -> None:
    text = f'{HEAD}        a: PrimType = R.PrimValue("tanh")\n        b: R.Prim = a\n        return b\n'
    parsed = parse_text(text, "bare.py")
    assert [item.render() for item in parsed.diagnostics if item.severity != "note"] == []
    wrong = parse_text(text.replace('R.PrimValue("tanh")', "x"), "bare.py")
    assert [item.code for item in wrong.diagnostics if item.severity == "error"][:1] == ["RS006"]


SUM = {"self": "x", "dim": "[0, 1]", "keepdim": "True", "dtype": '"float64"'}


@settings(max_examples=20)
@given(st.permutations(list(SUM)), st.integers(0, 3))
def test_neither_order_nor_spelling_of_arguments_matters(order: list[str], count: int) -> None:
    positional = list(SUM)[:count]
    named = [f"{name}={SUM[name]}" for name in order if name not in positional]
    found, _ = read(f'R.call_packed("libtorch_sum", {", ".join([*(SUM[name] for name in positional), *named])})')
    expected, _ = read(f'R.call_packed("libtorch_sum", {", ".join(SUM.values())})')
    assert found is not None
    assert expected is not None
    assert first_difference(found, expected, strict=True) is None


def test_a_batch_norm_written_both_ways_is_one_call() -> None:
    by_name, _ = read('R.call_packed("libtorch_batch_norm", x, running_mean=x, running_var=x, eps=0.001)')
    by_place, _ = read('R.call_packed("libtorch_batch_norm", x, None, None, x, x, False, 0.1, 0.001, False)')
    assert by_name is not None
    assert by_place is not None
    assert first_difference(by_name, by_place, strict=True) is None
