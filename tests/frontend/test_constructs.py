"""Many constructs in mixed dialects are read, and print and read back equal in every spelling."""

import pytest

from relax_core.frontend.parse import parse_text
from relax_core.ir.equality import first_difference
from relax_core.printer.ast import print_ast
from relax_core.printer.tvmscript import Spelling, print_module
from tests.frontend.constructs import RELAX, TIR


@pytest.mark.parametrize("spelling", ["2022", "2023", "2026"])
@pytest.mark.parametrize("text", [RELAX, TIR], ids=["relax", "tir"])
def test_constructs_read_and_print(text: str, spelling: Spelling) -> None:
    parsed = parse_text(text, "constructs.py")
    assert [item.render() for item in parsed.diagnostics if item.severity != "note"] == []
    printed = print_module(parsed.modules[0], spelling=spelling)
    again = parse_text(printed.text, "printed.py")
    assert [item.render() for item in again.diagnostics] == []
    assert first_difference(parsed.modules[0], again.modules[0], strict=True) is None


@pytest.mark.parametrize("text", [RELAX, TIR], ids=["relax", "tir"])
def test_the_syntax_tree_of_constructs_prints(text: str) -> None:
    assert print_ast(parse_text(text, "constructs.py").modules[0]).text.startswith("IRModule Module(")
