"""Tables of the pages: the rows that have words, and files that no spreadsheet computes."""

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect
from streamlit.testing.v1 import AppTest

from tests.app_server import serve_script
from views.shell.controls.sheet import csv_of, rows_with

ROWS = [{"pass": "FuseOps", "line": 12, "words": "Two, fused"}, {"pass": "=cmd()", "line": -3, "words": "-1.5"}]
HEADS = ("pass", "line", "words")


@pytest.mark.parametrize(
    ("words", "lines"), [("", [12, -3]), ("fuse two", [12]), ("-3", [-3]), ("fuse -3", [])], ids=str
)
def test_rows_are_filtered_by_words_anywhere(words: str, lines: list[int]) -> None:
    assert [row["line"] for row in rows_with(ROWS, words)] == lines


def test_a_large_number_is_found_with_commas_and_without() -> None:
    rows = [{"bytes": 1_234_567}, {"bytes": 89}]
    assert rows_with(rows, "1,234") == rows_with(rows, "1234") == rows[:1]


def test_a_file_of_a_table_holds_no_formula() -> None:
    assert csv_of(ROWS, HEADS) == 'pass,line,words\nFuseOps,12,"Two, fused"\n\'=cmd(),-3,-1.5\n'


def test_a_file_has_the_heads_of_all_rows_even_where_none_is_left() -> None:
    assert csv_of([], HEADS) == "pass,line,words\n"
    assert csv_of([{"words": 1}, {"=A": 2}], ("=A", "words")) == "'=A,words\n,1\n2,\n"


def test_a_table_shows_the_rows_that_the_filter_leaves() -> None:
    app = AppTest.from_string(
        "from views.shell.controls.sheet import sheet\n"
        "sheet([{'number': at} for at in range(20)], key='t', name='n')\n"
        "sheet([{'few': 1}], key='few', name='n')\n"
    ).run()
    app.text_input(key="t.filter").set_value("19").run()
    tables: list[Any] = [table.value for table in app.dataframe]
    assert [table.to_dict("records") for table in tables] == [[{"number": 19}], [{"few": 1}]]
    assert [caption.value for caption in app.caption] == ["1 of 20 rows"]
    assert len(app.text_input) == 1


@pytest.mark.browser
def test_a_table_is_filtered_sorted_and_saved_in_a_browser(page: Page, tmp_path: Path) -> None:
    script = (
        "from views.shell.controls.sheet import sheet\n"
        "sheet([{'number': at * 7 % 20, 'word': 'ab'[at % 2]} for at in range(20)], key='t', name='n')\n"
    )
    with serve_script(tmp_path, script) as url:
        page.goto(url)
        table = page.get_by_test_id("stDataFrame")
        first = table.locator("[role=row][aria-rowindex='2'] [role=gridcell]").first
        expect(first).to_have_text("0")
        grid = table.locator(".stDataFrameGlideDataEditor").first
        grid.click(position={"x": 40, "y": 16})
        grid.click(position={"x": 40, "y": 16})
        expect(first).to_have_text("19")
        field = page.get_by_role("textbox")
        field.fill("a 1")
        field.press("Enter")
        expect(page.get_by_text("5 of 20 rows")).to_be_visible()
        with page.expect_download() as got:
            page.get_by_role("button", name="CSV", exact=True).click()
        assert got.value.suggested_filename == "n.csv"
        assert len(got.value.path().read_text().splitlines()) == 6
