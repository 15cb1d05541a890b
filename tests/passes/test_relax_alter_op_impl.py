"""AlterOpImpl: kernels give way to others in other layouts, for any of which the process of the wheel ends."""

import re
from typing import Any

import numpy as np
import pytest

import relax_core as rc
from relax_core.ir.equality import first_difference
from relax_core.ir.module import IRModule
from relax_core.ir.prim import const
from relax_core.ir.tir import PrimFunc
from relax_core.ops.tensors.index_map import parse_index_map
from relax_core.ops.tensors.index_map_inverse import inverse_of
from relax_core.passes.core import PassContext
from relax_core.passes.relax.layout.alter_op_impl import AlterOpImplOptions, run
from tests.apache_tvm import from_source, relax
from tests.passes.wheel import passed, same_values

ADD = """
    @T.prim_func(private=True, s_tir=True)
    def add(a: T.Buffer((16,), "float32"), b: T.Buffer((16,), "float32"), c: T.Buffer((16,), "float32")):
        T.func_attr({"operator_name": "relax.add"})
        for i in range(16):
            with T.sblock("add"):
                v = T.axis.spatial(16, i)
                c[v] = a[v] + b[v]
"""
TILED_ADD = """
    @T.prim_func(private=True, s_tir=True)
    def NAME(a: T.Buffer((4, 4), "float32"), b: T.Buffer((4, 4), "float32"), c: T.Buffer((4, 4), "float32")):
        T.func_attr({"operator_name": "relax.add"})
        for i, j in T.grid(4, 4):
            with T.sblock("add"):
                v, w = T.axis.remap("SS", [i, j])
                c[v, w] = a[v, w] + b[v, w]
"""
SHIFT, TILED_SHIFT = (
    re.sub(r"b\[[vw, ]+\]", "b[()]", re.sub(r"b: T.Buffer\(\([\d, ]+\)", "b: T.Buffer(()", text))
    for text in (ADD, TILED_ADD)
)
RELU = """
    @T.prim_func(private=True, s_tir=True)
    def relu(a: T.Buffer((14,), "float32"), b: T.Buffer((14,), "float32")):
        T.func_attr({"operator_name": "relax.nn.relu"})
        for i in range(14):
            with T.sblock("relu"):
                v = T.axis.spatial(14, i)
                b[v] = T.max(a[v], T.float32(0))
"""
TILED_RELU = """
    @T.prim_func(private=True, s_tir=True)
    def NAME(a: T.Buffer((4, 4), "float32"), b: T.Buffer((4, 4), "float32")):
        T.func_attr({"operator_name": "relax.nn.relu"})
        for i, j in T.grid(4, 4):
            with T.sblock("relu"):
                v, w = T.axis.remap("SS", [i, j])
                b[v, w] = T.max(a[v, w], T.float32(0))
"""
HALVES = """
    @T.prim_func(private=True, s_tir=True)
    def halves(a: T.Buffer((16,), "float32"), b: T.Buffer((8,), "float32"), c: T.Buffer((8,), "float32")):
        T.func_attr({"operator_name": "relax.split"})
        for i in range(8):
            with T.sblock("halves"):
                v = T.axis.spatial(8, i)
                b[v] = a[v]
                c[v] = a[v + 8]
"""
TILED_HALVES = """
    @T.prim_func(private=True, s_tir=True)
    def NAME(a: T.Buffer((4, 4), "float32"), b: T.Buffer((2, 4), "float32"), c: T.Buffer((2, 4), "float32")):
        T.func_attr({"operator_name": "relax.split"})
        for i, j in T.grid(2, 4):
            with T.sblock("halves"):
                v, w = T.axis.remap("SS", [i, j])
                b[v, w] = a[v, w]
                c[v, w] = a[v + 2, w]
"""
SEVENS = HALVES.replace("16", "14").replace("8", "7")
REMOVE_PAD = """
    @T.prim_func(private=True, s_tir=True)
    def remove_pad(var_input: T.handle, var_output: T.handle):
        T.func_attr({"operator_name": "remove_pad", "tirx.noalias": True})
        p0, i0 = T.int64(), T.int64()
        input = T.match_buffer(var_input, (p0,))
        output = T.match_buffer(var_output, (i0,))
        for ax0 in range(i0):
            with T.sblock("output"):
                v_ax0 = T.axis.spatial(i0, ax0)
                T.reads(input[v_ax0])
                T.writes(output[v_ax0])
                output[v_ax0] = input[v_ax0]
"""
TILES = "lambda i: (i // 4, i % 4)"


