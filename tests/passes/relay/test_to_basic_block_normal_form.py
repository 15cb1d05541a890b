"""ToBasicBlockNormalForm: what several scopes use gets a name in the scope that holds all its uses."""

import pytest

from relax_core.ir.node import postorder
from relax_core.ir.relay import Let
from tests.passes.relay.after import ONES, Case, check_case, last, same_value
from tests.passes.relay.running import parsed

V = "Tensor[(3), float32]"
P = f"%x: {V}, %c: bool"
CASES = (
    Case("a graph in one scope", f"def @main({P}) {{ %0 = exp(%x); add(%0, %0) }}"),
    Case("lets", f"def @main({P}) {{ let %a = exp(%x); if (%c) {{ %a }} else {{ add(%a, %a) }} }}"),
    Case(
        "a value of both branches",
        f"def @main({P}) {{ %0 = exp(%x); if (%c) {{ %0 }} else {{ add(%0, %0) }} }}",
        f"def @main({P}) {{ let %a = exp(%x); if (%c) {{ %a }} else {{ add(%a, %a) }} }}",
        remarks=("used in other scopes",),
    ),
    Case("a value of one branch", f"def @main({P}) {{ %0 = exp(%x); if (%c) {{ add(%0, %0) }} else {{ %x }} }}"),
    Case(
        "a value of nested branches",
        f"def @main({P}) {{ %0 = exp(%x); if (%c) {{ if (%c) {{ %0 }} else {{ negative(%0) }} }} else {{ %x }} }}",
        f"def @main({P}) {{ if (%c) {{ let %a = exp(%x); if (%c) {{ %a }} else {{ negative(%a) }} }} else {{ %x }} }}",
    ),
    Case(
        "a condition that a branch uses",
        f"def @main(%x: {V}) {{ %0 = less(sum(%x), 1f); if (%0) {{ (%0, 1) }} else {{ (False, 2) }} }}",
        f"def @main(%x: {V}) {{ let %a = less(sum(%x), 1f); if (%a) {{ (%a, 1) }} else {{ (False, 2) }} }}",
    ),
    Case(
        "a value that a function uses as well",
        f"def @main({P}) {{ %0 = exp(%x); let %f = fn (%y: {V}) {{ add(%y, %0) }}; %f(%0) }}",
        f"def @main({P}) {{ let %a = exp(%x); let %f = fn (%y: {V}) {{ add(%y, %a) }}; %f(%a) }}",
    ),
    Case(
        "a value that clauses use",
        f"def @main(%o: Option[{V}], %x: {V}) {{ %0 = exp(%x); "
        "match (%o) { Some(%v) => add(%v, %0), None => %0, } }",
        f"def @main(%o: Option[{V}], %x: {V}) {{ let %a = exp(%x); "
        "match (%o) { Some(%v) => add(%v, %a), None => %a, } }",
    ),
    Case(
        "a let among operands",
        f"def @main({P}) {{ add(let %l = exp(%x); %l, if (%c) {{ %0 = negative(%x); if (%c) {{ %0 }} "
        "else { exp(%0) } } else { %x }) }",
        f"def @main({P}) {{ let %l = exp(%x); add(%l, if (%c) {{ let %a = negative(%x); if (%c) {{ %a }} "
        "else { exp(%a) } } else { %x }) }",
    ),
    Case("a primitive function", f"def @main(%x: {V}) {{ %0 = fn (%y: {V}, Primitive=1) {{ exp(%y) }}; %0(%x) }}"),
)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_values_across_scopes_get_names(case: Case) -> None:
    check_case(case, "ToBasicBlockNormalForm")


def test_an_effect_keeps_its_place() -> None:
    module = parsed(
        f"def @main(%x: {V}) {{ let %r = ref(%x); %0 = negative(%x); "
        "%1 = add(ref_read(%r), { let %_ = ref_write(%r, %0); %0 }); "
        "if (less(sum(%0), 0f)) { add(%1, %0) } else { subtract(%1, %0) } }"
    )
    after = same_value(module, "ToBasicBlockNormalForm", ONES)
    same_value(module, "ToBasicBlockNormalForm", -ONES)
    assert any(remark.kind == "note" for remark in last(module, "ToBasicBlockNormalForm").remarks)
    assert sum(isinstance(node, Let) for node in postorder(after["main"])) > 4
