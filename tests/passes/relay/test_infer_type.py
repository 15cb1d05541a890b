"""InferType: what inference finds is declared."""

import pytest

import relax_core as rc
from relax_core.ir.expr import Var
from relax_core.ir.node import postorder
from tests.passes.relay.after import Case, check_case
from tests.passes.relay.running import HEADER

T = "Tensor[(2, 3), float32]"
CASES = (
    Case(
        "the result of a function",
        f"def @main(%x: {T}) {{ exp(%x) }}",
        f"def @main(%x: {T}) -> {T} {{ exp(%x) }}",
    ),
    Case(
        "a let",
        f"def @main(%x: {T}) -> {T} {{ let %y = exp(%x); %y }}",
        f"def @main(%x: {T}) -> {T} {{ let %y: {T} = exp(%x); %y }}",
    ),
    Case(
        "a parameter that only its use determines",
        f"def @main(%x: {T}) -> {T} {{ let %f = fn (%y) {{ exp(%y) }}; %f(%x) }}",
        f"def @main(%x: {T}) -> {T} {{ let %f: fn ({T}) -> {T} = fn (%y: {T}) -> {T} {{ exp(%y) }}; %f(%x) }}",
    ),
    Case(
        "a type with a part left open",
        f"def @main(%x: {T}) -> ({T}, _) {{ (%x, 1) }}",
        f"def @main(%x: {T}) -> ({T}, int32) {{ (%x, 1) }}",
    ),
    Case(
        "variables of a pattern",
        "def @main(%o: Option[int32]) -> int32 { match (%o) { Some(%v) => %v, None => 0, } }",
        "def @main(%o: Option[int32]) -> int32 { match (%o) { Some(%v: int32) => %v, None => 0, } }",
    ),
    Case(
        "inside of a primitive function",
        f"def @main(%x: {T}) -> {T} {{ %0 = fn (%p, Primitive=1) {{ exp(%p) }}; %0(%x) }}",
        f"def @main(%x: {T}) -> {T} {{ %0 = fn (%p: {T}, Primitive=1) -> {T} {{ exp(%p) }}; %0(%x) }}",
    ),
    Case(
        "functions that call each other",
        "def @even(%n: int32) -> bool { if (equal(%n, 0)) { True } else { @odd(subtract(%n, 1)) } }\n"
        "def @odd(%n: int32) { if (equal(%n, 0)) { False } else { @even(subtract(%n, 1)) } }",
        "def @even(%n: int32) -> bool { if (equal(%n, 0)) { True } else { @odd(subtract(%n, 1)) } }\n"
        "def @odd(%n: int32) -> bool { if (equal(%n, 0)) { False } else { @even(subtract(%n, 1)) } }",
    ),
    Case(
        "a reference",
        "def @main(%x: int32) -> int32 { let %r = ref(%x); ref_read(%r) }",
        "def @main(%x: int32) -> int32 { let %r: ref(int32) = ref(%x); ref_read(%r) }",
    ),
    Case(
        "type variables",
        "def @main[A](%x: A) -> (A, A) { let %y = %x; (%y, %x) }",
        "def @main[A](%x: A) -> (A, A) { let %y: A = %x; (%y, %x) }",
    ),
    Case("a function that declares all", f"def @main(%x: {T}) -> {T} {{ exp(%x) }}"),
)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_types_are_declared(case: Case) -> None:
    check_case(case, "InferType")


def test_all_occurrences_of_a_variable_are_one() -> None:
    module = rc.parse(HEADER + "def @main(%x: int32) { let %y = add(%x, 1); (%y, %y) }", "m.relay")
    after = rc.run_pipeline(module, "InferType")[-1].after
    assert len({node for node in postorder(after["main"]) if isinstance(node, Var)}) == 2
