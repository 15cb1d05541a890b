"""apache-tvm and RelaxScope agree on which prim funcs are read, and on what they mean."""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

import pytest

from relax_core.check.check import check
from relax_core.frontend.parse import parse_text
from relax_core.ir.equality import first_difference
from relax_core.ir.module import IRModule
from relax_core.printer.spelling import Spelling
from relax_core.printer.tvmscript import print_module

HEAD = "from tvm.script import ir as I, tirx as T\n"
SPELLINGS: tuple[Spelling, ...] = ("2022", "2023", "2025", "2026")


def programs(name: str) -> Mapping[str, str]:
    return MappingProxyType(tomllib.loads(Path(__file__).with_name(f"{name}.toml").read_text(encoding="utf-8")))


WELL_FORMED, ILL_FORMED, OF_OTHER_YEARS = map(programs, ("tir_well_formed", "tir_ill_formed", "tir_of_other_years"))


def errors(text: str) -> list[str]:
    parsed = parse_text(text, "program.py")
    found = [item.render() for item in parsed.diagnostics if item.severity == "error"]
    return found or [item.render() for module in parsed.modules for item in check(module) if item.severity == "error"]


def module_of(text: str) -> IRModule:
    (module,) = parse_text(text, "program.py").modules
    return module


def assert_round_trips(text: str) -> None:
    module = module_of(text)
    for spelling in SPELLINGS:
        printed = print_module(module, spelling=spelling).text
        again = parse_text(printed, "printed.py")
        assert [item.render() for item in again.diagnostics if item.severity == "error"] == []
        difference = first_difference(module, again.modules[0], strict=True)
        assert difference is None, f"{spelling}: {difference}\n{printed}"


@pytest.mark.parametrize("name", WELL_FORMED)
def test_a_well_formed_prim_func_has_no_errors(name: str) -> None:
    assert errors(HEAD + WELL_FORMED[name]) == []
    assert_round_trips(HEAD + WELL_FORMED[name])


@pytest.mark.tvm
@pytest.mark.parametrize("name", WELL_FORMED)
def test_tvm_reads_what_is_printed_as_the_same_function(name: str) -> None:
    from tests.apache_tvm import from_source, tvm

    original = from_source(WELL_FORMED[name])
    printed = from_source(print_module(module_of(HEAD + WELL_FORMED[name])).text, check_well_formed=False)
    original = original if isinstance(original, tvm.IRModule) else tvm.IRModule.from_expr(original)
    tvm.ir.assert_structural_equal(printed, original, map_free_vars=True)


@pytest.mark.parametrize("name", ILL_FORMED)
def test_an_ill_formed_prim_func_is_refused(name: str) -> None:
    assert errors(HEAD + ILL_FORMED[name]) != []


@pytest.mark.tvm
@pytest.mark.parametrize("name", ILL_FORMED)
def test_tvm_refuses_it_too(name: str) -> None:
    from tests.apache_tvm import from_source

    # TVM's parser raises exceptions of several kinds, which share no class below this one.
    with pytest.raises(BaseException, match=r"."):
        from_source(ILL_FORMED[name])


@pytest.mark.parametrize("name", OF_OTHER_YEARS)
def test_a_prim_func_of_another_year_opens(name: str) -> None:
    assert errors(OF_OTHER_YEARS[name]) == []
    assert_round_trips(OF_OTHER_YEARS[name])
