"""Every construct of TIR is read, and printed so that it reads back equal."""

import ast
from textwrap import indent

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relax_core.frontend.parse import parse_text
from relax_core.ir.equality import first_difference
from relax_core.ir.module import IRModule
from relax_core.printer.ast import print_ast
from relax_core.printer.tvmscript import Spelling, print_module
from tests.frontend.tir_programs import HEAD, STATEMENTS, program

SPELLINGS: tuple[Spelling, ...] = ("2022", "2023", "2026")
# Each list of statements has a scope of its own, as a name is defined once in one.
EVERYTHING = program(
    "\n".join("if n > 0:\n" + indent(item, "    ") for item in STATEMENTS.values() if "return" not in item)
)


def read(text: str) -> IRModule:
    parsed = parse_text(text, "tir.py")
    assert [item.render() for item in parsed.diagnostics if item.severity == "error"] == []
    return parsed.modules[0]


@pytest.mark.parametrize("spelling", SPELLINGS)
@pytest.mark.parametrize("name", STATEMENTS)
def test_it_reads_back_equal(name: str, spelling: Spelling) -> None:
    module = read(program(STATEMENTS[name]))
    printed = print_module(module, spelling=spelling)
    assert first_difference(module, read(printed.text), strict=True) is None, printed.text
    assert all(0 <= item.start <= item.end <= len(printed.text) for item in printed.ranges)


@pytest.mark.parametrize("name", STATEMENTS)
def test_printing_twice_gives_the_same_text(name: str) -> None:
    text = print_module(read(program(STATEMENTS[name]))).text
    assert print_module(read(text)).text == text


def test_the_syntax_tree_prints() -> None:
    assert print_ast(read(EVERYTHING)).text.startswith("IRModule Module(")


def test_buffers_are_in_the_order_of_the_parameters() -> None:
    function = read(program("pass")).prim_funcs[0][1]
    assert [item.handle.name for item in function.buffers] == ["a", "B", "c"]


def test_an_old_function_is_read_in_its_own_words() -> None:
    text = HEAD.replace("s_tir=True", "") + (
        "    x: T.int32 = n\n    x = x + 1\n    D = T.alloc_buffer((4,), 'float32')\n"
        "    with T.block('b'):\n        T.block_attr({'k': 1})\n        D[x] = 1.0\n"
    )
    module = read(text)
    tree = print_ast(module).text
    assert "LetStmt(" in tree
    assert "DeclBuffer(" not in tree
    for spelling in SPELLINGS:
        assert first_difference(module, read(print_module(module, spelling=spelling).text)) is None


@pytest.mark.parametrize("count", range(0, EVERYTHING.count("\n"), 2))
def test_a_text_that_ends_early_is_diagnosed(count: int) -> None:
    lines = EVERYTHING.split("\n")
    for kept in (lines[:count], lines[:5] + lines[5 + count :]):
        found = parse_text("\n".join(kept), "cut.py")
        assert found.modules or any(item.severity == "error" for item in found.diagnostics)
        assert all(item.span is not None for item in found.diagnostics)


WORDS = sorted(
    {item for line in EVERYTHING.split("\n") for item in line.split()} | {"", "(", ")", "]", "0", "x[", "**", "*n"}
)


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_a_mutated_text_is_diagnosed_or_reads_back_equal(data: st.DataObject) -> None:
    words = program(STATEMENTS[data.draw(st.sampled_from(sorted(STATEMENTS)))]).split(" ")
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, len(words) - 1))
        words[place] = data.draw(st.sampled_from(WORDS))
    parsed = parse_text(" ".join(words), "mutated.py")
    if any(item.severity == "error" for item in parsed.diagnostics):
        return
    for module in parsed.modules:
        text = print_module(module).text
        again = parse_text(text, "again.py")
        assert [item.render() for item in again.diagnostics if item.severity == "error"] == [], text
        assert first_difference(module, again.modules[0]) is None, text


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_a_moved_expression_is_diagnosed(data: st.DataObject) -> None:
    """Swap two expressions of a program that still is Python."""
    tree = ast.parse(program(STATEMENTS[data.draw(st.sampled_from(sorted(STATEMENTS)))]))
    holders = [item for item in ast.walk(tree) if isinstance(item, ast.Call) and item.args]
    first, second = data.draw(st.sampled_from(holders)), data.draw(st.sampled_from(holders))
    moved = first.args[data.draw(st.integers(0, len(first.args) - 1))]
    if not any(item is second for item in ast.walk(moved)):
        second.args[data.draw(st.integers(0, len(second.args) - 1))] = moved
    parse_text(ast.unparse(tree), "moved.py")


def test_many_statements_take_no_stack() -> None:
    lines = "\n".join(f"x{i}: T.let[T.int32] = n + {i}\nB[{i % 100}] = T.exp(B[x{i}])" for i in range(3000))
    module = read(program(lines))
    assert first_difference(module, read(print_module(module).text)) is None


def test_what_tvm_prints_for_buffers_of_one_element_is_read() -> None:
    """TVM 0.27 does not read it itself, and loses the scope of `x`."""
    text = """# from tvm.script import tirx as T
@I.ir_module
class Module:
    @T.prim_func
    def main(A: T.Buffer((1,), "int32"), p: T.handle("float32", "global")):
        x: T.int32
        z = T.decl_scalar(T.float32, data=p, elem_offset=0, scope="global")
        w = T.decl_scalar(T.int32, data=x.source.data, elem_offset=0, scope="local")
        x = A + 1
        A = x
        z = z + T.Cast("float32", w)
        T.call_extern("int32", "f", A.source.data, x.source.data, T.address_of(x))
        for i in range(1):
            A = 2
"""
    plain = """# from tvm.script import tirx as T
@I.ir_module
class Module:
    @T.prim_func
    def main(A: T.Buffer((1,), "int32"), p: T.handle("float32", "global")):
        x: T.int32
        z = T.decl_buffer((1,), "float32", data=p, elem_offset=0)
        w = T.decl_buffer((1,), "int32", data=x.data, elem_offset=0, scope="local")
        x = A[0] + 1
        A[0] = x
        z[0] = z[0] + T.Cast("float32", w[0])
        T.call_extern("int32", "f", A.data, x.data, T.address_of(x))
        for i in range(1):
            A[0] = 2
"""
    module = read(text)
    assert first_difference(module, read(plain)) is None
    assert first_difference(module, read(print_module(module).text)) is None


@pytest.mark.tvm
def test_tvm_prints_buffers_of_one_element_so() -> None:
    from tests.apache_tvm import from_source

    text = """@I.ir_module
class Module:
    @T.prim_func
    def main(A: T.Buffer((1,), "int32"), p: T.handle("float32", "global")):
        z = T.decl_buffer((1,), "float32", data=p)
        z[0] = T.Cast("float32", A[0])
        T.evaluate(T.call_extern("int32", "f", A.data))
"""
    theirs = from_source(text, check_well_formed=False).script()
    assert "z = T.decl_scalar(" in theirs
    assert "A.source.data" in theirs
    assert first_difference(read(theirs), read("# from tvm.script import tirx as T\n" + text)) is None