def module(*functions: str) -> IRModule:
    return rc.parse("\n".join(("@I.ir_module", "class Module:", *functions)))


def main(params: str, lines: str, result: str) -> str:
    body = "\n            ".join(line.strip() for line in lines.strip().splitlines())
    return f"""
    @R.function
    def main({params}):
        cls = Module
        with R.dataflow():
            {body}
            R.output({result})
        return {result}
"""


def kernel(text: str) -> PrimFunc:
    found = module(text)["NAME"]
    assert isinstance(found, PrimFunc)
    return found


def altered(before: IRModule, operator: str, text: str, layouts: list[str | None]) -> IRModule:
    options = AlterOpImplOptions(((operator, kernel(text)),), ((operator, tuple(layouts)),))
    return run(before, options, PassContext())


PAIR = 'x: R.Tensor((16,), "float32"), y: R.Tensor((16,), "float32")'
ONE = 'x: R.Tensor((14,), "float32")'
CASES: dict[str, tuple[str, str, list[str | None], tuple[str, ...], tuple[str, ...]]] = {
    "inputs and the result are transformed": (
        "relax.add", TILED_ADD, [TILES] * 3,
        (ADD, main(PAIR, 'gv = R.call_tir(cls.add, (x, y), out_ty=R.Tensor((16,), "float32"))', "gv")),
        (ADD, TILED_ADD.replace("NAME", "relax_add_replacement"), main(PAIR, """
            a = R.layout_transform(x, index_map=lambda i: (i // 4, i % 4))
            b = R.layout_transform(y, index_map=lambda i: (i // 4, i % 4))
            c = R.call_tir(cls.relax_add_replacement, (a, b), out_ty=R.Tensor((4, 4), "float32"))
            gv = R.layout_transform(c, index_map=lambda a0, a1: (a0 * 4 + a1,))""", "gv")),
    ),
    "a scalar stays": (
        "relax.add", TILED_SHIFT, [TILES, None, TILES],
        (SHIFT, main(PAIR, """
            gv = R.call_tir(cls.add, (x, R.const(1.0, "float32")), out_ty=R.Tensor((16,), "float32"))""", "gv")),
        (SHIFT, TILED_SHIFT.replace("NAME", "relax_add_replacement"), main(PAIR, """
            a = R.layout_transform(x, index_map=lambda i: (i // 4, i % 4))
            c = R.call_tir(cls.relax_add_replacement, (a, R.const(1.0, "float32")), out_ty=R.Tensor((4, 4), "float32"))
            gv = R.layout_transform(c, index_map=lambda a0, a1: (a0 * 4 + a1,))""", "gv")),
    ),
    "padding is removed": (
        "relax.nn.relu", TILED_RELU, [TILES] * 2,
        (RELU, main(ONE, 'gv = R.call_tir(cls.relu, (x,), out_ty=R.Tensor((14,), "float32"))', "gv")),
        (RELU, TILED_RELU.replace("NAME", "relax_nn_relu_replacement"), REMOVE_PAD, main(ONE, """
            a = R.layout_transform(x, index_map=lambda i: (i // 4, i % 4))
            c = R.call_tir(cls.relax_nn_relu_replacement, (a,), out_ty=R.Tensor((4, 4), "float32"))
            d = R.layout_transform(c, index_map=lambda a0, a1: (a0 * 4 + a1,))
            gv = R.call_tir(cls.remove_pad, (d,), out_ty=R.Tensor((14,), "float32"))""", "gv")),
    ),
    "each of several results is transformed": (
        "relax.split", TILED_HALVES, [TILES] * 3,
        (HALVES, main('x: R.Tensor((16,), "float32")', """
            gv = R.call_tir(cls.halves, (x,), out_ty=[R.Tensor((8,), "float32"), R.Tensor((8,), "float32")])""", "gv")),
        (HALVES, TILED_HALVES.replace("NAME", "relax_split_replacement"), main('x: R.Tensor((16,), "float32")', """
            a = R.layout_transform(x, index_map=lambda i: (i // 4, i % 4))
            c = R.call_tir(cls.relax_split_replacement, (a,), out_ty=[HALF, HALF])
            d = c[0]
            e = R.layout_transform(d, index_map=lambda a0, a1: (a0 * 4 + a1,))
            f = c[1]
            g = R.layout_transform(f, index_map=lambda a0, a1: (a0 * 4 + a1,))
            gv = (e, g)""".replace("HALF", 'R.Tensor((2, 4), "float32")'), "gv")),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_a_kernel_is_replaced(name: str) -> None:
    operator, text, layouts, before, after = CASES[name]
    made = altered(module(*before), operator, text, layouts)
    assert first_difference(made, module(*after)) is None
    assert [str(item) for item in rc.check(made) if item.severity == "error"] == []


@pytest.mark.parametrize(
    "name", [name for name in CASES if name not in ("a scalar stays", "results with padding are taken first")]
)
def test_the_value_stays(name: str) -> None:
    operator, text, layouts, before, _ = CASES[name]
    same_values(module(*before), altered(module(*before), operator, text, layouts))


def test_a_kernel_of_the_module_is_named_in_the_pipeline() -> None:
    before = module(ADD, TILED_ADD.replace("NAME", "tiled"), CASES["inputs and the result are transformed"][3][1])
    layouts = [TILES] * 3
    text = f"AlterOpImpl(op_impl_map={{'relax.add': 'tiled'}}, op_buffer_transforms={{'relax.add': {layouts!r}}})"
    stage = passed(before, text)
    same_values(before, stage.after)
    assert "R.call_tir(cls.tiled," in rc.script(stage.after)
    assert "relax_add_replacement" not in stage.after


@pytest.mark.parametrize(("options", "words"), [
    ("op_impl_map={'relax.add': 'absent'}", "the kernel for relax.add is no prim func of the module"),
    ("op_impl_map={'relax.add': 'add'}, op_buffer_transforms={'relax.add': ['lambda i: i']}",
     "relax.add has 3 buffers, and 1 layouts"),
    ("op_impl_map={'relax.add': 'add'}, op_buffer_transforms={'relax.add': ['lambda i: i', None, 'lambda i: i // 2']}",
     "the layout lambda i: i // 2 of gv has no inverse"),
])  # fmt: skip
def test_what_cannot_be_replaced_is_refused(options: str, words: str) -> None:
    stage = rc.run_pipeline(module(*CASES["inputs and the result are transformed"][3]), f"AlterOpImpl({options})")[-1]
    assert [(item.code, item.message) for item in stage.diagnostics] == [("PS018", words)]


@pytest.mark.parametrize(("text", "sizes"), [
    ("lambda i, j: (j, i)", (3, 5)),
    ("lambda i: (i // 6, i // 2 % 3, i % 2)", (24,)),
    ("lambda n, c, h: (n, c // 4, h, c % 4)", (2, 8, 3)),
    ("lambda i, j: (i * 5 + j,)", (3, 5)),
    ("lambda i: (i // 4, i % 4)", (14,)),
    ("lambda i: (i % 16,)", (14,)),
])  # fmt: skip
def test_the_inverse_leads_each_element_back(text: str, sizes: tuple[int, ...]) -> None:
    found = parse_index_map(text)
    inverse = inverse_of(found, tuple(const(size) for size in sizes))
    assert inverse is not None
    places: Any = np.indices(sizes)
    back = inverse.apply_arrays(found.apply_arrays(tuple(places)))
    assert all((a == b).all() for a, b in zip(back, places, strict=True))


@pytest.mark.parametrize(
    "text", ["lambda i: (i // 2,)", "lambda i: (i % 4,)", "lambda i: (i + 1,)", "lambda i: (i * 2,)"]
)
def test_what_loses_or_moves_elements_has_no_inverse(text: str) -> None:
    assert inverse_of(parse_index_map(text), (const(8),)) is None


EXP, NEGATIVE = (
    re.sub(r"14", "16", RELU)
    .replace("relu", name)
    .replace("relax.nn.", "relax.")
    .replace("T.max(a[v], T.float32(0))", value)
    for name, value in (("exp", "T.exp(a[v])"), ("negative", "T.float32(0) - a[v]"))
)
TILED_EXP = TILED_RELU.replace("relax.nn.relu", "relax.exp").replace("T.max(a[v, w], T.float32(0))", "T.exp(a[v, w])")
WHOLE = 'x: R.Tensor((16,), "float32")'
CALL = 'R.call_tir(cls.exp, (x,), out_ty=R.Tensor((16,), "float32"))'
NEGATED = CALL.replace("cls.exp", "cls.negative")
SAME_LAYOUTS = {
    "called twice": (EXP, main(WHOLE, f"a = {CALL}\n gv = {CALL.replace('(x,)', '(a,)')}", "gv")),
    "beside another operator": (EXP, NEGATIVE, main(WHOLE, f"a = {CALL}\n gv = {NEGATED}", "gv")),
    "not called": (EXP, NEGATIVE, main(WHOLE, f"gv = {NEGATED}", "gv")),
    "the name is taken": (
        EXP, NEGATIVE.replace("def negative", "def relax_exp_replacement"),
        main(WHOLE, f"a = {CALL}\n gv = {CALL.replace('cls.exp', 'cls.relax_exp_replacement')}", "gv"),
    ),
    "outside of dataflow": (
        EXP, f"    @R.function\n    def main({WHOLE}):\n        cls = Module\n        a = {CALL}\n        return a\n"
    ),
    "in a branch": (EXP, f"""
    @R.function
    def main(c: R.Tensor((), "bool"), {WHOLE}):
        cls = Module
        if c:
            a = {CALL}
            r = a
        else:
            r = R.negative(x)
        return r
"""),
    "a public kernel": (EXP.replace("private=True, ", ""), main(WHOLE, f"gv = {CALL}", "gv")),
    "of two functions": (
        EXP, main(WHOLE, f"gv = {CALL}", "gv"), main(WHOLE, f"gv = {CALL}", "gv").replace("def main", "def second")
    ),
    "in a tuple": (EXP, main(WHOLE, f"a = {CALL}\n gv = (a, x)", "gv")),
    "two kernels of one operator": (
        EXP, EXP.replace("def exp", "def other"),
        main(WHOLE, f"a = {CALL}\n gv = {CALL.replace('cls.exp', 'cls.other')}", "gv"),
    ),
}  # fmt: skip


@pytest.mark.tvm
@pytest.mark.parametrize("name", SAME_LAYOUTS)
def test_a_kernel_in_the_same_layouts_is_replaced_as_in_tvm(name: str) -> None:
    text = "\n".join(("@I.ir_module", "class Module:", *SAME_LAYOUTS[name]))
    new = "\n".join(
        ("@I.ir_module", "class Module:", EXP.replace("def exp", "def NAME").replace("(a[v])", "(a[v] + 1.0)"))
    )
    replacing, before = from_source(new), from_source(text)
    theirs = relax.transform.AlterOpImpl({"relax.exp": replacing["NAME"]}, {"relax.exp": [None, None]})(before)
    kernel_of = rc.parse(replacing.script())["NAME"]
    assert isinstance(kernel_of, PrimFunc)
    options = AlterOpImplOptions((("relax.exp", kernel_of),), (("relax.exp", (None, None)),))
    ours = run(rc.parse(before.script()), options, PassContext())
    assert first_difference(ours, rc.parse(theirs.script())) is None


@pytest.mark.parametrize("name", SAME_LAYOUTS)
def test_a_kernel_in_tiles_keeps_the_values(name: str) -> None:
    before = module(*SAME_LAYOUTS[name])
    same_values(before, altered(before, "relax.exp", TILED_EXP, [TILES] * 2))
