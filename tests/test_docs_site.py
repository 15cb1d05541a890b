"""The documentation site is built without a warning, its pages are reached, and its links lead somewhere."""

import re
from pathlib import Path

import pytest

import relax_core as rc
from relax_core.codes import CODES
from relax_core.engine.documents.pass_examples import Example, examples
from relax_core.passes.library import PASSES
from tests.documents import DOCUMENTS, REPOSITORY, name_of
from tools.docs.codes_page import codes_page
from tools.docs.commands_page import commands_page
from tools.docs.passes_page import run_example
from tools.docs.site import GENERATED, build, linked

REFUSED = ("tir.Tensorize",)
"""Passes that refuse what they are for, which their examples show."""
_LINK = re.compile(r"\]\(([^)\s]+)\)")
_SPAN = re.compile(r"`[^`\n]+`")
_FENCE = re.compile(r"^(```+).*?^\1\s*$", re.MULTILINE | re.DOTALL)


def links(text: str) -> list[str]:
    return [link for link in _LINK.findall(_SPAN.sub("`", _FENCE.sub("", text))) if "://" not in link]


@pytest.mark.parametrize("path", DOCUMENTS, ids=name_of)
def test_a_link_of_a_document_leads_to_a_file(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    if path.is_relative_to(REPOSITORY / "docs"):
        text = linked(text, path.relative_to(REPOSITORY / "docs").as_posix())
    made = {(REPOSITORY / "docs" / name).resolve() for name in (*GENERATED, "decisions/index.md")}
    targets = [(path.parent / link.partition("#")[0]).resolve() for link in links(text)]
    assert [target for target in targets if not target.exists() and target not in made] == []


def test_a_document_that_is_named_becomes_a_link_but_not_in_a_block() -> None:
    # Written so that these are no names of documents in this file.
    text = "See `docs/rules.MD` and [`docs/costs.MD`](../costs.MD).\n```text\n`docs/rules.MD`\n```\n`docs/decisions/`"
    expected = (
        "See [](../rules.MD) and [`docs/costs.MD`](../costs.MD).\n```text\n`docs/rules.MD`\n```\n"
        "[decisions](../decisions/index.MD)"
    )
    assert linked(text.replace(".MD", ".md"), "guides/one.MD") == expected.replace(".MD", ".md")


def test_every_pass_has_an_example_and_no_example_is_of_nothing() -> None:
    assert set(examples()) == {f"{dialect}.{name}" for dialect, name in PASSES}


@pytest.mark.parametrize(("name", "example"), examples().items(), ids=examples())
def test_an_example_shows_what_its_pass_does(name: str, example: Example) -> None:
    stage = run_example(example)
    assert stage.pass_name == name.partition(".")[2]
    assert stage.is_failed == (name in REFUSED)
    if not stage.is_failed:
        assert rc.script(stage.before) != rc.script(stage.after)


def test_every_code_and_every_command_has_its_paragraph() -> None:
    assert sorted(re.findall(r"^### (\w+)$", codes_page(), re.MULTILINE)) == sorted(CODES)
    assert {"## check", "## run", "## pack"} <= set(commands_page().splitlines())


def test_the_site_is_built_without_a_warning(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert build(tmp_path) == 0, capfd.readouterr().err
    pages = {path.relative_to(tmp_path / "html").with_suffix(".md").as_posix() for path in tmp_path.rglob("*.html")}
    documents = {name_of(path).removeprefix("docs/") for path in DOCUMENTS if path.name != "README.md"}
    assert documents <= pages
    page = (tmp_path / "html" / "reference" / "passes.html").read_text(encoding="utf-8")
    assert "FuseOps" in page
    # Nothing is loaded from another host, so that it is read offline.
    for path in (tmp_path / "html").rglob("*.html"):
        fetched = re.findall(
            r'<(?:script|link|img)[^>]+(?:src|href)="(https?:[^"]+)"', path.read_text(encoding="utf-8")
        )
        assert not fetched, f"{path.name}: {fetched}"
