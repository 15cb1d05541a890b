"""The operator table as the command line shows it."""

import json
from pathlib import Path

import pytest

from relax_core.cli import BAD_USAGE, main
from relax_core.ops import OPS
from relax_core.ops.signature import call_text
from relax_core.present.catalog_of import operator_docs

REPOSITORY = Path(__file__).resolve().parent.parent.parent


def test_the_listing_has_a_line_per_operator_and_counts(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ops"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == len(OPS) + 2
    assert lines[-1] == f"{len(OPS)} operators, {sum(spec.is_complete for spec in OPS.values())} complete"


def test_json_has_an_object_per_operator(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ops", "--json"]) == 0
    found = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [item["name"] for item in found] == sorted(OPS)


def test_one_operator_is_shown_with_its_parameters(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ops", "R.nn.conv2d"]) == 0
    text = capsys.readouterr().out
    assert text.startswith("R.nn.conv2d(data, weight, strides=[1, 1], padding=[0, 0]")
    assert "data_layout: prim of string" in text


def test_an_unknown_operator_is_bad_usage(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ops", "no_such_operator"]) == BAD_USAGE
    assert "there is no operator no_such_operator" in capsys.readouterr().err


def test_json_tells_what_an_operator_has(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ops", "unique", "--json"]) == 0
    (item,) = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert (item["has_evaluate"], item["has_legalize"], item["realized_by"]) == (True, False, "evaluation")
    assert item["relay_name"] == "unique"
    assert item["is_complete"]


def test_the_page_of_the_documentation_is_up_to_date() -> None:
    page = REPOSITORY / "docs" / "operators.md"
    expected = operator_docs.markdown()
    assert page.read_text(encoding="utf-8") == expected, "run: python -m relax_core ops --markdown > docs/operators.md"


def test_the_documentation_has_every_operator_and_the_reason_of_each_that_does_not_run() -> None:
    page = operator_docs.markdown()
    for spec in OPS.values():
        assert f"| `{call_text(spec)}` |" in page
        assert spec.is_complete or f"| `{spec.short_name}` | a run" in page
