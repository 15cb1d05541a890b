"""RemoveUnusedFunctions: functions that no entry leads to go."""

from collections.abc import Callable

import pytest

import relax_core as rc
from relax_core.passes.relay.eliminate_common_subexpr import RelayCSEOptions as EliminateCommonSubexpr
from relax_core.passes.relay.remove_unused_functions import RemoveUnusedFunctionsOptions as RemoveUnusedFunctions
from tests.passes.relay.after import last
from tests.passes.relay.running import parsed

TEXT = (
    "def @a() { @b() }\ndef @b() { 1 }\ndef @c() -> int32 { @c() }\n"
    "def @d(%x: int32) { let %f = @b; if (less(%x, 1)) { %f() } else { 0 } }\ndef @main() { @a() }"
)


@pytest.mark.parametrize(
    ("passes", "kept"),
    [
        ("RemoveUnusedFunctions", {"main", "a", "b"}),
        ("RemoveUnusedFunctions(entry_functions=['main', 'c'])", {"main", "a", "b", "c"}),
        ("RemoveUnusedFunctions(entry_functions=['c'])", {"c"}),
        ("RemoveUnusedFunctions(entry_functions=['d'])", {"d", "b"}),
    ],
)
def test_functions_go(passes: str, kept: set[str]) -> None:
    stage = last(parsed(TEXT), passes)
    assert set(stage.after.names) == kept
    assert {remark.message.split()[0] for remark in stage.remarks} == {f"@{name}" for name in {*"abcd", "main"} - kept}


def test_an_entry_that_is_not_there_is_named() -> None:
    stage = rc.run_pipeline(parsed(TEXT), "RemoveUnusedFunctions(entry_functions=['mian'])")[-1]
    assert [(item.code, item.hint) for item in stage.diagnostics] == [("PS007", "did you mean main?")]


def test_the_prelude_goes_with_what_used_it() -> None:
    module = parsed("def @main(%x: int32) { let %a = @hd(Cons(%x, Nil)); %x }")
    assert set(last(module, "DeadCodeElimination, RemoveUnusedFunctions").after.names) == {"main"}


@pytest.mark.parametrize("one", ["'c'", "['c']", "('c',)"])
def test_one_name_is_a_list_of_it(one: str) -> None:
    stage = last(parsed(TEXT), f"RemoveUnusedFunctions(entry_functions={one})")
    assert set(stage.after.names) == {"c"}


@pytest.mark.parametrize("options", [RemoveUnusedFunctions, EliminateCommonSubexpr])
def test_names_are_given_as_a_list_to_the_options(options: Callable[[str], object]) -> None:
    with pytest.raises(ValueError, match="a list of names"):
        options("main")
