"""The operator table as the command line shows it."""

import json

import pytest

from relax_core.cli import BAD_USAGE, main
from relax_core.ops import OPS
from relax_core.present import ops


def test_the_listing_has_a_line_per_operator_and_counts(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ops"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == len(OPS) + 2
    assert lines[-1] == f"{len(OPS)} operators, {sum(map(ops.is_complete, OPS.values()))} complete"


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


def test_enough_operators_are_complete() -> None:
    assert sum(item.is_complete for item in ops.operators()) >= 220
