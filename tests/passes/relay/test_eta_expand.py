"""EtaExpand: constructors and global functions that are values become functions."""

import pytest

from tests.passes.relay.after import Case, check_case, last, same_value
from tests.passes.relay.running import listed, parsed

GLOBALS = "EtaExpand(expand_global_var=True)"
DATA = "EtaExpand(expand_constructor=True)"
ID = "def @id2[A](%x: A) -> A { %x }\n"
BOX = "type Box[A] { Box(A), Empty }\n"
APPLY = "def @apply[A, B](%f: fn (A) -> B, %x: A) -> B { %f(%x) }\n"
CASES = (
    Case(
        "a global function",
        "def @aux(%x: int32) -> int32 { %x }\ndef @main() -> fn (int32) -> int32 { @aux }",
        "def @aux(%x: int32) -> int32 { %x }\n"
        "def @main() -> fn (int32) -> int32 { fn (%x: int32) -> int32 { @aux(%x) } }",
        GLOBALS,
        ("aux is used as a value",),
    ),
    Case(
        "a polymorphic function",
        ID + "def @main() { @id2 }",
        ID + "def @main() { fn [A](%x: A) -> A { @id2(%x) } }",
        GLOBALS,
    ),
    Case(
        "a constructor",
        BOX + APPLY + "def @main() { @apply(Box, 1) }",
        BOX + APPLY + "def @main() { @apply(fn [A](%x: A) -> Box[A] { Box(%x) }, 1) }",
        DATA,
    ),
    Case(
        "a constructor in a let",
        BOX + "def @main() { let %f = Box; %f(1) }",
        BOX + "def @main() { let %f = fn [A](%x: A) -> Box[A] { Box(%x) }; %f(1) }",
        DATA,
    ),
    Case("a constructor without fields", BOX + "def @main() -> Box[int32] { Empty }", None, DATA),
    Case("a constructor that is called", BOX + "def @main() { Box(1) }", None, DATA),
    Case(
        "a constructor of a pattern", BOX + "def @main() { match (Box(1)) { Box(%x) => %x, Empty => 0, } }", None, DATA
    ),
    Case("a function that is called", ID + "def @main() { @id2(1) }", None, GLOBALS),
    Case("what is not asked for", ID + BOX + APPLY + "def @main() { (@apply(Box, 1), @id2) }", None, "EtaExpand"),
    Case(
        "an operator",
        "def @apply2(%f: fn (int32) -> int32) -> int32 { %f(1) }\ndef @main() { @apply2(negative) }",
        None,
        "EtaExpand(expand_constructor=True, expand_global_var=True)",
    ),
)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_values_become_functions(case: Case) -> None:
    check_case(case, "EtaExpand")


def test_an_expanded_constructor_still_folds_a_list() -> None:
    module = parsed("def @main(%xs: List[int32]) { @foldr(Cons, Nil, @map(S, @map(fn (%x: int32) { Z }, %xs))) }")
    same_value(module, "EtaExpand(expand_constructor=True, expand_global_var=True)", listed([1, 2]))


def test_a_second_run_finds_nothing() -> None:
    module = parsed(ID + "def @main() { @id2 }")
    after = last(module, GLOBALS).after
    assert not last(after, GLOBALS).is_changed
