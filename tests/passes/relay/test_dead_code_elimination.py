"""DeadCodeElimination: lets whose variables nothing uses go."""

import pytest

from tests.passes.relay.after import Case, check_case

P = "%x: float32, %y: float32"
ONCE = "DeadCodeElimination(inline_once=True)"
CASES = (
    Case("an unused let", f"def @main({P}) {{ let %a = exp(%x); %y }}", f"def @main({P}) {{ %y }}",
         remarks=("%a goes: nothing uses it",)),
    Case("a let that only an unused one uses", f"def @main({P}) {{ let %a = exp(%x); let %b = add(%a, %a); %y }}",
         f"def @main({P}) {{ %y }}"),
    Case("a used let", f"def @main({P}) {{ let %a = exp(%x); add(%a, %a) }}"),
    Case("a chain of names", f"def @main({P}) {{ let %a = %x; let %b = %a; %b }}", f"def @main({P}) {{ %x }}", ONCE),
    Case("an unused function that calls itself",
         f"def @main({P}) {{ let %f = fn (%n: int32) -> int32 {{ %f(add(%n, 1)) }}; %x }}", f"def @main({P}) {{ %x }}"),
    Case("a used function that calls itself",
         f"def @main({P}) {{ let %f = fn (%n: int32) -> int32 {{ %f(add(%n, 1)) }}; %f(1) }}", None, ONCE),
    Case("an unused match", "def @main(%o: Option[int32]) { let %v = match (%o) { Some(%k) => %k, None => 0, }; %o }",
         "def @main(%o: Option[int32]) { %o }"),
    Case("a reference that is written",
         "def @main(%x: int32) { let %r = ref(%x); let %_ = ref_write(%r, 1); ref_read(%r) }", None,
         remarks=("may have an effect",)),
    Case("a reference that nothing uses", "def @main(%x: int32) { let %r = ref(%x); %x }", None),
    Case("an effect that is ignored", "def @main(%x: int32) { let %r = ref(%x); let %_ = ref_write(%r, 1); %x }",
         "def @main(%x: int32) { %x }", "DeadCodeElimination(ignore_impurity=True)"),
    Case("an effect behind a call",
         "def @w(%r: ref(int32)) -> () { ref_write(%r, 1) }\n"
         "def @main(%r: ref(int32)) { let %_ = @w(%r); ref_read(%r) }"),
    Case("a call without an effect",
         "def @w(%r: int32) -> int32 { add(%r, 1) }\ndef @main(%r: int32) { let %a = @w(%r); %r }",
         "def @w(%r: int32) -> int32 { add(%r, 1) }\ndef @main(%r: int32) { %r }"),
    Case("a call of an unknown function", "def @main(%f: fn (int32) -> int32) { let %a = %f(1); 2 }"),
    Case("a call of a local function",
         "def @main(%x: int32) { let %f = fn (%y: int32) { add(%y, 1) }; let %a = %f(%x); %x }",
         "def @main(%x: int32) { %x }"),
    Case("a value that is used once", f"def @main({P}) {{ let %a = exp(%x); let %b = add(%a, %y); %b }}",
         f"def @main({P}) {{ add(exp(%x), %y) }}", ONCE, ("%a is used once",)),
    Case("a value that is used twice", f"def @main({P}) {{ let %a = exp(%x); add(%a, %a) }}", None, ONCE),
    Case("a value of a reference that is used once",
         "def @main(%r: ref(int32)) { let %a = ref_read(%r); let %_ = ref_write(%r, 1); %a }", None, ONCE),
    Case("lets in a branch", "def @main(%c: bool, %x: int32) { if (%c) { let %a = add(%x, 1); %x } else { 0 } }",
         "def @main(%c: bool, %x: int32) { if (%c) { %x } else { 0 } }"),
    Case("lets in a function", f"def @main({P}) {{ let %f = fn (%z: float32) {{ let %a = exp(%z); %z }}; %f(%x) }}",
         f"def @main({P}) {{ let %f = fn (%z: float32) {{ %z }}; %f(%x) }}"),
)  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=str)
def test_dead_code_goes(case: Case) -> None:
    check_case(case, "DeadCodeElimination")
