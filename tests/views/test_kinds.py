"""The Run page tells a host scalar from a tensor of rank 0, though both show the same number."""

import pytest
from playwright.sync_api import Page, expect

pytestmark = pytest.mark.browser


def test_a_prim_value_and_a_rank_0_tensor_have_marks_of_their_own(page: Page, app_url: str) -> None:
    page.goto(f"{app_url}/run?sample=prim/packed_tensor_to_scalar.py&time=5")
    registers = page.get_by_role("table", name="Registers, newest frame first")
    expect(registers).to_be_visible()
    for name, kind, mark, letter in (("total", "tensor0", "rank-0 tensor", "t"), ("alpha", "prim", "prim value", "P")):
        row = registers.locator(f"tr[data-kind={kind}]")
        expect(row).to_contain_text(name)
        expect(row).to_contain_text("2.00")
        badge = row.get_by_role("img", name=mark)
        expect(badge.locator("text")).to_have_text(letter)
        expect(badge.locator("circle" if kind == "prim" else "rect")).to_have_count(1 if kind == "prim" else 2)
        expect(registers.locator(".legend")).to_contain_text(mark)
    expect(page.get_by_text("P f64")).to_be_visible()
    expect(page.get_by_text("t () f32")).to_be_visible()
