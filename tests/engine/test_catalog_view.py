"""Sheets of the Operators page, and runs of their examples."""

import pytest

from relax_core.engine.protocol import Failure, Operators, Program, SheetOf, Try
from relax_core.engine.session import Session
from relax_core.ops import OPS
from relax_core.present.catalog_of.catalog_models import Catalog, Sheet, Tried


def sheet_of(session: Session, name: str) -> Sheet:
    found = session.request(SheetOf(name))
    assert isinstance(found, Sheet)
    return found


def run(session: Session, sheet: Sheet) -> Tried:
    assert sheet.example is not None
    tried = session.request(Try(Program(sheet.example.text)))
    assert isinstance(tried, Tried)
    return tried


def test_the_list_has_every_operator_once_with_a_sheet_of_its_own(session: Session) -> None:
    catalog = session.request(Operators())
    assert isinstance(catalog, Catalog)
    names = [entry.id for family in catalog.operators for entry in family.entries]
    assert sorted(names) == sorted(spec.short_name for spec in OPS.values())
    for name in names:
        sheet = sheet_of(session, name)
        assert sheet.id == name
        assert [row.name for row in sheet.params] == [param.name for param in OPS[f"relax.{name}"].params]
        assert (sheet.listing is None) == bool(sheet.listing_note), name


@pytest.mark.parametrize("name", sorted(OPS))
def test_the_type_rule_of_an_operator_is_told_in_words(name: str) -> None:
    assert (OPS[name].infer.__doc__ or "").strip(), f"{OPS[name].infer} has no docstring"


def test_a_sheet_shows_both_forms_of_the_kernel(session: Session) -> None:
    tir, llvm = (session.request(SheetOf("nn.relu", form)) for form in ("tir", "llvm"))
    assert isinstance(tir, Sheet)
    assert isinstance(llvm, Sheet)
    assert tir.listing is not None
    assert llvm.listing is not None
    assert "@T.prim_func" in tir.listing.text
    assert "define " in llvm.listing.text


def test_a_rule_is_parted_from_what_it_refuses(session: Session) -> None:
    facts = {row.label: row.text for row in sheet_of(session, "matmul").facts}
    assert facts["Type rule"].startswith("`(*b, m, k) x (*c, k, n)")
    assert facts["Refuses"].startswith("TY012 if the two `k`")


def test_a_run_shows_inputs_and_each_field_of_the_result(session: Session) -> None:
    tried = run(session, sheet_of(session, "topk"))
    assert [(value.name, value.kind, value.type) for value in tried.inputs] == [("data", "tensor", "(3, 4) f32")]
    assert [(value.name, value.type) for value in tried.results] == [
        ("result.0", "(3, 2) f32"),
        ("result.1", "(3, 2) i32"),
    ]


def test_a_run_that_ends_with_an_error_shows_it_beside_the_inputs(session: Session) -> None:
    tried = run(session, sheet_of(session, "call_py_func"))
    assert [value.name for value in tried.inputs] == ["x"]
    assert tried.results == ()
    assert [problem.code for problem in tried.problems] == ["VM017"]


def test_a_packed_function_is_shown_by_a_sample_that_calls_it(session: Session) -> None:
    sheet = sheet_of(session, "packed/libtorch_topk")
    assert sheet.sample == "prim/packed_topk_pair.py"
    assert {row.name: row.notes for row in sheet.params}["k"] == ("at least 0",)
    assert len(run(session, sheet).results) == 2


@pytest.mark.parametrize("name", ["nosuch", "packed/nosuch", ""])
def test_what_is_not_in_a_table_is_told(session: Session, name: str) -> None:
    reply = session.request(SheetOf(name))
    assert isinstance(reply, Failure)
    assert [problem.code for problem in reply.problems] == ["EN005"]
