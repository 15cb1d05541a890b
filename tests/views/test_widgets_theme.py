"""Colours of the components: readable and distinct."""

import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from relax_core.present.theme import CONTRAST_PAIRS, DARK, LIGHT, TOKENS, component_css, contrast, variable_of

REPOSITORY = Path(__file__).resolve().parents[2]
WIDGETS = REPOSITORY / "views" / "widgets"
READABLE = 4.5


@pytest.mark.parametrize(("mode", "colours"), [("light", LIGHT), ("dark", DARK)])
def test_every_text_can_be_read_on_its_surface(mode: str, colours: Mapping[str, str]) -> None:
    faint = [(a, b) for a, b in CONTRAST_PAIRS if contrast(colours[a], colours[b]) < READABLE]
    assert faint == [], mode


@pytest.mark.parametrize("colours", [LIGHT, DARK], ids=["light", "dark"])
@pytest.mark.parametrize("base", ["bg", "canvas"])
def test_a_number_can_be_read_on_the_hottest_cell(colours: Mapping[str, str], base: str) -> None:
    """A cell of a heat table mixes at most 50 % of cat0 into the background."""
    hottest = "#" + "".join(
        f"{(int(colours['cat0'][i : i + 2], 16) + int(colours[base][i : i + 2], 16)) // 2:02x}" for i in (1, 3, 5)
    )
    assert contrast(colours["text"], hottest) >= READABLE


def test_contrast_agrees_with_the_definition() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)


def test_a_light_value_leads_back_to_its_token() -> None:
    assert len(set(LIGHT.values())) == len(LIGHT)
    assert variable_of("#0B66B5") == "var(--cat0)"
    assert variable_of("#123456") is None


def test_both_modes_have_the_same_tokens() -> None:
    assert LIGHT.keys() == DARK.keys()
    assert f"--bg:light-dark({LIGHT['bg']},{DARK['bg']})" in component_css()


def test_every_mark_and_kind_has_a_sign_and_a_colour() -> None:
    assert all(mark.sign and mark.color in LIGHT for mark in TOKENS.marks.values())
    assert all(kind.letter and kind.color in LIGHT for kind in TOKENS.kinds.values())
    assert len({category.symbol for category in TOKENS.categories}) == len(TOKENS.categories)


def test_style_sheets_name_only_tokens_that_exist() -> None:
    scripts = "".join(path.read_text(encoding="utf-8") for path in WIDGETS.rglob("*.ts"))
    known = {*LIGHT, "mono", "ui", "cell", *re.findall(r'setProperty\("--(\w+)"', scripts)}
    for path in sorted(WIDGETS.rglob("*.css")):
        sheet = path.read_text(encoding="utf-8")
        named, own = (set(re.findall(pattern, sheet)) for pattern in (r"var\(--(\w+)", r"[{;]--(\w+):"))
        assert named <= known | own, path.name
        assert not re.search(r"#[0-9a-fA-F]{3,8}\b", sheet), path.name
