"""The buttons that save a diff and a run as pictures, on their pages and in frames."""

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser import open_popover, rest
from tests.present.test_still import texts_in

PICTURES = (
    (
        "passes",
        "",
        "Share",
        "mlp.LegalizeOps.svg",
        ("Before · CanonicalizeBindings", "After · LegalizeOps", "class Module:"),
    ),
    ("run", "", "Files", "mlp.svg", ("mlp.py: 29 events", "main", "class Module:")),
    ("embed", "&view=diff", "", "mlp.svg", ("Before · CanonicalizeBindings", "After · LegalizeOps", "class Module:")),
    ("embed", "&view=stepper", "", "mlp.svg", ("mlp.py: 29 events", "main", "class Module:")),
)


@pytest.mark.browser
def test_each_button_saves_what_is_shown_as_a_picture(page: Page, app_url: str) -> None:
    for place, view, popover, name, shown in PICTURES:
        page.goto(f"{app_url}/{place}?sample=relax/mlp.py&stage=4{view}")
        rest(page)
        if popover:
            open_popover(page.get_by_role("button", name=popover, exact=True))
        button = page.get_by_role("button", name="Picture", exact=True)
        expect(button).to_be_visible()
        with page.expect_download() as saving:
            button.click()
        assert saving.value.suggested_filename == name
        assert set(shown) <= set(texts_in(Path(saving.value.path()).read_text(encoding="utf-8"))), place + view
