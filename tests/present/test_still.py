"""Still pictures of a diff and of a run: what is in them, and that they are SVG whatever the names are."""

import xml.etree.ElementTree as ET

import pytest

from relax_core.engine.protocol import RunOf, StageOf
from relax_core.engine.session import Session
from relax_core.present.diffs.diff import diff_texts
from relax_core.present.drawings import still
from relax_core.present.theme import LIGHT
from tests.engine.asking import ask
from tests.engine.programs import sample

HOSTILE = "<script>&\"'\x00\u202e]]>"


def texts_in(picture: str) -> list[str]:
    return [item.text or "" for item in ET.fromstring(picture).iter("{http://www.w3.org/2000/svg}text")]


def test_a_diff_has_both_texts_its_signs_and_what_differs() -> None:
    picture = still.diff_svg(diff_texts("before", "keep\nx = f(a)\ngone", "after", "keep\nx = g(a)"))
    found = texts_in(picture)
    assert {"before", "after", "x = f(a)", "x = g(a)", "gone"} <= set(found)
    assert found.count("keep") == 2
    assert "−" in found
    assert LIGHT["delBg"] in picture


def test_an_indentation_is_a_place() -> None:
    picture = ET.fromstring(still.diff_svg(diff_texts("a", "f\n    g", "b", "x")))
    place = {item.text: float(item.get("x", "")) for item in picture.iter("{http://www.w3.org/2000/svg}text")}
    assert place["g"] - place["f"] == pytest.approx(4 * 6.9)


def test_what_is_unchanged_for_long_is_one_row() -> None:
    lines = "\n".join(f"line {number}" for number in range(100))
    found = texts_in(still.diff_svg(diff_texts("a", f"{lines}\nold", "b", f"{lines}\nnew")))
    assert any(text.startswith("… ") and text.endswith(" unchanged lines") for text in found)
    assert "line 50" not in found


def test_a_run_has_its_calls_and_the_lines_that_ran() -> None:
    run = ask(Session(), RunOf(sample("relax/fib.py")))
    picture = still.run_svg(run)
    found = texts_in(picture)
    assert f"{run.title}: 1,102 events; bars beside the lines that ran before time 600" in found
    assert found.count("fib") > 2
    assert picture.count(f'fill="{LIGHT["ok"]}"') == len({event.line for event in run.events} & set(range(1, 100)))


def test_a_pass_of_a_sample_is_drawn_as_its_page_shows_it() -> None:
    view = ask(Session(), StageOf(sample("relax/mlp.py"), 1))
    assert view.diff.before_title in texts_in(still.diff_svg(view.diff))


def test_hostile_names_are_text() -> None:
    found = texts_in(still.diff_svg(diff_texts(HOSTILE, HOSTILE, "b", "x")))
    assert any("<script>" in text for text in found)


def test_more_rows_than_a_picture_has_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(still, "ROW_LIMIT", 3)
    found = texts_in(still.diff_svg(diff_texts("a", "", "b", "\n".join(f"v{number}" for number in range(9)))))
    assert found[-1].startswith("… and ")
