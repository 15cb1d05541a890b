"""Printed modules: the texts themselves, reading them back, and the ranges of their nodes."""

from pathlib import Path

import numpy as np
import pytest

import relax_core as rc
from relax_core.diagnostics import has_errors
from relax_core.frontend.parse import parse_text
from relax_core.ir.equality import first_difference
from relax_core.ir.expr import (
    BindingBlock,
    Call,
    Constant,
    Function,
    GlobalVar,
    Op,
    SeqExpr,
    TensorType,
    Tuple,
    Var,
    VarBinding,
    constant,
)
from relax_core.ir.module import Definition, IRModule
from relax_core.ir.node import postorder
from relax_core.printer.ast import print_ast
from relax_core.printer.tvmscript import Spelling, print_module
from tests.frontend.seeds import PROGRAMS, SEEDS
from tests.golden_text import Golden

SPELLINGS: tuple[Spelling, ...] = ("2022", "2023", "2026")


def read(text: str) -> IRModule:
    parsed = parse_text(text, "printed.py")
    assert not has_errors(parsed.diagnostics), [item.render() for item in parsed.diagnostics]
    return parsed.modules[0]


def read_file(path: Path) -> IRModule:
    return read(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("spelling", SPELLINGS)
@pytest.mark.parametrize("path", [path for path in SEEDS if "_20" not in path.stem], ids=lambda path: path.stem)
def test_a_seed_prints_as_expected(path: Path, spelling: Spelling, golden: Golden) -> None:
    printed = print_module(read_file(path), spelling=spelling)
    golden.check(f"printer/{path.stem}_{spelling}.txt", printed.text)


@pytest.mark.parametrize("path", [path for path in SEEDS if "_20" not in path.stem], ids=lambda path: path.stem)
def test_the_syntax_tree_of_a_seed_prints_as_expected(path: Path, golden: Golden) -> None:
    golden.check(f"printer/{path.stem}_ast.txt", print_ast(read_file(path)).text)


@pytest.mark.parametrize("spelling", SPELLINGS)
@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_a_printed_sample_reads_back_equal(path: Path, spelling: Spelling) -> None:
    module = read_file(path)
    again = read(print_module(module, spelling=spelling).text)
    assert first_difference(module, again, strict=True) is None


@pytest.mark.parametrize("spelling", SPELLINGS)
@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_printing_what_was_printed_changes_nothing(path: Path, spelling: Spelling) -> None:
    text = print_module(read_file(path), spelling=spelling).text
    assert print_module(read(text), spelling=spelling).text == text


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_ranges_lie_in_each_other_and_show_their_nodes(path: Path) -> None:
    module = read_file(path)
    for printed in (print_module(module), print_ast(module)):
        starts = [item.start for item in printed.ranges]
        assert starts == sorted(starts)
        assert all(0 <= item.start <= item.end <= len(printed.text) for item in printed.ranges)
        shown = {item.node for item in printed.ranges}
        assert all(node in shown for node in postorder(module) if isinstance(node, VarBinding | Function | Call))


def test_the_range_of_a_call_is_its_text() -> None:
    module = read('@R.function\ndef main(x: R.Tensor((2,), "float32")):\n    y = R.exp(x)\n    return R.add(y, y)\n')
    printed = print_module(module)
    calls = [item for item in printed.ranges if isinstance(item.node, Call)]
    assert [printed.text[item.start : item.end] for item in calls] == ["R.exp(x)", "R.add(y, y)"]


@pytest.mark.parametrize(
    "data",
    [
        np.float32(0.1),
        np.array([np.nan, np.inf, -np.inf, -0.0, 1e-45], "float32"),
        np.array([[1, 2], [3, 1 << 62]], "int64"),
        np.array([True, False]),
        np.array([0.1, 65504], "float16"),
        np.array(np.nan, "float64"),
        np.zeros((0, 3), "float32"),
        np.array(255, "uint8"),
    ],
    ids=lambda data: f"{data.dtype}{data.shape}",
)
def test_constants_are_exact(data: np.ndarray) -> None:
    module = one_function(constant(data, str(data.dtype)))
    (found,) = (node for node in postorder(read(print_module(module).text)) if isinstance(node, Constant))
    assert (found.data.dtype, found.data.shape) == (data.dtype, data.shape)
    assert found.data.tobytes() == data.tobytes()


@pytest.mark.parametrize(
    "name", ["R", "class", "x y", "1st", "größe", "fi", "__import__", "", "cls", "None", "_", "a.b"]
)
def test_hostile_names_are_made_legal(name: str) -> None:
    x, y = Var(name, TensorType(None, "float32")), Var(name)
    body = SeqExpr((BindingBlock((VarBinding(y, Call(Op("relax.exp"), (x,))),)),), Tuple((x, y)))
    module = IRModule((Definition(GlobalVar("main"), Function((x,), body)),))
    for spelling in SPELLINGS:
        again = read(print_module(module, spelling=spelling).text)
        assert first_difference(module, again, strict=True) is None


def test_a_long_chain_prints_and_reads_back() -> None:
    var = x = Var("x", TensorType(None, "float32"))
    made: list[VarBinding] = []
    for _ in range(5000):
        made.append(VarBinding(Var("lv"), Call(Op("relax.exp"), (var,))))
        var = made[-1].var
    function = Function((x,), SeqExpr((BindingBlock(tuple(made)),), var))
    module = IRModule((Definition(GlobalVar("main"), function),))
    assert first_difference(module, read(print_module(module).text), strict=True) is None


def test_deep_nesting_prints() -> None:
    value = Var("x", TensorType(None, "float32"))
    nested = value
    for _ in range(5000):
        nested = Call(Op("relax.exp"), (nested,))
    module = IRModule((Definition(GlobalVar("main"), Function((value,), SeqExpr((), nested))),))
    assert print_module(module).text.count("R.exp(") == 5000


def test_inferred_types_are_shown_where_none_is_declared() -> None:
    module = read('@R.function\ndef main(x: R.Tensor((2,), "float32")):\n    y = R.exp(x)\n    return y\n')
    (y,) = (node.var for node in postorder(module) if isinstance(node, VarBinding))
    text = print_module(module, types={y: TensorType(None, "float32", 1)}).text
    assert 'y: R.Tensor(dtype="float32", ndim=1) = R.exp(x)' in text


def one_function(body: Constant) -> IRModule:
    return IRModule((Definition(GlobalVar("main"), Function((), SeqExpr((), body))),))


def test_a_variable_is_named_as_a_function_but_where_functions_are_named_bare() -> None:
    text = """
@I.ir_module
class M:
    @R.function
    def split(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        return x

    @R.function
    def main(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        cls = M
        split = cls.split(x)
        return split
"""
    module = rc.parse(text)
    assert "split = cls.split(x)" in rc.script(module)
    old = rc.script(module, spelling="2022")
    assert "split_1 = split(x)" in old
    assert rc.structural_equal(rc.parse(old), module)


ANNOTATED = """# from tvm.script import tirx as T

@T.prim_func(s_tir=True)
def main(A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32")):
    for i in range(4):
        with T.sblock("first"):
            vi = T.axis.spatial(4, i)
            C = T.Buffer((4,), "float32")
            T.sblock_attr({"layout_free_placeholders": [C]})
            B[vi] = A[vi]
    for i in range(4):
        with T.sblock("second"):
            vi = T.axis.spatial(4, i)
            C = T.Buffer((4,), "float32")
            T.sblock_attr({"layout_free_placeholders": [C]})
            B[vi] = B[vi] + A[vi]
"""


@pytest.mark.parametrize("spelling", ["2026", "2025", "2023", "2022"])
def test_a_buffer_stands_before_the_annotation_that_names_it(spelling: Spelling) -> None:
    text = print_module(parse_text(ANNOTATED, "annotated.py").modules[0], spelling=spelling).text
    lines = [line.strip() for line in text.splitlines()]
    declared = [at for at, line in enumerate(lines) if line.startswith("C") and "T.Buffer(" in line]
    assert len(declared) == 2
    for at in declared:
        assert f"[{lines[at].split(' =')[0]}]" in lines[at + 1]
    assert parse_text(text, "again.py").diagnostics == ()
