"""apache-tvm and RelaxScope agree on which Relax programs are well-formed, and on what they mean."""

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


def programs(name: str) -> Mapping[str, str]:
    return MappingProxyType(tomllib.loads(Path(__file__).with_name(f"{name}.toml").read_text(encoding="utf-8")))


BORDERLINE = programs("relax_ill_formed")
WELL_FORMED = programs("relax_well_formed")
OF_2022 = programs("relax_2022")
ACCEPTED_HERE = (
    # 2022 passes any object where a tensor is declared, which the run time checks.
    "arg type object passed",
    # A function that declares to return nothing needs no `return`, as in the seeds.
    "no return declared None",
    # Nothing in the text tells that it is not of 2022, where parameters may lack a type.
    "unannotated param",
)
REJECTED_HERE: tuple[str, ...] = ("astype unknown dtype",)


def errors(text: str) -> list[str]:
    parsed = parse_text(text, "program.py")
    found = [item.render() for item in parsed.diagnostics if item.severity == "error"]
    return found or [item.render() for module in parsed.modules for item in check(module) if item.severity == "error"]


def is_read_by_tvm(text: str) -> bool:
    """TVM's parser raises exceptions of several kinds, some below no common class."""
    from tests.apache_tvm import from_source

    try:
        from_source(text)
    except KeyboardInterrupt:
        raise
    except BaseException:
        return False
    return True


def module_of(text: str) -> IRModule:
    (module,) = parse_text(text, "program.py").modules
    return module


def assert_round_trip(text: str, spelling: Spelling) -> None:
    module = module_of(text)
    printed = print_module(module, spelling=spelling).text
    again = parse_text(printed, "printed.py")
    assert [item.render() for item in again.diagnostics if item.severity == "error"] == []
    difference = first_difference(module, again.modules[0], strict=True)
    assert difference is None, f"{difference}\n{printed}"


@pytest.mark.tvm
@pytest.mark.parametrize("name", BORDERLINE)
def test_what_tvm_rejects_is_rejected(name: str) -> None:
    is_accepted = is_read_by_tvm(BORDERLINE[name])
    exceptions = REJECTED_HERE if is_accepted else ACCEPTED_HERE
    assert (not errors(BORDERLINE[name])) == is_accepted or name in exceptions


@pytest.mark.tvm
@pytest.mark.parametrize("name", WELL_FORMED)
def test_tvm_reads_what_is_printed_as_the_same_module(name: str) -> None:
    from tests.apache_tvm import from_source, tvm

    original = from_source(WELL_FORMED[name])
    printed = from_source(print_module(module_of(WELL_FORMED[name])).text, check_well_formed=False)
    original = original if isinstance(original, tvm.IRModule) else tvm.IRModule.from_expr(original)
    tvm.ir.assert_structural_equal(printed, original, map_free_vars=True)


@pytest.mark.parametrize("name", WELL_FORMED)
def test_a_well_formed_program_has_no_errors(name: str) -> None:
    assert errors(WELL_FORMED[name]) == []
    assert_round_trip(WELL_FORMED[name], "2023")


@pytest.mark.parametrize("name", OF_2022)
def test_a_program_of_2022_opens_and_prints_in_every_spelling(name: str) -> None:
    assert errors(OF_2022[name]) == []
    for spelling in ("2022", "2023", "2025", "2026"):
        assert_round_trip(OF_2022[name], spelling)


LATER_OPERATORS = {
    "a python function": """
@I.ir_module
class Module(relax.BasePyModule):
    @I.pyfunc
    def double(self, x):
        return x + x
    @R.function
    def main(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        return R.call_py_func("double", (x,), out_sinfo=R.Tensor((4,), "float32"))
""",
    "a sharded result": """
@I.ir_module
class Module:
    @R.function
    def main(x: R.DTensor((4,), "float32", "mesh[0]", "S[0]")):
        return R.call_dps_packed("f", (x,), out_sinfo=R.DTensor((4,), "float32", "mesh[0]", "S[0]"))
""",
}


@pytest.mark.parametrize("name", LATER_OPERATORS)
def test_what_2022_had_not_is_printed_in_its_spelling_without_loss(name: str) -> None:
    said = parse_text(LATER_OPERATORS[name], "program.py").diagnostics
    assert [item.code for item in said if item.severity != "note"] == []
    for spelling in ("2022", "2023", "2025", "2026"):
        assert_round_trip(LATER_OPERATORS[name], spelling)


def test_purity_of_2022_is_read_off() -> None:
    text = """
@tvm.script.ir_module
class Module:
    @R.function
    def outer(x: Tensor((n,), "float32")):
        @R.function
        def shown(y: Tensor((n,), "float32")):
            return relax.print(y, format="{}")
        return shown(x)
    @R.function
    def caller(x: Tensor((n,), "float32")):
        return outer(x)
    @R.function
    def quiet(x: Tensor((n,), "float32")):
        return x
"""
    module = module_of(text)
    assert {var.name: function.is_pure for var, function in module.relax_functions} == {
        "outer": False,
        "caller": False,
        "quiet": True,
    }
    assert print_module(module).text.count("@R.function(pure=False)") == 3
    assert check(module) == ()


def test_the_errors_of_a_module_that_asks_for_no_check_are_warnings() -> None:
    text = """
@I.ir_module(check_well_formed=False)
class Module:
    @R.function
    def main(x: R.Tensor((4,), "float32")):
        y: R.Tensor((5,), "float32") = R.exp(x)
        R.print(x, format="{}")
        return y
"""
    module = module_of(text)
    assert [(item.code, item.severity) for item in check(module)] == [("TY020", "warning"), ("WF005", "warning")]
    assert "@I.ir_module(check_well_formed=False)" in print_module(module).text
    checked = module_of(text.replace("(check_well_formed=False)", ""))
    assert {item.severity for item in check(checked)} == {"error"}
    assert first_difference(module, checked, strict=True) is None


def test_a_local_function_has_dimensions_of_its_own() -> None:
    printed = """
n = TypeVar("n")
@R.function
def main(x: R.Tensor((n,), dtype="float32")):
    n_1 = TypeVar("n_1")
    @R.function
    def f(y: R.Tensor((n_1,), dtype="float32")) -> R.Tensor((n_1,), dtype="float32"):
        return R.exp(y)
    return f(x)
"""
    written = printed.replace('    n_1 = TypeVar("n_1")\n', "").replace("(n_1,)", '("n",)')
    assert first_difference(module_of(printed), module_of(written), strict=True) is None
    assert errors(printed) == []
