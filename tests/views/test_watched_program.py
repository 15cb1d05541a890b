"""A program that the app was started on with `--watch`: the pages follow its file, and overwrite no edit."""

import html
import os
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect
from streamlit.testing.v1 import AppTest

from relax_core.engine.pipelines.recognize import OPEN_VARIABLE, WATCH_VARIABLE
from tests.app_server import serve
from tests.browser import OpenPage
from tests.engine.pipelines.stage_texts import ADD, TWICE
from tests.views.pages import REPOSITORY
from views.state.shared import FocusState, ProgramState


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file of a program that an app is started on and follows."""
    made = tmp_path / "mine.py"
    made.write_text(ADD, encoding="utf-8")
    monkeypatch.setenv(OPEN_VARIABLE, str(made))
    monkeypatch.setenv(WATCH_VARIABLE, "1")
    return made


@pytest.fixture
def app(program: Path) -> AppTest:
    started = AppTest.from_file(str(REPOSITORY / "app.py"), default_timeout=120).run()
    assert program.is_file()
    assert text_of(started) == ADD
    return started


def words(app: AppTest) -> str:
    """Return what the page says beside its components."""
    return html.unescape("\n".join(item.value for item in (*app.markdown, *app.caption)))


def offers(app: AppTest) -> bool:
    return any(item.label == "Open the file" for item in app.button)


def text_of(app: AppTest) -> str:
    assert not app.exception
    return app.session_state["selection"].of(ProgramState).text


def written(app: AppTest, program: Path, text: str) -> AppTest:
    """Write the file, as an editor does, and run the page again, as the clock does each second."""
    before = program.stat().st_mtime_ns
    program.write_text(text, encoding="utf-8")
    os.utime(program, ns=(before + 10**9, before + 10**9))
    return app.run()


def test_a_page_follows_the_file_and_keeps_what_is_selected(app: AppTest, program: Path) -> None:
    app.session_state["selection"] = app.session_state["selection"].changed(stage=2, seed=7)
    app.switch_page("views/pages/passes/page.py").run()
    written(app, program, TWICE)
    assert text_of(app) == TWICE
    selected = app.session_state["selection"]
    assert (selected.of(FocusState).stage, selected.of(ProgramState).seed) == (2, 7)
    assert selected.of(ProgramState).sample == "mine.py"
    assert "follows mine.py" in words(app)


def test_a_text_that_was_edited_in_the_page_is_replaced_only_when_asked(app: AppTest, program: Path) -> None:
    edited = f"{ADD}\n# mine\n"
    app.session_state["selection"] = app.session_state["selection"].changed(text=edited)
    app.run()
    assert not offers(app)
    written(app, program, TWICE)
    assert text_of(app) == edited
    assert "`mine.py` changed on disk" in words(app)
    app.button(key="watched.open").click().run()
    assert text_of(app) == TWICE
    assert not offers(app)
    written(app, program, ADD)
    assert text_of(app) == ADD, "it is followed again"


def test_a_file_that_is_gone_or_empty_for_a_moment_takes_nothing_away(app: AppTest, program: Path) -> None:
    program.unlink()
    app.run()
    assert "is gone from the disk" in words(app)
    assert text_of(app) == ADD
    program.touch()
    app.run()
    assert text_of(app) == ADD
    written(app, program, TWICE)
    assert text_of(app) == TWICE
    assert "is gone from the disk" not in words(app)


def test_without_the_option_nothing_is_followed(program: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(WATCH_VARIABLE)
    app = AppTest.from_file(str(REPOSITORY / "app.py"), default_timeout=120).run()
    written(app, program, TWICE)
    assert text_of(app) == ADD
    assert "follows" not in words(app)


@pytest.mark.browser
def test_a_tab_shows_what_an_editor_saves(program: Path, tmp_path: Path, open_page: OpenPage) -> None:
    home = tmp_path / "home"
    home.mkdir()
    with serve(home) as url:
        page: Page = open_page()
        page.goto(url)
        editor = page.locator(".cm-content")
        expect(editor).to_contain_text("R.add(x, x)")
        program.write_text(ADD.replace("R.add", "R.subtract"), encoding="utf-8")
        expect(editor).to_contain_text("R.subtract(x, x)")
        expect(page.get_by_text("follows mine.py")).to_be_visible()
