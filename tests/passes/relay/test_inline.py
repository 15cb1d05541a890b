"""Inline: calls of functions marked `Inline` become their bodies."""

import pytest

from tests.passes.relay.after import ONES, Case, check_case, last, same_value
from tests.passes.relay.running import parsed

P = "%x: float32, %y: float32"
CASES = (
    Case(
        "a leaf",
        f"def @g({P}, Inline=1) {{ add(%x, %y) }}\ndef @main({P}) {{ multiply(@g(%x, %y), @g(%y, %y)) }}",
        f"def @main({P}) {{ multiply(add(%x, %y), add(%y, %y)) }}",
        remarks=("@g is inlined",),
    ),
    Case(
        "a chain of two",
        f"def @h({P}, Inline=1) {{ add(%x, %y) }}\ndef @g({P}, Inline=1) {{ exp(@h(%y, %x)) }}\n"
        f"def @main({P}) {{ @g(%x, %y) }}",
        f"def @main({P}) {{ exp(add(%y, %x)) }}",
    ),
    Case(
        "the end of a chain",
        f"def @h({P}, Inline=1) {{ add(%x, %y) }}\ndef @g({P}) {{ exp(@h(%y, %x)) }}\ndef @main({P}) {{ @g(%x, %y) }}",
        f"def @g({P}) {{ exp(add(%y, %x)) }}\ndef @main({P}) {{ @g(%x, %y) }}",
    ),
    Case("a function without the mark", f"def @g({P}) {{ add(%x, %y) }}\ndef @main({P}) {{ @g(%x, %y) }}"),
    Case(
        "a function that calls one that stays",
        f"def @h({P}) {{ add(%x, %y) }}\ndef @g({P}, Inline=1) {{ @h(%y, %x) }}\ndef @main({P}) {{ @g(%x, %y) }}",
        remarks=("@g stays: it calls @h, which stays",),
    ),
    Case("a function with the mark off", f"def @g({P}, Inline=0) {{ add(%x, %y) }}\ndef @main({P}) {{ @g(%x, %y) }}"),
    Case(
        "a recursive function",
        "def @g(%n: int32, Inline=1) -> int32 { if (equal(%n, 0)) { 0 } else { @g(subtract(%n, 1)) } }\n"
        "def @main(%n: int32) { @g(%n) }",
        remarks=("@g stays: it is recursive",),
    ),
    Case(
        "functions that call each other",
        "def @g(%n: int32, Inline=1) -> int32 { if (equal(%n, 0)) { 0 } else { @h(subtract(%n, 1)) } }\n"
        "def @h(%n: int32, Inline=1) -> int32 { @g(%n) }\ndef @main(%n: int32) { @g(%n) }",
    ),
    Case(
        "a function of another compiler",
        f'def @g({P}, Inline=1, Compiler="a") -> float32 {{ add(%x, %y) }}\ndef @main({P}) {{ @g(%x, %y) }}',
        f'def @main({P}) {{ %0 = fn ({P}, Inline=1, Compiler="a") -> float32 {{ add(%x, %y) }}; %0(%x, %y) }}',
    ),
    Case(
        "a primitive function",
        f"def @g({P}, Inline=1, Primitive=1) {{ add(%x, %y) }}\ndef @main({P}) {{ @g(%x, %y) }}",
        f"def @main({P}) {{ %0 = fn ({P}, Inline=1, Primitive=1) {{ add(%x, %y) }}; %0(%x, %y) }}",
    ),
    Case(
        "a function that is passed on",
        "def @g(%x: float32, Inline=1) -> float32 { exp(%x) }\n"
        "def @f(%h: fn (float32) -> float32, %x: float32) -> float32 { %h(%x) }\n"
        "def @main(%x: float32) { @f(@g, %x) }",
        "def @f(%h: fn (float32) -> float32, %x: float32) -> float32 { %h(%x) }\n"
        "def @main(%x: float32) { @f(fn (%x: float32, Inline=1) -> float32 { exp(%x) }, %x) }",
    ),
    Case(
        "a function that is returned",
        "def @g(Inline=1) -> float32 { 1f }\ndef @main() { @g }",
        "def @main() { fn (Inline=1) -> float32 { 1f } }",
    ),
    Case(
        "an argument with an effect",
        "def @g(%a: int32, %b: int32, Inline=1) { (%b, %a, %a) }\ndef @main(%r: ref(int32)) { @g(ref_read(%r), 1) }",
        "def @main(%r: ref(int32)) { let %a = ref_read(%r); (1, %a, %a) }",
    ),
)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_marked_functions_are_inlined(case: Case) -> None:
    check_case(case, "Inline")


def test_a_polymorphic_function_is_copied_at_the_types_of_its_calls() -> None:
    module = parsed(
        "def @pair[A](%x: A, Inline=1) -> (A, A) { let %y: A = %x; (%y, %x) }\n"
        "def @main(%x: Tensor[(3), float32]) { (@pair(%x), @pair(True), @pair(@pair(%x))) }"
    )
    after = same_value(module, "Inline", ONES)
    assert after.names == ("main",)


def test_the_entry_stays() -> None:
    assert not last(parsed("def @main(%x: int32, Inline=1) { %x }"), "Inline").is_changed
